package outcome

import "github.com/trajectory-arena/arena/internal/python"

// basket has the number, the total price and the shops of those recommended products that each pass
// at least one check of their reward (what the problem demands of the product).
type basket struct {
	count int
	total float64
	// shops has the shop ids of the products, as converted by hash.
	shops map[string]bool
}

func (b *basket) add(product value) {
	field, _ := product.Get("price")
	price := numberOf("price", field)
	id := get(product, "shop_id")
	defer python.Within("shop_id")
	shop := hash(id)
	b.count++
	b.total += price
	b.shops[shop] = true
}

// fits reports whether the total price is within the voucher's budget, with or without the
// discount. It returns false without a voucher. As in the subnet's code, a field of the voucher
// is read only if the result depends on it.
func (b *basket) fits(voucher value) bool {
	defer python.Within("voucher")
	if !voucher.Truth() {
		return false
	}
	budget := get(voucher, "budget")
	if atMost(python.Number(b.total), budget) {
		return true
	}
	return b.qualifies(voucher) && atMost(python.Number(b.discounted(voucher)), budget)
}

// qualifies reports whether the voucher may be used: the total price reaches its threshold, and
// it is valid in every shop or all products are from one shop.
func (b *basket) qualifies(voucher value) bool {
	kind := get(voucher, "voucher_type")
	isPlatform := equal(kind, python.String("platform"))
	if !isPlatform && (!equal(kind, python.String("shop")) || len(b.shops) != 1) {
		return false
	}
	return atMost(get(voucher, "threshold"), python.Number(b.total))
}

// discounted returns the total price after the voucher's discount. It panics by python.Raise if the
// discount's type or an amount that it needs cannot be read.
func (b *basket) discounted(voucher value) float64 {
	switch kind := get(voucher, "discount_type"); kind.String() {
	case "fixed":
		return b.total - getNumber(voucher, "face_value")
	case "percentage":
		discount := getNumber(voucher, "discount")
		return max(b.total*(1-discount), b.total-getNumber(voucher, "cap"))
	default:
		python.Raise("unknown discount_type")
		return 0
	}
}

func getNumber(v value, key string) float64 { return numberOf(key, get(v, key)) }

func numberOf(key string, v value) float64 {
	defer python.Within(key)
	return asNumber(v)
}
