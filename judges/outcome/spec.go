package outcome

import (
	"errors"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// spec is what a problem asks for, as the rules read it.
type spec struct {
	// single is a product task: its reward is one object.
	single  bool
	rewards []value
	voucher value
}

// readSpec says what the attempt is held against, or why it has no score.
func readSpec(t *arena.Trace, p *arena.Problem) (spec, error) {
	switch {
	case t.Status != arena.StatusSuccess:
		return spec{}, fmt.Errorf("the attempt ended with status %s", t.Status)
	case !t.HasDialogue:
		return spec{}, errors.New("the attempt left no dialogue")
	case p == nil:
		return spec{}, fmt.Errorf("problem %q is not among the problems", t.ProblemID)
	}
	fields := pick(gjson.Parse(string(p.Raw)), "reward", "voucher")
	if !truthy(fields["reward"]) {
		return spec{}, errors.New("the problem has no reward")
	}
	s := spec{voucher: fields["voucher"]}
	switch p.Category {
	case arena.CategoryProduct:
		s.single, s.rewards = true, []value{fields["reward"]}
		return s, nil
	case arena.CategoryShop, arena.CategoryVoucher:
		var err error
		if s.rewards, err = iterate(fields["reward"]); err != nil {
			return s, fmt.Errorf("reward: %w", err)
		}
		return s, nil
	default:
		return s, fmt.Errorf("category %q has no rules", p.Category)
	}
}
