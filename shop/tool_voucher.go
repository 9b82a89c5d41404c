package shop

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
)

// voucher computes what a discount leaves of a sum of prices, with the types
// and the order of errors that Python's arithmetic has.
func (c *call) voucher(a python.Value) python.Value {
	prices, total, ok := readPrices(argument(a, "product_prices").String())
	if !ok {
		return python.DictOf(item("error", python.String("Invalid product_prices format. Use comma-separated numbers.")))
	}
	discount, applied := python.Number(0), total >= comparable(argument(a, "threshold"), ">=")
	if applied {
		discount = voucherDiscount(a, total)
	}
	if !discount.IsNumber() {
		noOperator("-", "float", discount.TypeName())
	}
	after := total - python.Must(toFloat(discount))
	budget := argument(a, "budget")
	within := after <= comparable(budget, "<=")
	return python.DictOf(
		item("prices", python.ListOf(prices...)),
		item("total_before", python.Number(python.Round(total, 2))), item("discount_amount", round2(discount)),
		item("total_after", python.Number(python.Round(after, 2))), item("within_budget", python.Boolean(within)),
		item("voucher_applied", python.Boolean(applied)), item("budget", budget),
	)
}

// readPrices reads a comma list; the sum runs from left to right.
func readPrices(text string) (prices []python.Value, total float64, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		f, ok := python.ParseFloat(part)
		if !ok {
			return nil, 0, false
		}
		prices = append(prices, python.Number(f))
		total += f
	}
	return prices, total, true
}

// voucherDiscount is the discount of a voucher that applies. A fixed one is
// passed through as it is, an integer staying one; a kind that is unknown
// gives nothing.
func voucherDiscount(a python.Value, total float64) python.Value {
	value := argument(a, "discount_value")
	switch kind := argument(a, "voucher_type"); {
	case isText(kind, "fixed"):
		return value
	case !isText(kind, "percentage"):
		return python.Number(0)
	case !value.IsNumber():
		noOperator("/", value.TypeName(), "float")
	}
	discount := total * (python.Must(toFloat(value)) / 100)
	limit := otherwise(a, "cap", python.Integer(0))
	if !limit.IsNumber() {
		python.Raise("'>' not supported between instances of '%s' and 'int'", limit.TypeName())
	}
	if f, _ := toFloat(limit); f > 0 && f < discount {
		return limit
	}
	return python.Number(discount)
}

// comparable is the number to compare a float with.
func comparable(v python.Value, operator string) float64 {
	if !v.IsNumber() {
		python.Raise("'%s' not supported between instances of 'float' and '%s'", operator, v.TypeName())
	}
	f, err := toFloat(v)
	if err != nil { // beyond every float, and yet below infinity
		f = math.Copysign(math.MaxFloat64, f)
	}
	return f
}

// toFloat is float(v) of a number. The error is for an integer that no float
// can hold; the value is then infinite.
func toFloat(v python.Value) (float64, error) {
	switch v.Kind {
	case python.Bool:
		if v.Bool {
			return 1, nil
		}
		return 0, nil
	case python.Int:
		f, err := strconv.ParseFloat(v.Text, 64)
		if err != nil {
			return f, errors.New("int too large to convert to float")
		}
		return f, nil
	default:
		return v.Float, nil
	}
}

// round2 is round(v, 2), which leaves an integer one and makes a bool one.
func round2(v python.Value) python.Value {
	switch v.Kind {
	case python.Float:
		return python.Number(python.Round(v.Float, 2))
	case python.Bool:
		if v.Bool {
			return python.Integer(1)
		}
		return python.Integer(0)
	default:
		return v
	}
}
