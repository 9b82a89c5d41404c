package outcome

import (
	"github.com/trajectory-arena/arena/internal/python"
)

// axis is one of the four properties for which a product is checked: title, price, service and
// options.
type axis int

const (
	axisTitle axis = iota
	axisPrice
	axisService
	axisOptions
	axes
)

// tally is, for one product and the demands of one problem (the reward), the number of checks and
// of passed checks on each axis: title, price, service and options.
type tally struct {
	hits, total [axes]int
}

func (t *tally) add(a axis, hit bool) {
	t.total[a]++
	if hit {
		t.hits[a]++
	}
}

// ratio returns the share, 0 to 1, of passed checks among all checks on the given axes (such as
// title and price). It returns 0 if there are no checks.
func (t *tally) ratio(over ...axis) float64 {
	var hits, total int
	for _, a := range over {
		hits += t.hits[a]
		total += t.total[a]
	}
	return float64(hits) / float64(max(total, 1))
}

// isGold reports whether the product is the gold product of a reward: the right one, which the
// problem's demands name by its id.
func isGold(product, reward value) bool {
	return equal(productID("product", product), productID("reward", reward))
}

func productID(name string, v value) value {
	defer python.Within(name)
	return get(v, "product_id")
}

// check runs all checks of a product against a reward (what a problem demands of one product) and
// counts them, and those that passed, by axis: title, price, service and options. titles has one
// value for each of the reward's titles that could be compared: whether the product's title matches
// it.
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

// checkObject panics by python.Raise if a reward (what a problem demands of one product) is not a
// JSON object.
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

// bound is a condition on the price in a problem's demands. Its mode is "less than", "greater than"
// or "between", and so uses the upper end, the lower end or both.
type bound struct {
	mode   string
	lo, hi value
}

// readBounds reads a reward's conditions on the price, up to the first that cannot be read.
// fault is the reason why it cannot be read. The fault is raised only after the conditions
// before it were checked.
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

// allows reports whether a price is within the bound. It returns false for an unknown mode. It
// reads the lower or upper end only if the result depends on it, since an end of a wrong type
// panics by python.Raise.
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
