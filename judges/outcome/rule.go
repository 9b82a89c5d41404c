package outcome

import (
	"github.com/trajectory-arena/arena/internal/python"
)

// axis is one of the four properties that a product is checked for.
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

// ratio returns hits divided by checks on the axes, 0 if nothing was checked.
func (t *tally) ratio(over ...axis) float64 {
	var hits, total int
	for _, a := range over {
		hits += t.hits[a]
		total += t.total[a]
	}
	return float64(hits) / float64(max(total, 1))
}

// isGold reports whether the product is the one that the reward names.
func isGold(product, reward value) bool {
	return equal(productID("product", product), productID("reward", reward))
}

func productID(name string, v value) value {
	defer python.Within(name)
	return get(v, "product_id")
}

// check checks a product against a reward on all axes. titles has a hit or miss for
// each title that could be compared.
func check(product *document, r *reward, titles []bool) tally {
	var t tally
	for _, hit := range titles {
		t.add(axisTitle, hit)
	}
	checkObject(r.value)
	checkPrices(&t, product.fields, r)
	checkServices(&t, product.fields, r.value)
	checkOptions(&t, product, r)
	return t
}

// checkObject checks that a reward is an object, and raises otherwise.
func checkObject(reward value) {
	defer python.Within("reward")
	items(reward)
}

func checkPrices(t *tally, product value, r *reward) {
	defer python.Within("price")
	price, _ := product.Get("price")
	for i := range r.bounds {
		t.add(axisPrice, r.bounds[i].allows(price))
	}
	python.Reraise(r.boundsFault)
}

func checkServices(t *tally, product, reward value) {
	defer python.Within("service")
	for _, service := range iterateKey(reward, "service") {
		t.add(axisService, contains(get(product, "service"), service))
	}
}

// bound is what a reward demands of a price: a mode, and two ends of which the mode
// uses one or both.
type bound struct {
	mode   string
	lo, hi value
}

// readBounds reads the bounds up to the first that cannot be read: those before it
// are checked before the fault is raised.
func readBounds(reward value) (bounds []bound, fault error) {
	fault = python.Catch(func() {
		for _, price := range iterateKey(reward, "price") {
			for _, mode := range items(price) {
				ends := iterate(mode.Value)
				if len(ends) != 2 {
					python.Raise("a bound has %d ends, not 2", len(ends))
				}
				bounds = append(bounds, bound{mode.Key, ends[0], ends[1]})
			}
		}
	})
	return bounds, fault
}

// allows reports whether a price is inside the bound. It reads only the ends that
// the mode uses, and the upper end only if the price is not below the lower one.
func (b *bound) allows(price value) bool {
	switch b.mode {
	case "less than":
		return atMost(price, b.hi)
	case "greater than":
		return atMost(b.lo, price)
	case "between":
		return atMost(b.lo, price) && atMost(price, b.hi)
	default:
		return false
	}
}
