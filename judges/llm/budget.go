package llm

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/trajectory-arena/arena/judges/ledger"
)

// budget limits what a run spends. A request reserves an upper estimate of its cost before it is
// sent. Its real cost then replaces the estimate.
type budget struct {
	// usd and tokens are the limits; nil is no limit.
	usd    *float64
	tokens *int

	mu sync.Mutex
	// spent is the sum of real costs, reserved that of the estimates of open requests.
	spent, reserved amount
	// open is the number of open requests, which have a reservation.
	open int
	// closed is set after a request did not fit although no other was open: the run spends no more.
	closed bool
	// changed is closed, and replaced by a new channel, whenever the budget changes.
	changed chan struct{}
}

// amount is a cost in US dollars and in tokens.
type amount struct {
	usd    float64
	tokens int
	// guess is set for the first request to a model, whose cost is unknown. Such a request is sent
	// only while no other is open.
	guess bool
}

// reserve waits until the estimated cost of a request fits into the budget, reserves it, and
// returns it. If it does not fit although no other request is open, this call and all later ones
// return ErrBudget.
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

// tryReserve reserves the cost a if it fits into the budget, and reports whether it did. While
// other requests are open, it reserves no cost that is a mere guess, since no reply of the model is
// known. If the cost does not fit and no other request is open, it closes the budget; then and from
// then on the error is ErrBudget. The caller must hold b.mu.
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

// settle replaces the reservation of a request by its real cost, and wakes the requests that wait
// for the budget.
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

// wake wakes all calls of reserve that wait, so that they check the budget again. The caller must
// hold b.mu.
func (b *budget) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Share returns the configuration of the i-th of n processes that ask models at the same time. Its
// budgets and its concurrent requests are parts of c's: their sum is never more than c allows,
// though no process knows of another. If an endpoint takes fewer concurrent requests than there are
// processes, some processes get none, which Validate reports.
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
