package outcome

import (
	"slices"

	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// options are the variants that a product is sold in.
type options struct {
	attributes []pair
	skus       [][]pair
}

// pair is a key and the hash of a value.
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

// attributePairs returns the pairs of an object of lists, one for each list item.
func attributePairs(v value) []pair {
	var pairs []pair
	for _, item := range items(v) {
		for _, element := range iterate(item.Value) {
			pairs = append(pairs, pair{item.Key, hash(element)})
		}
	}
	return pairs
}

// skuPairs returns the pairs of an object of scalars.
func skuPairs(v value) []pair {
	return slicesx.Map(items(v), func(item python.Item) pair {
		return pair{item.Key, hash(item.Value)}
	})
}

// readWantedPairs returns the options that a reward demands.
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

// typicalOptions is the number of options that nearly no reward exceeds.
const typicalOptions = 16

// checkOptions counts the demanded options of the product's best SKU. The plain
// attributes count with each SKU, and alone.
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
