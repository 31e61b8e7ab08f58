// Copyright 2026 The Dipper Authors.
// SPDX-License-Identifier: Apache-2.0

package extract

import "strings"

// Price is what a model costs, in US dollars per million tokens. Cached is the
// price of input that the supplier had cached; 0 means the price of In.
type Price struct{ In, Out, Cached float64 }

// Prices maps the beginning of a model's name to its price; the longest match wins.
type Prices map[string]Price

// PricesAsOf is the month of the built-in table.
const PricesAsOf = "2026-08"

// BuiltinPrices gives the public list prices of PricesAsOf.
func BuiltinPrices() Prices {
	return Prices{
		"claude-opus-4-5":   {In: 5, Out: 25, Cached: 0.5},
		"claude-opus-4-6":   {In: 5, Out: 25, Cached: 0.5},
		"claude-opus-4-7":   {In: 5, Out: 25, Cached: 0.5},
		"claude-opus-4-8":   {In: 5, Out: 25, Cached: 0.5},
		"claude-opus-5":     {In: 5, Out: 25, Cached: 0.5},
		"claude-sonnet-4-5": {In: 3, Out: 15, Cached: 0.3},
		"claude-sonnet-4-6": {In: 3, Out: 15, Cached: 0.3},
		"claude-sonnet-5":   {In: 2, Out: 10, Cached: 0.2},
		"claude-haiku-4-5":  {In: 1, Out: 5, Cached: 0.1},
		"claude-3-5-haiku":  {In: 0.8, Out: 4, Cached: 0.08},
	}
}

// Cost gives the price of u in US dollars; false when no entry fits the model.
// A supplier's prefix ("vendor/model") does not count.
func (p Prices) Cost(model string, u Usage) (float64, bool) {
	price, ok := p.find(strings.ToLower(model))
	if !ok {
		return 0, false
	}
	cachedPrice := price.Cached
	if cachedPrice == 0 {
		cachedPrice = price.In
	}
	cached := min(max(u.Cached, 0), max(u.In, 0))
	return (float64(u.In-cached)*price.In + float64(cached)*cachedPrice + float64(u.Out)*price.Out) / 1e6, true
}

func (p Prices) find(model string) (Price, bool) {
	if i := strings.LastIndexByte(model, '/'); i >= 0 {
		if price, ok := p.longest(model); ok {
			return price, true
		}
		model = model[i+1:]
	}
	return p.longest(model)
}

func (p Prices) longest(model string) (Price, bool) {
	var best string
	found := false
	for prefix := range p {
		if strings.HasPrefix(model, strings.ToLower(prefix)) && (!found || len(prefix) > len(best)) {
			best, found = prefix, true
		}
	}
	return p[best], found
}
