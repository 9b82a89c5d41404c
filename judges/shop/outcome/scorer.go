// Package outcome scores attempts by the subnet's own rules: the format and length of the
// dialogue, and the recommended products compared with the problem's rewards. Every oddity of
// the subnet's rules is reproduced, so that a score is the one that was paid. docs/outcome.md
// lists the rules.
package outcome

import (
	"context"
	"fmt"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/python"
)

// Products is a catalogue in which recommended ids are looked up.
type Products interface {
	// Document returns the product with this id as the catalogue has it, a JSON object.
	Document(id string) (arena.Raw, bool)
}

// Scorer computes outcome scores. It is safe for concurrent use if its Products and Titles are.
type Scorer struct {
	products *documents
	titles   Titles
	// specs caches the results of readSpec. The key is an *arena.Problem, the value a func()
	// (spec, error). Thousands of attempts of one day are at the same few hundred problems.
	specs *sync.Map
	// note is called with the id of each product that is looked up, unless it is nil.
	note func(id string)
}

// New returns a scorer that looks up products in a catalogue. If titles is nil, no rule compares
// titles, except that those of a gold product match.
func New(products Products, titles Titles) *Scorer {
	return &Scorer{
		products: &documents{source: products, cache: map[string]*document{}},
		titles:   titles,
		specs:    &sync.Map{},
	}
}

// Noting returns a scorer that shares all that s has read, and calls note with the id of each product
// that an attempt makes it look up.
func (s *Scorer) Noting(note func(id string)) *Scorer {
	noting := *s
	noting.note = note
	return &noting
}

// Score returns the outcome of the trace t, which is at the problem p. p is nil if the problem
// is unknown. If the attempt has a ruling, the ruling is its outcome. If the rules cannot score
// it, the outcome has the reason. An error means that the run cannot continue.
func (s *Scorer) Score(
	ctx context.Context,
	t *arena.Trace,
	p *arena.Problem,
) (arena.Outcome, error) {
	if r := t.Ruling; r != nil {
		return arena.RuledOutcome(r), nil
	}
	a := attempt{products: s.products, titles: s.titles, problem: p, note: s.note}
	var err error
	fault := python.Catch(func() {
		err = a.score(ctx, t, s.spec(t, p))
	})
	if err != nil {
		return arena.Outcome{}, fmt.Errorf("score %s: %w", t.ID, err)
	}
	out := arena.Outcome{Titles: a.titleSource()}
	if fault != nil {
		out.Error = fault.Error()
		return out, nil //nolint:nilerr // an error of the rules is the outcome
	}
	out.Scores = &a.scores
	out.Success = isSuccess(p.Category, a.scores.Axes)
	return out, nil
}

// isSuccess reports whether every product passed all rules and, for a shop or voucher task, whether
// the rule for the shop or budget was passed too. It returns false if a is nil.
func isSuccess(c arena.Category, a *arena.Axes) bool {
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

// spec is what a problem demands, in the form that the scoring rules read.
type spec struct {
	// single reports whether the problem is a product task, whose reward is a single object.
	single  bool
	rewards []reward
	voucher value
}

// reward is what a problem demands of one product.
type reward struct {
	value value
	// bounds are the conditions on the price that can be read. boundsFault is the reason why the
	// next condition cannot be read, nil if all can.
	bounds      []bound
	boundsFault error
	// options are the demanded options. optionsFault is the reason why they cannot be read, nil
	// if they can.
	options      []pair
	optionsFault error
}

// spec returns what the attempt's problem demands. It panics by python.Raise if the attempt
// cannot be scored: it failed, has no dialogue or no known problem, or the problem cannot be
// read.
func (s *Scorer) spec(t *arena.Trace, p *arena.Problem) spec {
	switch {
	case t.Status != arena.StatusSuccess:
		python.Raise("the attempt ended with status %s", t.Status)
	case !t.HasDialogue:
		python.Raise("the attempt left no dialogue")
	case p == nil:
		python.Raise("problem %q is not among the problems", t.ProblemID)
	}
	read, ok := s.specs.Load(p)
	if !ok {
		read, _ = s.specs.LoadOrStore(p, sync.OnceValues(func() (spec, error) {
			return readSpec(p)
		}))
	}
	result, fault := read.(func() (spec, error))()
	python.Reraise(fault)
	return result
}

// Scorable returns an error if no attempt at the problem can be scored, because it has no reward
// or there are no rules for its category.
func Scorable(p *arena.Problem) error {
	_, err := readSpec(p)
	return err
}

func readSpec(p *arena.Problem) (s spec, fault error) {
	fields := pick(gjson.Parse(string(p.Raw)), "reward", "voucher")
	rewards, _ := fields.Get("reward")
	s.voucher, _ = fields.Get("voucher")
	fault = python.Catch(func() {
		if !rewards.Truth() {
			python.Raise("the problem has no reward")
		}
		switch p.Category {
		case arena.CategoryProduct:
			s.single = true
			s.rewards = []reward{readReward(rewards)}
		case arena.CategoryShop, arena.CategoryVoucher:
			defer python.Within("reward")
			for _, v := range iterate(rewards) {
				s.rewards = append(s.rewards, readReward(v))
			}
		default:
			python.Raise("category %q has no rules", p.Category)
		}
	})
	return s, fault
}

func readReward(v value) reward {
	r := reward{value: v}
	r.bounds, r.boundsFault = readBounds(v)
	r.options, r.optionsFault = readWantedPairs(v)
	return r
}
