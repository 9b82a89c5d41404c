package outcome

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/python"
)

// The subnet's scorer is a Python program over whatever JSON a suite and a
// catalogue hold. A field of an unexpected type is not skipped there: it
// counts as Python's operators say, or raises and leaves the attempt without a
// score.

type value = python.Value

// decode is one value as Python reads it. An integer that Python refuses to read,
// of more than 4,300 digits, is the nearest float: no score was ever paid on one.
func decode(r gjson.Result) value {
	if v, err := python.Loads(r.Raw); err == nil {
		return v
	}
	return python.Number(r.Num)
}

// pick decodes some keys of the JSON object r; of a key's repetitions the
// last counts.
func pick(r gjson.Result, keys ...string) value {
	var all []python.Item
	for i, found := range members(r, keys...) {
		if found.Exists() {
			all = append(all, python.Item{Key: keys[i], Value: decode(found)})
		}
	}
	return python.DictOf(all...)
}

// kind names a value's type in errors.
func kind(v value) string {
	return map[python.Kind]string{python.None: "null", python.Bool: "a boolean", python.Int: "a number", python.Float: "a number",
		python.Str: "a string", python.List: "a list", python.Dict: "an object"}[v.Kind]
}

// get is Python's v[key] for a string key.
func get(v value, key string) (value, error) {
	if v.Kind != python.Dict {
		return value{}, fmt.Errorf("read %q: %s is no object", key, kind(v))
	}
	item, ok := v.Get(key)
	if !ok {
		return value{}, fmt.Errorf("read %q: no such key", key)
	}
	return item, nil
}

// iterate is Python's for-loop: over a list's items, a string's characters,
// an object's keys.
func iterate(v value) (all []value, err error) {
	switch v.Kind {
	case python.List:
		return v.List, nil
	case python.Str:
		for _, r := range v.Text {
			all = append(all, python.String(string(r)))
		}
	case python.Dict:
		for _, item := range v.Dict {
			all = append(all, python.String(item.Key))
		}
	case python.None, python.Bool, python.Int, python.Float:
		return nil, fmt.Errorf("cannot walk over %s", kind(v))
	}
	return all, nil
}

// length is Python's len.
func length(v value) (int, error) {
	if v.Kind == python.Str {
		return utf8.RuneCountInString(v.Text), nil
	}
	all, err := iterate(v)
	return len(all), err
}

// items is Python's v.items().
func items(v value) ([]python.Item, error) {
	if v.Kind != python.Dict {
		return nil, fmt.Errorf("%s has no keys", kind(v))
	}
	return v.Dict, nil
}

// contains is Python's item in v.
func contains(v, item value) (bool, error) {
	switch v.Kind {
	case python.Str:
		if item.Kind != python.Str {
			return false, fmt.Errorf("cannot look for %s in a string", kind(item))
		}
		return strings.Contains(v.Text, item.Text), nil
	case python.Dict:
		_, found := v.Get(item.Text)
		_, err := hash(item)
		return found && item.Kind == python.Str, err
	case python.List:
		return slices.ContainsFunc(v.List, func(other value) bool { return equal(other, item) }), nil
	case python.None, python.Bool, python.Int, python.Float:
	}
	return false, fmt.Errorf("cannot look into %s", kind(v))
}

// equal is Python's ==: 1, 1.0 and true are one value.
func equal(a, b value) bool {
	if a.Kind == python.List || a.Kind == python.Dict {
		return a.Kind == b.Kind && len(a.Dict) == len(b.Dict) && slices.EqualFunc(a.List, b.List, equal) &&
			!slices.ContainsFunc(a.Dict, func(item python.Item) bool {
				other, there := b.Get(item.Key)
				return !there || !equal(item.Value, other)
			})
	}
	ha, errA := hash(a)
	hb, errB := hash(b)
	return errA == nil && errB == nil && ha == hb
}

var errUnhashable = errors.New("a list or object cannot be a member of a set")

// hash names a scalar so that two names are equal where Python's values are.
func hash(v value) (string, error) {
	switch v.Kind {
	case python.None:
		return "null", nil
	case python.Str:
		return `"` + v.Text, nil
	case python.List, python.Dict:
		return "", errUnhashable
	case python.Int:
		return v.Text, nil
	case python.Bool, python.Float:
	}
	f, _ := asNumber(v)
	if !math.IsInf(f, 0) && f == math.Trunc(f) {
		return new(big.Float).SetFloat64(f+0).Text('f', 0), nil
	}
	return strconv.FormatFloat(f, 'g', -1, 64), nil
}

// asNumber reads numbers and booleans, which Python counts as 0 and 1.
func asNumber(v value) (float64, error) {
	switch f, _ := v.Float64(); { // out of range gives the infinity that Python gives
	case !v.IsNumber():
		return 0, fmt.Errorf("%s is no number", kind(v))
	case v.Bool:
		return 1, nil
	default:
		return f, nil
	}
}

// exactDigits is the longest decimal integer that always fits a float64.
const exactDigits = 15

// atMost is Python's a <= b for numbers: it compares integers exactly.
func atMost(a, b value) (bool, error) {
	x, err := asNumber(a)
	if err != nil {
		return false, err
	}
	y, err := asNumber(b)
	if err != nil || len(a.Text) <= exactDigits && len(b.Text) <= exactDigits {
		return x <= y, err
	}
	return exact(a, x).Cmp(exact(b, y)) <= 0, nil
}

// exact is a number without the rounding of f, its nearest float.
func exact(v value, f float64) *big.Float {
	if whole, ok := new(big.Int).SetString(v.Text, 10); ok {
		return new(big.Float).SetInt(whole)
	}
	return new(big.Float).SetFloat64(f)
}
