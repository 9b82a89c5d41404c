package outcome

import "slices"

// options are what a product can be had in.
type options struct {
	attributes []pair
	skus       [][]pair
}

func readOptions(product value) (o options, err error) {
	attributes, _ := product.Get("attributes")
	skus, _ := product.Get("sku_options")
	if attributes.Truth() {
		err = eachPair(attributes, true, func(p pair) { o.attributes = append(o.attributes, p) })
	}
	if err == nil && skus.Truth() {
		o.skus, err = skuPairs(skus)
	}
	return o, err
}

// checkOptions takes the best over the product's SKUs; the plain attributes
// count with each of them, and alone.
func checkOptions(t *tally, product *document, reward *wish) error {
	if reward.fault != nil {
		return reward.fault
	}
	if product.fault != nil {
		return product.fault
	}
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
	return nil
}

// fewOptions is how many options a reward wants at most, as a rule.
const fewOptions = 16

// pair is one key with the hash of its value.
type pair struct{ key, value string }

// eachPair walks over a map of values, or of lists of values.
func eachPair(v value, lists bool, yield func(pair)) error {
	o, err := items(v)
	for _, item := range o {
		values := []value{item.Value}
		if lists {
			if values, err = iterate(item.Value); err != nil {
				return err
			}
		}
		for _, each := range values {
			h, bad := hash(each)
			if bad != nil {
				return bad
			}
			yield(pair{item.Key, h})
		}
	}
	return err
}

func wantedPairs(reward value) ([]pair, error) {
	var all []pair
	for _, field := range []string{"sku_options", "attributes"} {
		list, ok := reward.Get(field)
		if !ok {
			continue
		}
		maps, err := iterate(list)
		if err != nil {
			return nil, err
		}
		for _, m := range maps {
			if err := eachPair(m, field == "attributes", func(p pair) { all = append(all, p) }); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func skuPairs(v value) ([][]pair, error) {
	variants, err := items(v)
	var all [][]pair
	for _, variant := range variants {
		var sku []pair
		if bad := eachPair(variant.Value, false, func(p pair) { sku = append(sku, p) }); bad != nil {
			return nil, bad
		}
		all = append(all, sku)
	}
	return all, err
}
