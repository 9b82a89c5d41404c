package outcome

import (
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// The subnet's scorer is a Python program over whatever JSON a suite and a
// catalogue hold. A field of an unexpected type is not skipped there: it
// counts as Python's operators say, or raises and leaves the attempt without a
// score. The operators are in python.go.

// value is a decoded JSON value: nil, bool, number, string, []value or object.
type value = any

type object map[string]value

// keys are in byte order, so that of two faults the same one is told in every
// run; no rule depends on the order.
func (o object) keys() []string { return slices.Sorted(maps.Keys(o)) }

// number is a JSON number. whole is set for integers that a float64 cannot
// hold, as far as Python reads them: it compares integers exactly.
type number struct {
	float float64
	whole *big.Int
}

const (
	// exactDigits is the longest decimal integer that always fits a float64.
	exactDigits = 15
	// maxDigits is the longest that Python reads (sys.set_int_max_str_digits): no
	// score was ever paid on a longer one, and to read it takes the square of its
	// length.
	maxDigits = 4300
)

func decode(r gjson.Result) value {
	switch {
	case r.IsArray():
		all := []value{}
		r.ForEach(func(_, item gjson.Result) bool {
			all = append(all, decode(item))
			return true
		})
		return all
	case r.IsObject():
		all := object{}
		r.ForEach(func(key, item gjson.Result) bool {
			all[key.String()] = decode(item)
			return true
		})
		return all
	case r.Type == gjson.String:
		return r.Str
	case r.Type == gjson.Number:
		return decodeNumber(r.Raw)
	case r.IsBool():
		return r.Bool()
	default:
		return nil
	}
}

func decodeNumber(text string) number {
	// Out of range, ParseFloat's answer is the infinity that Python reads too.
	f, _ := strconv.ParseFloat(text, 64)
	n := number{float: f}
	digits := len(strings.TrimPrefix(text, "-"))
	if digits > exactDigits && digits <= maxDigits && !strings.ContainsAny(text, ".eE") {
		n.whole, _ = new(big.Int).SetString(text, 10)
	}
	return n
}

// pick decodes some keys of the JSON object r; of a key's repetitions the
// last counts.
func pick(r gjson.Result, keys ...string) object {
	all := object{}
	r.ForEach(func(key, item gjson.Result) bool {
		for _, wanted := range keys {
			if key.String() == wanted {
				all[wanted] = decode(item)
			}
		}
		return true
	})
	return all
}

func kind(v value) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case number:
		return "a number"
	case string:
		return "a string"
	case []value:
		return "a list"
	default:
		return "an object"
	}
}
