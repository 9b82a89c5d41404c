package llm

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/trajectory-arena/arena/judges/ledger"
)

// budget limits what a run spends. A request reserves an upper estimate of its cost
// before it is sent, and settles its real cost.
type budget struct {
	usd    *float64
	tokens *int

	mu sync.Mutex
	// spent is the sum of settled costs, reserved that of the open reservations.
	spent, reserved amount
	// open is the number of reservations.
	open int
	// closed is set once a request did not fit: the run spends no more.
	closed bool
	// changed is closed at the next change.
	changed chan struct{}
}

type amount struct {
	usd    float64
	tokens int
	// guess marks the first request to a model, whose cost is unknown. It must be
	// the only one open.
	guess bool
}

// reserve waits until the estimate fits, and returns it. If it does not fit although
// no other request is open, reserve returns ErrBudget, and from then on to every
// caller.
func (b *budget) reserve(ctx context.Context, estimate func() amount) (amount, error) {
	for {
		if ctx.Err() != nil {
			return amount{}, context.Cause(ctx)
		}
		b.mu.Lock()
		changed := b.changed
		a := estimate()
		ok, err := b.tryReserve(a)
		b.mu.Unlock()
		if ok || err != nil {
			return a, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// tryReserve reports whether it reserved a; the caller holds mu.
func (b *budget) tryReserve(a amount) (ok bool, err error) {
	if b.closed {
		return false, ErrBudget
	}
	if b.usd != nil || b.tokens != nil {
		fits := b.fits(a)
		if b.open > 0 && (a.guess || !fits) {
			return false, nil
		}
		if !fits {
			b.closed = true
			b.wake()
			return false, ErrBudget
		}
	}
	b.reserved.usd += a.usd
	b.reserved.tokens += a.tokens
	b.open++
	return true, nil
}

func (b *budget) fits(a amount) bool {
	if b.usd != nil && b.spent.usd+b.reserved.usd+a.usd > *b.usd {
		return false
	}
	return b.tokens == nil || b.spent.tokens+b.reserved.tokens+a.tokens <= *b.tokens
}

// settle replaces a reservation by the cost of the request.
func (b *budget) settle(a amount, cost ledger.Spent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved.usd -= a.usd
	b.reserved.tokens -= a.tokens
	b.open--
	if b.open == 0 {
		b.reserved = amount{} // drops rounding errors
	}
	b.addCost(cost)
	b.wake()
}

func (b *budget) addCost(cost ledger.Spent) {
	b.spent.tokens += cost.Prompt + cost.Completion
	if cost.USD != nil {
		b.spent.usd += *cost.USD
	}
}

// wake wakes all callers of reserve.
func (b *budget) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Share returns the configuration of the i-th of n processes that ask at the same
// time. Its budgets and its requests in flight are parts of c's, whose sum is never
// more than c allows, though no process knows of another. If an endpoint takes fewer
// concurrent requests than there are processes, some have none, which Validate
// reports.
func (c Config) Share(i, n int) Config {
	if n < 2 {
		return c
	}
	part := func(total int) int {
		return (total + n - 1 - i) / n
	}
	if c.BudgetTokens != nil {
		c.BudgetTokens = new(part(*c.BudgetTokens))
	}
	if c.BudgetUSD != nil {
		c.BudgetUSD = new(math.Floor(*c.BudgetUSD/float64(n)*1e6) / 1e6) // rounded down, so that the sum fits
	}
	c.Endpoints = slices.Clone(c.Endpoints)
	for k := range c.Endpoints {
		c.Endpoints[k].Concurrency = part(c.Endpoints[k].Concurrency)
	}
	return c
}
