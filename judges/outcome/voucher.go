package outcome

import "github.com/trajectory-arena/arena/internal/python"

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
	defer within("shop_id")
	shop := hash(id)
	b.count++
	b.total += price
	b.shops[shop] = true
}

// fits reports whether the basket fits the budget, by itself or with the
// voucher. A missing voucher sets no budget that could be fitted. As in the
// subnet's code, a field is read only when the answer needs it.
func (b *basket) fits(voucher value) bool {
	defer within("voucher")
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
		raise("unknown discount_type")
		return 0
	}
}

func numberOf(key string, v value) float64 {
	defer within(key)
	return asNumber(v)
}
