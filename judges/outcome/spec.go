package outcome

import (
	"errors"
	"fmt"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// spec is what a problem asks for, as the rules read it.
type spec struct {
	// single is a product task: its reward is one object.
	single  bool
	rewards []wish
	voucher value
}

// wish is what a problem wants of one product.
type wish struct {
	value value
	// id is the gold product's, nameless why there is none.
	id       value
	nameless error
	// bounds are those of the price; unbound says why there are no more.
	bounds  []bound
	unbound error
	options []pair
	// fault says why the options cannot be read, as a document's does.
	fault error
}

// specs are the problems as the rules read them; a day asks thousands of
// attempts the same few hundred. The zero value is ready to use.
type specs struct {
	read sync.Map // *arena.Problem to readSpec's answer
}

type specAnswer struct {
	spec spec
	err  error
}

// of says what the attempt is held against, or why it has no score.
func (s *specs) of(t *arena.Trace, p *arena.Problem) (spec, error) {
	switch {
	case t.Status != arena.StatusSuccess:
		return spec{}, fmt.Errorf("the attempt ended with status %s", t.Status)
	case !t.HasDialogue:
		return spec{}, errors.New("the attempt left no dialogue")
	case p == nil:
		return spec{}, fmt.Errorf("problem %q is not among the problems", t.ProblemID)
	}
	if known, ok := s.read.Load(p); ok {
		return known.(specAnswer).spec, known.(specAnswer).err
	}
	var answer specAnswer
	answer.spec, answer.err = readSpec(p)
	s.read.Store(p, answer)
	return answer.spec, answer.err
}

// Scorable says why no attempt at a problem can be scored, whatever it does: the
// problem has no reward, or its category no rules. It is nil for all others.
func Scorable(p *arena.Problem) error {
	_, err := readSpec(p)
	return err
}

func readSpec(p *arena.Problem) (spec, error) {
	fields := pick(gjson.Parse(string(p.Raw)), "reward", "voucher")
	reward, _ := fields.Get("reward")
	if !reward.Truth() {
		return spec{}, errors.New("the problem has no reward")
	}
	var s spec
	s.voucher, _ = fields.Get("voucher")
	switch p.Category {
	case arena.CategoryProduct:
		s.single, s.rewards = true, []wish{readWish(reward)}
		return s, nil
	case arena.CategoryShop, arena.CategoryVoucher:
		rewards, err := iterate(reward)
		if err != nil {
			return s, fmt.Errorf("reward: %w", err)
		}
		for _, reward := range rewards {
			s.rewards = append(s.rewards, readWish(reward))
		}
		return s, nil
	default:
		return s, fmt.Errorf("category %q has no rules", p.Category)
	}
}

func readWish(reward value) wish {
	w := wish{value: reward}
	w.id, w.nameless = get(reward, "product_id")
	w.bounds, w.unbound = readBounds(reward)
	w.options, w.fault = wantedPairs(reward)
	return w
}
