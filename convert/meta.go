// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package convert

func describe(doc *Document, t *tree, links *linker) {}
func (d *Document) fromState(t *tree, o Options)     {}
