package outcome

import "slices"

// options are what a product can be had in.
type options struct {
	attributes []pair
	skus       [][]pair
}

func readOptions(product value) (o options, fault error) {
	attributes, _ := product.Get("attributes")
	skus, _ := product.Get("sku_options")
	fault = catch(func() {
		if attributes.Truth() {
			o.attributes = pairs(attributes, true)
		}
		if !skus.Truth() {
			return
		}
		for _, variant := range items(skus) {
			o.skus = append(o.skus, pairs(variant.Value, false))
		}
	})
	return o, fault
}

// checkOptions takes the best over the product's SKUs; the plain attributes
// count with each of them, and alone.
func checkOptions(t *tally, product *document, reward *wish) {
	defer within("sku & attrs")
	reraise(reward.fault)
	reraise(product.fault)
	left := make([]pair, 0, fewOptions)
	for _, p := range reward.options {
		if !slices.Contains(product.options.attributes, p) {
			left = append(left, p)
		}
	}
	best := 0
	for _, sku := range product.options.skus {
		found := 0
		for _, p := range left {
			if slices.Contains(sku, p) {
				found++
			}
		}
		best = max(best, found)
	}
	t.total[axisOptions], t.hits[axisOptions] = len(reward.options), len(reward.options)-len(left)+best
}

// fewOptions is how many options a reward wants at most, as a rule.
const fewOptions = 16

// pair is one key with the hash of its value.
type pair struct{ key, value string }

// pairs are those of a map of values, or of lists of values.
func pairs(v value, lists bool) (all []pair) {
	for _, item := range items(v) {
		values := []value{item.Value}
		if lists {
			values = iterate(item.Value)
		}
		for _, each := range values {
			all = append(all, pair{item.Key, hash(each)})
		}
	}
	return all
}

func wantedPairs(reward value) (all []pair, fault error) {
	fault = catch(func() {
		for _, field := range []string{"sku_options", "attributes"} {
			for _, m := range walk(reward, field) {
				all = append(all, pairs(m, field == "attributes")...)
			}
		}
	})
	return all, fault
}
