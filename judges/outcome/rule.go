package outcome

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

// share is hits over checks on the axes, 0 where nothing was checked.
func (t *tally) share(of ...axis) float64 {
	var hits, total int
	for _, a := range of {
		hits += t.hits[a]
		total += t.total[a]
	}
	return float64(hits) / float64(max(total, 1))
}

// isGold reports whether the product is the very one that the reward names.
func isGold(product, reward value) bool {
	id := func(of string, v value) value {
		defer within(of)
		return get(v, "product_id")
	}
	return equal(id("product", product), id("reward", reward))
}

// check holds a product against a reward, axis by axis. titles has a hit or
// miss for each title that could be compared.
func check(product *document, reward *wish, titles []bool) (t tally) {
	for _, hit := range titles {
		t.add(axisTitle, hit)
	}
	needObject(reward.value)
	checkPrices(&t, product.fields, reward)
	checkServices(&t, product.fields, reward.value)
	checkOptions(&t, product, reward)
	return t
}

func needObject(reward value) {
	defer within("reward")
	items(reward)
}

func checkPrices(t *tally, product value, reward *wish) {
	defer within("price")
	price, _ := product.Get("price")
	for i := range reward.bounds {
		t.add(axisPrice, reward.bounds[i].holds(price))
	}
	reraise(reward.unbound)
}

func checkServices(t *tally, product, reward value) {
	defer within("service")
	for _, service := range walk(reward, "service") {
		t.add(axisService, contains(get(product, "service"), service))
	}
}

// bound is what a reward demands of a price: a mode with the two ends that it
// chooses from.
type bound struct {
	mode   string
	lo, hi value
}

// readBounds reads the bounds up to the first that cannot be read: those before
// it count until then.
func readBounds(reward value) (all []bound, fault error) {
	fault = catch(func() {
		for _, one := range walk(reward, "price") {
			for _, mode := range items(one) {
				ends := iterate(mode.Value)
				if len(ends) != 2 {
					raise("a bound has %d ends, not 2", len(ends))
				}
				all = append(all, bound{mode.Key, ends[0], ends[1]})
			}
		}
	})
	return all, fault
}

// holds reads only the ends that the mode uses, and the upper end only where the
// lower one holds.
func (b *bound) holds(price value) bool {
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
