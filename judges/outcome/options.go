package outcome

import "slices"

// options are what a product can be had in.
type options struct {
	attributes []pair
	skus       [][]pair
}

func readOptions(product object) (o options, err error) {
	if o.attributes, err = attributePairs(product["attributes"]); err == nil {
		o.skus, err = skuPairs(product["sku_options"])
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

func hashPair(key string, v value) (pair, error) {
	h, err := hash(v)
	return pair{key, h}, err
}

// eachPair walks over a map of values, or of lists of values.
func eachPair(v value, lists bool, yield func(pair)) error {
	o, err := items(v)
	if err != nil {
		return err
	}
	for _, key := range o.keys() {
		values := []value{o[key]}
		if lists {
			if values, err = iterate(o[key]); err != nil {
				return err
			}
		}
		for _, each := range values {
			p, err := hashPair(key, each)
			if err != nil {
				return err
			}
			yield(p)
		}
	}
	return nil
}

func wantedPairs(reward object) ([]pair, error) {
	var all []pair
	for _, field := range []string{"sku_options", "attributes"} {
		list, ok := reward[field]
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

func attributePairs(v value) (all []pair, err error) {
	if truthy(v) {
		err = eachPair(v, true, func(p pair) { all = append(all, p) })
	}
	return all, err
}

func skuPairs(v value) ([][]pair, error) {
	if !truthy(v) {
		return nil, nil
	}
	variants, err := items(v)
	if err != nil {
		return nil, err
	}
	var all [][]pair
	for _, key := range variants.keys() {
		var sku []pair
		if err := eachPair(variants[key], false, func(p pair) { sku = append(sku, p) }); err != nil {
			return nil, err
		}
		all = append(all, sku)
	}
	return all, nil
}
