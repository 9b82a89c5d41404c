package outcome

import "fmt"

// bound is what a reward demands of a price: a mode with the two ends that it
// chooses from.
type bound struct {
	mode   string
	lo, hi value
}

// readBounds reads the bounds up to the first that cannot be read: those before
// it count until then.
func readBounds(reward value) (all []bound, err error) {
	list, ok := reward.Get("price")
	if !ok {
		return nil, nil
	}
	each, err := iterate(list)
	if err != nil {
		return nil, err
	}
	for _, one := range each {
		modes, err := items(one)
		if err != nil {
			return all, err
		}
		for _, mode := range modes {
			ends, err := iterate(mode.Value)
			if err != nil {
				return all, err
			}
			if len(ends) != 2 {
				return all, fmt.Errorf("a bound has %d ends, not 2", len(ends))
			}
			all = append(all, bound{mode.Key, ends[0], ends[1]})
		}
	}
	return all, nil
}

// holds reads only the ends that the mode uses, and the upper end only where the
// lower one holds.
func (b *bound) holds(price value) (bool, error) {
	switch b.mode {
	case "less than":
		return atMost(price, b.hi)
	case "greater than":
		return atMost(b.lo, price)
	case "between":
		if ok, err := atMost(b.lo, price); !ok {
			return false, err
		}
		return atMost(price, b.hi)
	default:
		return false, nil
	}
}
