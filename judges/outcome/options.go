package outcome

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// options are what a product can be had in.
type options struct {
	attributes []pair
	skus       [][]pair
}

func readOptions(product value) (o options, fault error) {
	attributes, _ := product.Get("attributes")
	skus, _ := product.Get("sku_options")
	fault = python.Catch(func() {
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
	defer python.Within("sku & attrs")
	python.Reraise(reward.fault)
	python.Reraise(product.fault)
	left := make([]pair, 0, fewOptions)
	for _, p := range reward.options {
		if !slices.Contains(product.options.attributes, p) {
			left = append(left, p)
		}
	}
	best := 0
	for _, sku := range product.options.skus {
		best = max(best, slicesx.CountFunc(left, func(p *pair) bool { return slices.Contains(sku, *p) }))
	}
	t.total[axisOptions], t.hits[axisOptions] = len(reward.options), len(reward.options)-len(left)+best
}

// fewOptions is how many options a reward wants at most, as a rule.
const fewOptions = 16

type pair struct{ key, value string }

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
	fault = python.Catch(func() {
		for _, field := range []string{"sku_options", "attributes"} {
			for _, m := range walk(reward, field) {
				all = append(all, pairs(m, field == "attributes")...)
			}
		}
	})
	return all, fault
}

// suiteModel made the vectors that published suites carry. They may stand
// beside an endpoint's own only if it serves that very model.
const suiteModel = "qwen3-embedding-0.6b"

// Endpoint asks an OpenAI-compatible server for embeddings. It may be used by
// several goroutines at once.
type Endpoint struct{ model *model.Embedder }

// NewEndpoint compares titles by an embedder's vectors.
func NewEndpoint(e *model.Embedder) *Endpoint { return &Endpoint{e} }

// Source implements Titles.
func (e *Endpoint) Source() arena.TitleSource { return arena.TitlesEndpoint }

// Vectors implements Titles. As in the subnet's scorer, vectors that the
// problem carries stand for its reward titles, where the endpoint serves the
// model that made them; a product's title is always embedded.
func (e *Endpoint) Vectors(ctx context.Context, p *arena.Problem, products, rewards []string) (ofProducts, ofRewards [][]float64, err error) {
	all := make([][]float64, len(products)+len(rewards))
	if strings.Contains(strings.ToLower(e.model.Name()), suiteModel) {
		copy(all[len(products):], carried(p, rewards))
	}
	err = e.fill(ctx, slices.Concat(products, rewards), all)
	return all[:len(products)], all[len(products):], err
}

// fill embeds what has no vector. It refuses a server that serves the suites' model at
// another length than theirs: every title would be far from every other.
func (e *Endpoint) fill(ctx context.Context, texts []string, all [][]float64) error {
	var missing []string
	for i, text := range texts {
		if all[i] == nil {
			missing = append(missing, text)
		}
	}
	vectors, err := e.model.Embed(ctx, missing)
	if err != nil {
		return fmt.Errorf("embed titles with %s: %w", e.model.Name(), err)
	}
	for i := range all {
		if all[i] == nil {
			for _, x := range vectors[0] { // in the precision that the subnet compares in
				all[i] = append(all[i], float64(x))
			}
			vectors = vectors[1:]
		}
		if len(all[i]) != len(all[0]) {
			return fmt.Errorf("embed titles with %s: its vectors have %d dimensions, those of the problem %d", e.model.Name(), len(all[0]), len(all[i]))
		}
	}
	return nil
}

// basket collects the products that fulfil some rule of their rewards.
type basket struct {
	count int
	total float64
	// shops are the hashed shop ids.
	shops map[string]bool
}

func (b *basket) add(product value) {
	listed, _ := product.Get("price")
	price := numberOf("price", listed)
	id := get(product, "shop_id")
	defer python.Within("shop_id")
	shop := hash(id)
	b.count++
	b.total += price
	b.shops[shop] = true
}

// fits reports whether the basket fits the budget, by itself or with the
// voucher. A missing voucher sets no budget that could be fitted. As in the
// subnet's code, a field is read only when the answer needs it.
func (b *basket) fits(voucher value) bool {
	defer python.Within("voucher")
	if !voucher.Truth() {
		return false
	}
	budget := get(voucher, "budget")
	return atMost(python.Number(b.total), budget) || b.applies(voucher) && atMost(python.Number(b.discounted(voucher)), budget)
}

// applies reports whether the voucher covers the basket and its total reaches
// the threshold.
func (b *basket) applies(voucher value) bool {
	kind := get(voucher, "voucher_type")
	if !equal(kind, python.String("platform")) && (!equal(kind, python.String("shop")) || len(b.shops) != 1) {
		return false
	}
	return atMost(get(voucher, "threshold"), python.Number(b.total))
}

func (b *basket) discounted(voucher value) float64 {
	amount := func(key string) float64 { return numberOf(key, get(voucher, key)) }
	switch kind := get(voucher, "discount_type"); kind.String() {
	case "fixed":
		return b.total - amount("face_value")
	case "percentage":
		share := amount("discount")
		return max(b.total*(1-share), b.total-amount("cap"))
	default:
		python.Raise("unknown discount_type")
		return 0
	}
}

func numberOf(key string, v value) float64 {
	defer python.Within(key)
	return asNumber(v)
}
