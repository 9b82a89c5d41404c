package outcome

import (
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena/internal/python"
)

// basket collects the products that fulfil some rule of their rewards.
type basket struct {
	count int
	total float64
	// shops are the hashed shop ids.
	shops map[string]bool
}

func (b *basket) add(product value) error {
	listed, _ := product.Get("price")
	price, err := asNumber(listed)
	if err != nil {
		return fmt.Errorf("price: %w", err)
	}
	id, err := get(product, "shop_id")
	if err != nil {
		return err
	}
	shop, err := hash(id)
	if err != nil {
		return fmt.Errorf("shop_id: %w", err)
	}
	b.count++
	b.total += price
	b.shops[shop] = true
	return nil
}

// fits reports whether the basket fits the budget, by itself or with the
// voucher. A missing voucher sets no budget that could be fitted. As in the
// subnet's code, a field is read only when the answer needs it.
func (b *basket) fits(voucher value) (bool, error) {
	if !voucher.Truth() {
		return false, nil
	}
	budget, err := get(voucher, "budget")
	if err != nil {
		return false, err
	}
	whole, err := atMost(python.Number(b.total), budget)
	if whole || err != nil {
		return whole, err
	}
	applies, err := b.applies(voucher)
	if !applies || err != nil {
		return false, err
	}
	after, err := b.discounted(voucher)
	if err != nil {
		return false, err
	}
	return atMost(python.Number(after), budget)
}

// applies reports whether the voucher covers the basket and its total reaches
// the threshold.
func (b *basket) applies(voucher value) (bool, error) {
	kind, err := get(voucher, "voucher_type")
	if err != nil {
		return false, err
	}
	if !equal(kind, python.String("platform")) && (!equal(kind, python.String("shop")) || len(b.shops) != 1) {
		return false, nil
	}
	threshold, err := get(voucher, "threshold")
	if err != nil {
		return false, err
	}
	return atMost(threshold, python.Number(b.total))
}

func (b *basket) discounted(voucher value) (float64, error) {
	kind, err := get(voucher, "discount_type")
	if err != nil {
		return 0, err
	}
	switch kind.String() {
	case "fixed":
		face, err := amount(voucher, "face_value")
		return b.total - face, err
	case "percentage":
		share, err := amount(voucher, "discount")
		if err != nil {
			return 0, err
		}
		limit, err := amount(voucher, "cap")
		return max(b.total*(1-share), b.total-limit), err
	default:
		return 0, errors.New("unknown discount_type")
	}
}

func amount(voucher value, key string) (float64, error) {
	v, err := get(voucher, key)
	if err != nil {
		return 0, err
	}
	n, err := asNumber(v)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", key, err)
	}
	return n, nil
}
