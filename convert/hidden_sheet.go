// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

type sheet struct{}

func readSheet(t *tree) *sheet { return nil }

func (s *sheet) apply(t *tree, i int32, d *declarations) {}
