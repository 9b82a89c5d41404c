package outcome

import (
	"slices"

	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// options are the variants in which a product is sold, such as sizes and colours.
type options struct {
	// attributes belong to the product itself. skus has the options of each variant that can be
	// ordered.
	attributes []pair
	skus       [][]pair
}

// pair is one option of a product: its name, such as "colour", and its value in the form that hash
// returns.
type pair struct{ key, value string }

func readOptions(product value) (o options, fault error) {
	attributes, _ := product.Get("attributes")
	skus, _ := product.Get("sku_options")
	fault = python.Catch(func() {
		if attributes.Truth() {
			o.attributes = attributePairs(attributes)
		}
		if !skus.Truth() {
			return
		}
		for _, variant := range items(skus) {
			o.skus = append(o.skus, skuPairs(variant.Value))
		}
	})
	return o, fault
}

// attributePairs returns one pair for each item of each list in v, which is an object of lists. It
// panics by python.Raise if v is no such object or an item is a list or an object.
func attributePairs(v value) []pair {
	var pairs []pair
	for _, item := range items(v) {
		for _, element := range iterate(item.Value) {
			pairs = append(pairs, pair{item.Key, hash(element)})
		}
	}
	return pairs
}

// skuPairs returns the options of one variant of a product: for each member of the object v, its
// name and the hash of its value. It panics by python.Raise if v is no object or a value is a list
// or an object.
func skuPairs(v value) []pair {
	return slicesx.Map(items(v), func(item python.Item) pair {
		return pair{item.Key, hash(item.Value)}
	})
}

// readWantedPairs returns the options, such as a colour, that a reward (the demands of a problem)
// requires of a product. fault is the reason why they cannot be read, nil if they can.
func readWantedPairs(reward value) (pairs []pair, fault error) {
	fault = python.Catch(func() {
		for _, v := range iterateKey(reward, "sku_options") {
			pairs = append(pairs, skuPairs(v)...)
		}
		for _, v := range iterateKey(reward, "attributes") {
			pairs = append(pairs, attributePairs(v)...)
		}
	})
	return pairs, fault
}

// typicalOptions is the initial capacity for the options of a reward. Almost no reward has more.
const typicalOptions = 16

// checkOptions counts in the tally how many options a reward demands, and how many of them the
// product has. It counts the product's own attributes, and the options of the variant (SKU) with
// the most demanded ones.
func checkOptions(t *tally, product *document, reward *reward) {
	defer python.Within("sku & attrs")
	python.Reraise(reward.optionsFault)
	python.Reraise(product.optionsFault)
	remaining := make([]pair, 0, typicalOptions)
	for _, p := range reward.options {
		if !slices.Contains(product.options.attributes, p) {
			remaining = append(remaining, p)
		}
	}
	best := 0
	for _, sku := range product.options.skus {
		best = max(best, slicesx.CountFunc(remaining, func(p *pair) bool {
			return slices.Contains(sku, *p)
		}))
	}
	t.total[axisOptions] = len(reward.options)
	t.hits[axisOptions] = len(reward.options) - len(remaining) + best
}
