// Package outcome scores attempts by the subnet's own rules: format and
// length of the dialogue, and the recommended products against what was asked
// for. The rules are the subnet's to the last oddity, so that a score here is
// the score that was paid; docs/outcome.md lists them.
package outcome

import (
	"context"
	"fmt"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/python"
)

// Products is the catalogue that recommended ids are looked up in.
type Products interface {
	// Document returns a product as the catalogue has it, a JSON object.
	Document(id string) (arena.Raw, bool)
}

// Scorer gives outcome scores. It may be used by several goroutines at once
// if its Products and Titles may.
type Scorer struct {
	products *documents
	titles   Titles
	// problems are what the rules read of each *arena.Problem, as a func() (spec, error):
	// a day asks thousands of attempts the same few hundred.
	problems sync.Map
}

// New returns a scorer over a catalogue. Without titles (nil), titles are left
// out of every rule but that of the gold product itself.
func New(products Products, titles Titles) *Scorer {
	return &Scorer{products: &documents{from: products, read: map[string]*document{}}, titles: titles}
}

// Score scores the trace t against its problem p, nil where none is known. An
// attempt with a ruling has that for its outcome, whatever the rules would say; one that the rules cannot score has an outcome that says why; an error
// means that the run cannot go on.
func (s *Scorer) Score(ctx context.Context, t *arena.Trace, p *arena.Problem) (arena.Outcome, error) {
	if r := t.Ruling; r != nil {
		return arena.Outcome{Success: r.Success, Error: r.Void, Titles: arena.TitlesNone, Ruling: r}, nil
	}
	a := attempt{products: s.products, titles: s.titles, problem: p}
	var stop error
	fault := python.Catch(func() { stop = a.score(ctx, t, s.asked(t, p)) })
	if stop != nil {
		return arena.Outcome{}, fmt.Errorf("score %s: %w", t.ID, stop)
	}
	out := arena.Outcome{Titles: a.source()}
	if fault != nil {
		out.Error = fault.Error()
	} else {
		out.Scores, out.Success = &a.scores, succeeds(p.Category, a.scores.Axes)
	}
	return out, nil
}

// succeeds needs every product's rule fulfilled, and the shop or the budget
// where the task has one.
func succeeds(c arena.Category, a *arena.Axes) bool {
	if a == nil || a.Rule < 1 {
		return false
	}
	switch c {
	case arena.CategoryShop:
		return a.Shop != nil && *a.Shop == 1
	case arena.CategoryVoucher:
		return a.Budget != nil && *a.Budget == 1
	case arena.CategoryProduct:
	}
	return true
}

// spec is what a problem asks for, as the rules read it.
type spec struct {
	// single is a product task: its reward is one object.
	single  bool
	rewards []wish
	voucher value
}

type wish struct {
	value value
	// bounds are those of the price; unbound says why there are no more.
	bounds  []bound
	unbound error
	options []pair
	// fault says why the options cannot be read, as a document's does.
	fault error
}

// asked says what the attempt is held against.
func (s *Scorer) asked(t *arena.Trace, p *arena.Problem) spec {
	switch {
	case t.Status != arena.StatusSuccess:
		python.Raise("the attempt ended with status %s", t.Status)
	case !t.HasDialogue:
		python.Raise("the attempt left no dialogue")
	case p == nil:
		python.Raise("problem %q is not among the problems", t.ProblemID)
	}
	known, ok := s.problems.Load(p)
	if !ok {
		known, _ = s.problems.LoadOrStore(p, sync.OnceValues(func() (spec, error) { return readSpec(p) }))
	}
	asked, fault := known.(func() (spec, error))()
	python.Reraise(fault)
	return asked
}

// Scorable says why no attempt at a problem can be scored, whatever it does: the
// problem has no reward, or its category no rules. It is nil for all others.
func Scorable(p *arena.Problem) error {
	_, err := readSpec(p)
	return err
}

func readSpec(p *arena.Problem) (s spec, fault error) {
	fields := pick(gjson.Parse(string(p.Raw)), "reward", "voucher")
	reward, _ := fields.Get("reward")
	s.voucher, _ = fields.Get("voucher")
	fault = python.Catch(func() {
		switch {
		case !reward.Truth():
			python.Raise("the problem has no reward")
		case p.Category == arena.CategoryProduct:
			s.single, s.rewards = true, []wish{readWish(reward)}
		case p.Category == arena.CategoryShop, p.Category == arena.CategoryVoucher:
			defer python.Within("reward")
			for _, reward := range iterate(reward) {
				s.rewards = append(s.rewards, readWish(reward))
			}
		default:
			python.Raise("category %q has no rules", p.Category)
		}
	})
	return s, fault
}

func readWish(reward value) wish {
	w := wish{value: reward}
	w.bounds, w.unbound = readBounds(reward)
	w.options, w.fault = wantedPairs(reward)
	return w
}
