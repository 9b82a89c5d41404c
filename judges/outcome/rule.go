package outcome

import (
	"fmt"
)

// axis is one of the four things that a product is checked for.
type axis int

const (
	axisTitle axis = iota
	axisPrice
	axisService
	axisOptions
	axes
)

// tally counts the checks of one product against one reward, per axis.
type tally struct {
	hits, total [axes]int
}

func (t *tally) add(a axis, hit bool) {
	t.total[a]++
	if hit {
		t.hits[a]++
	}
}

// share is hits over checks on one axis, 0 where nothing was checked.
func (t *tally) share(a axis) float64 {
	if t.total[a] == 0 {
		return 0
	}
	return float64(t.hits[a]) / float64(t.total[a])
}

// rule is hits over checks on all axes, 0 where nothing was checked.
func (t *tally) rule() float64 {
	var hits, total int
	for a := range axes {
		hits += t.hits[a]
		total += t.total[a]
	}
	if total == 0 {
		return 0
	}
	return float64(hits) / float64(total)
}

// isGold tells whether the product is the very one that the reward names.
func isGold(product *document, reward *wish) (bool, error) {
	have, err := get(product.fields, "product_id")
	if err != nil {
		return false, fmt.Errorf("product: %w", err)
	}
	want, err := get(reward.value, "product_id")
	if err != nil {
		return false, fmt.Errorf("reward: %w", err)
	}
	return equal(have, want), nil
}

// check holds a product against a reward, axis by axis. titles has a hit or
// miss for each title that could be compared.
func check(product *document, reward *wish, titles []bool) (tally, error) {
	var t tally
	for _, hit := range titles {
		t.add(axisTitle, hit)
	}
	want, err := items(reward.value)
	if err != nil {
		return t, fmt.Errorf("reward: %w", err)
	}
	if err := checkPrices(&t, product.fields, want); err != nil {
		return t, fmt.Errorf("price: %w", err)
	}
	if err := checkServices(&t, product.fields, want); err != nil {
		return t, fmt.Errorf("service: %w", err)
	}
	if err := checkOptions(&t, product, reward); err != nil {
		return t, fmt.Errorf("sku & attrs: %w", err)
	}
	return t, nil
}

func checkPrices(t *tally, product, reward object) error {
	list, ok := reward["price"]
	if !ok {
		return nil
	}
	bounds, err := iterate(list)
	if err != nil {
		return err
	}
	for _, bound := range bounds {
		modes, err := items(bound)
		if err != nil {
			return err
		}
		for _, mode := range modes.keys() {
			hit, err := inBound(product["price"], mode, modes[mode])
			if err != nil {
				return err
			}
			t.add(axisPrice, hit)
		}
	}
	return nil
}

// inBound reads only the ends that the mode uses, and the upper end only
// where the lower one holds.
func inBound(price value, mode string, ends value) (bool, error) {
	pair, err := iterate(ends)
	if err != nil {
		return false, err
	}
	if len(pair) != 2 {
		return false, fmt.Errorf("a bound has %d ends, not 2", len(pair))
	}
	switch mode {
	case "less than":
		return atMost(price, pair[1])
	case "greater than":
		return atMost(pair[0], price)
	case "between":
		if ok, err := atMost(pair[0], price); !ok {
			return false, err
		}
		return atMost(price, pair[1])
	default:
		return false, nil
	}
}

func checkServices(t *tally, product, reward object) error {
	list, ok := reward["service"]
	if !ok {
		return nil
	}
	wanted, err := iterate(list)
	if err != nil {
		return err
	}
	for _, service := range wanted {
		have, err := get(product, "service")
		if err != nil {
			return err
		}
		hit, err := contains(have, service)
		if err != nil {
			return err
		}
		t.add(axisService, hit)
	}
	return nil
}
