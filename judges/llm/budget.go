package llm

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/trajectory-arena/arena/judges/ledger"
)

// budget keeps a run from spending more than it may. A request reserves the
// most it is thought to cost before it is sent, and settles what it did cost.
type budget struct {
	usd    *float64
	tokens *int

	mu sync.Mutex
	// spent and held are what is settled and what is reserved, open the number
	// of reservations.
	spent, held amount
	open        int
	// closed reports whether a request did not fit: the run spends no more.
	closed  bool
	changed chan struct{}
}

type amount struct {
	usd    float64
	tokens int
	// guess marks a first request, whose cost nobody knows yet. It goes alone.
	guess bool
}

// reserve waits until what most says fits for sure, and gives that amount. It
// is ErrBudget where it does not although nothing else is under way, from then
// on for every request.
func (b *budget) reserve(ctx context.Context, most func() amount) (amount, error) {
	for {
		if ctx.Err() != nil {
			return amount{}, context.Cause(ctx)
		}
		b.mu.Lock()
		wait := b.changed
		a := most()
		ok, err := b.try(a)
		b.mu.Unlock()
		if ok || err != nil {
			return a, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
		}
	}
}

func (b *budget) try(a amount) (ok bool, err error) {
	switch bounded := b.usd != nil || b.tokens != nil; {
	case b.closed:
		return false, ErrBudget
	case bounded && b.open > 0 && (a.guess || !b.fits(a)):
		return false, nil
	case bounded && !b.fits(a):
		b.closed = true
		b.wake()
		return false, ErrBudget
	}
	b.held.usd += a.usd
	b.held.tokens += a.tokens
	b.open++
	return true, nil
}

func (b *budget) fits(a amount) bool {
	return (b.usd == nil || b.spent.usd+b.held.usd+a.usd <= *b.usd) &&
		(b.tokens == nil || b.spent.tokens+b.held.tokens+a.tokens <= *b.tokens)
}

// settle replaces a reservation by what the request did cost.
func (b *budget) settle(a amount, cost ledger.Spent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held.usd -= a.usd
	b.held.tokens -= a.tokens
	if b.open--; b.open == 0 {
		b.held = amount{} // not what rounding left of it
	}
	b.spend(cost)
	b.wake()
}

func (b *budget) spend(cost ledger.Spent) {
	b.spent.tokens += cost.Prompt + cost.Completion
	if cost.USD != nil {
		b.spent.usd += *cost.USD
	}
}

func (b *budget) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Share is the configuration of the ith of n processes that ask at the same time: its
// budgets and its requests in flight are parts of c's, whose sum is never more than
// c allows, though no process knows of another. Where an endpoint takes fewer
// requests at once than there are processes, some have none, which Validate says.
func (c Config) Share(i, n int) Config {
	if n < 2 {
		return c
	}
	part := func(all int) int { return (all + n - 1 - i) / n }
	if c.BudgetTokens != nil {
		c.BudgetTokens = new(part(*c.BudgetTokens))
	}
	if c.BudgetUSD != nil {
		c.BudgetUSD = new(math.Floor(*c.BudgetUSD/float64(n)*1e6) / 1e6) // no sum is rounded above the whole
	}
	c.Endpoints = slices.Clone(c.Endpoints)
	for at := range c.Endpoints {
		c.Endpoints[at].Concurrency = part(c.Endpoints[at].Concurrency)
	}
	return c
}
