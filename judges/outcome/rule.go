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

// isGold reports whether the product is the very one that the reward names.
func isGold(product *document, reward *wish) (bool, error) {
	if product.nameless != nil {
		return false, fmt.Errorf("product: %w", product.nameless)
	}
	if reward.nameless != nil {
		return false, fmt.Errorf("reward: %w", reward.nameless)
	}
	return equal(product.id, reward.id), nil
}

// check holds a product against a reward, axis by axis. titles has a hit or
// miss for each title that could be compared.
func check(product *document, reward *wish, titles []bool) (tally, error) {
	var t tally
	for _, hit := range titles {
		t.add(axisTitle, hit)
	}
	if _, err := items(reward.value); err != nil {
		return t, fmt.Errorf("reward: %w", err)
	}
	if err := checkPrices(&t, product.fields, reward); err != nil {
		return t, fmt.Errorf("price: %w", err)
	}
	if err := checkServices(&t, product.fields, reward.value); err != nil {
		return t, fmt.Errorf("service: %w", err)
	}
	if err := checkOptions(&t, product, reward); err != nil {
		return t, fmt.Errorf("sku & attrs: %w", err)
	}
	return t, nil
}

func checkPrices(t *tally, product value, reward *wish) error {
	price, _ := product.Get("price")
	for i := range reward.bounds {
		hit, err := reward.bounds[i].holds(price)
		if err != nil {
			return err
		}
		t.add(axisPrice, hit)
	}
	return reward.unbound
}

func checkServices(t *tally, product, reward value) error {
	list, ok := reward.Get("service")
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
