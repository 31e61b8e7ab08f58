// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"context"

	"github.com/dipper-web/dipper/fault"
)

// Answer lets the helper model answer the prompt from the page alone.
func (r *Reader) Answer(ctx context.Context, a Ask) (Reply, error) {
	if a.PassagesOnly {
		return Passages(a), nil
	}
	if r.Model == nil {
		return Reply{}, fault.New(fault.Invalid, "", "mode answer needs a helper model, and none is configured")
	}
	c, err := r.Model.Complete(ctx, Prompt{Text: a.Doc.Markdown + "\n" + a.Prompt})
	if err != nil {
		return Reply{}, err
	}
	return measured(Reply{Text: c.Text, Path: PathHelper}), nil
}
