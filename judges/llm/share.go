package llm

import (
	"math"
	"slices"
)

// Share is the configuration of the ith of n processes that ask at the same time: its
// budgets and its requests in flight are parts of c's, whose sum is never more than
// c allows, though no process knows of another. Where an endpoint takes fewer
// requests at once than there are processes, some have none, which Validate says.
func (c Config) Share(i, n int) Config {
	if n < 2 {
		return c
	}
	part := func(all int) int {
		if i < all%n {
			return all/n + 1
		}
		return all / n
	}
	if c.BudgetTokens != nil {
		tokens := part(*c.BudgetTokens)
		c.BudgetTokens = &tokens
	}
	if c.BudgetUSD != nil {
		usd := math.Floor(*c.BudgetUSD/float64(n)*1e6) / 1e6 // no sum is rounded above the whole
		c.BudgetUSD = &usd
	}
	c.Endpoints = slices.Clone(c.Endpoints)
	for at := range c.Endpoints {
		c.Endpoints[at].Concurrency = part(c.Endpoints[at].Concurrency)
	}
	return c
}
