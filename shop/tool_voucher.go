package shop

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/internal/python"
)

// voucher executes the tool calculate_voucher, which applies a discount to a sum of prices if the
// sum reaches the threshold. a has the arguments of the call. The types of numbers and the order of
// errors are those of Python.
func (c *call) voucher(a python.Value) python.Value {
	prices, total, ok := readPrices(argument(a, "product_prices").String())
	if !ok {
		return python.DictOf(item("error", python.String("Invalid product_prices format. Use comma-separated numbers.")))
	}
	discount := python.Number(0)
	applied := total >= comparable(argument(a, "threshold"), ">=")
	if applied {
		discount = voucherDiscount(a, total)
	}
	if !discount.IsNumber() {
		noOperator("-", "float", discount.TypeName())
	}
	after := total - python.Must(toFloat(discount))
	budget := argument(a, "budget")
	isWithinBudget := after <= comparable(budget, "<=")
	return python.DictOf(
		item("prices", python.ListOf(prices...)),
		item("total_before", python.Number(python.Round(total, 2))),
		item("discount_amount", round2(discount)),
		item("total_after", python.Number(python.Round(after, 2))),
		item("within_budget", python.Boolean(isWithinBudget)),
		item("voucher_applied", python.Boolean(applied)),
		item("budget", budget),
	)
}

// readPrices parses a comma-separated list of prices and adds them from left to right. ok is
// false if a price is not a number.
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

// voucherDiscount returns the discount of a voucher, whose arguments are in a, on the sum total. A
// fixed discount is returned unchanged, so that an integer remains an integer. A percentage is
// limited by the cap if that is more than 0. Any other type of voucher has the discount 0.
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
	limit := argumentOr(a, "cap", python.Integer(0))
	if !limit.IsNumber() {
		python.Raise("'>' not supported between instances of '%s' and 'int'", limit.TypeName())
	}
	if f, _ := toFloat(limit); f > 0 && f < discount {
		return limit
	}
	return python.Number(discount)
}

// comparable returns the float that Python uses when it compares the number v with a float. It
// raises Python's error, which names the operator, if v is not a number.
func comparable(v python.Value, operator string) float64 {
	if !v.IsNumber() {
		python.Raise("'%s' not supported between instances of 'float' and '%s'", operator, v.TypeName())
	}
	f, err := toFloat(v)
	if err != nil { // an integer larger than any float compares below infinity
		f = math.Copysign(math.MaxFloat64, f)
	}
	return f
}

// toFloat returns Python's float(v) for a number v. It returns infinity and an error for an
// integer larger than any float.
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

// round2 returns Python's round(v, 2). The result is an integer if v is an integer or a bool.
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
