// Package outcome scores attempts by the subnet's own rules: format and length of
// the dialogue, and the recommended products against the problem's rewards. The
// rules reproduce every oddity of the subnet's, so that a score here is the score
// that was paid. docs/outcome.md lists them.
package outcome

import (
	"context"
	"fmt"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/python"
)

// Products is the catalogue in which recommended ids are looked up.
type Products interface {
	// Document returns a product as the catalogue has it, a JSON object.
	Document(id string) (arena.Raw, bool)
}

// Scorer computes outcome scores. It is safe for use by several goroutines if its
// Products and Titles are.
type Scorer struct {
	products *documents
	titles   Titles
	// specs caches the results of readSpec. The key is an *arena.Problem, the value a func() (spec,
	// error): a day's thousands of attempts are at the same few hundred problems.
	specs sync.Map
}

// New returns a scorer over a catalogue. If titles is nil, titles do not count in
// any rule but that of the gold product itself.
func New(products Products, titles Titles) *Scorer {
	return &Scorer{
		products: &documents{source: products, cache: map[string]*document{}},
		titles:   titles,
	}
}

// Score scores the trace t against its problem p, nil if none is known. The outcome
// of an attempt with a ruling is that ruling, whatever the rules say. If the rules
// cannot score an attempt, its outcome has the reason. An error means that the run
// cannot go on.
func (s *Scorer) Score(
	ctx context.Context,
	t *arena.Trace,
	p *arena.Problem,
) (arena.Outcome, error) {
	if r := t.Ruling; r != nil {
		return arena.Outcome{
			Success: r.Success,
			Error:   r.Void,
			Titles:  arena.TitlesNone,
			Ruling:  r,
		}, nil
	}
	a := attempt{products: s.products, titles: s.titles, problem: p}
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

// isSuccess reports whether every product passed all rules and, for a shop or voucher task, the
// shop or budget too.
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

// spec is what a problem demands, in the form that the rules read.
type spec struct {
	// single is set for a product task: its reward is one object.
	single  bool
	rewards []reward
	voucher value
}

// reward is what a problem demands of one product.
type reward struct {
	value value
	// bounds are the conditions on the price that can be read. boundsFault is the reason why the
	// next one cannot be read; nil if all can.
	bounds      []bound
	boundsFault error
	// options are the demanded options. optionsFault is the reason why they cannot be read; nil if
	// they can.
	options      []pair
	optionsFault error
}

// spec returns what the attempt's problem demands. It panics by python.Raise if the attempt cannot
// be scored, since it failed, left no dialogue or has no known problem, or since the problem cannot
// be read.
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

// Scorable returns an error if no attempt at a problem can be scored: the problem
// has no reward, or its category no rules.
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
