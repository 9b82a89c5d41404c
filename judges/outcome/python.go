package outcome

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/slicesx"
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

func kind(v value) string {
	return [...]string{"null", "a boolean", "a number", "a number", "a string", "a list", "an object"}[v.Kind]
}

// get is Python's v[key] for a string key.
func get(v value, key string) value {
	if v.Kind != python.Dict {
		python.Raise("read %q: %s is no object", key, kind(v))
	}
	item, ok := v.Get(key)
	if !ok {
		python.Raise("read %q: no such key", key)
	}
	return item
}

// iterate is Python's for-loop: over a list's items, a string's characters,
// an object's keys.
func iterate(v value) (all []value) {
	switch v.Kind {
	case python.List:
		return v.List
	case python.Str:
		for _, r := range v.Text {
			all = append(all, python.String(string(r)))
		}
	case python.Dict:
		return slicesx.Map(v.Dict, func(item python.Item) value { return python.String(item.Key) })
	case python.None, python.Bool, python.Int, python.Float:
		python.Raise("cannot walk over %s", kind(v))
	}
	return all
}

// walk is iterate over what v has under a key; nothing where it has no such key.
func walk(v value, key string) []value {
	if list, has := v.Get(key); has {
		return iterate(list)
	}
	return nil
}

// items is Python's v.items().
func items(v value) []python.Item {
	if v.Kind != python.Dict {
		python.Raise("%s has no keys", kind(v))
	}
	return v.Dict
}

// contains is Python's item in v.
func contains(v, item value) bool {
	switch v.Kind {
	case python.Str:
		if item.Kind != python.Str {
			python.Raise("cannot look for %s in a string", kind(item))
		}
		return strings.Contains(v.Text, item.Text)
	case python.Dict:
		hash(item)
		_, found := v.Get(item.Text)
		return found && item.Kind == python.Str
	case python.List:
		return slices.ContainsFunc(v.List, func(other value) bool { return equal(other, item) })
	case python.None, python.Bool, python.Int, python.Float:
	}
	python.Raise("cannot look into %s", kind(v))
	return false
}

// equal is Python's ==: 1, 1.0 and true are one value.
func equal(a, b value) bool {
	if a.Kind >= python.List || b.Kind >= python.List {
		return a.Kind == b.Kind && len(a.Dict) == len(b.Dict) && slices.EqualFunc(a.List, b.List, equal) &&
			!slices.ContainsFunc(a.Dict, func(item python.Item) bool {
				other, there := b.Get(item.Key)
				return !there || !equal(item.Value, other)
			})
	}
	return hash(a) == hash(b)
}

// hash names a scalar so that two names are equal where Python's values are.
func hash(v value) string {
	switch v.Kind {
	case python.None:
		return "null"
	case python.Str:
		return `"` + v.Text
	case python.List, python.Dict:
		python.Raise("a list or object cannot be a member of a set")
	case python.Int:
		return v.Text
	case python.Bool, python.Float:
	}
	f := asNumber(v)
	if !math.IsInf(f, 0) && f == math.Trunc(f) {
		return new(big.Float).SetFloat64(f+0).Text('f', 0)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// asNumber reads numbers and booleans, which Python counts as 0 and 1.
func asNumber(v value) float64 {
	if !v.IsNumber() {
		python.Raise("%s is no number", kind(v))
	}
	if v.Bool {
		return 1
	}
	f, _ := v.Float64() // out of range gives the infinity that Python gives
	return f
}

// exactDigits is the longest decimal integer that always fits a float64.
const exactDigits = 15

// atMost is Python's a <= b for numbers: it compares integers exactly.
func atMost(a, b value) bool {
	x, y := asNumber(a), asNumber(b)
	if len(a.Text) <= exactDigits && len(b.Text) <= exactDigits {
		return x <= y
	}
	return exact(a, x).Cmp(exact(b, y)) <= 0
}

// exact is a number without the rounding of f, its nearest float.
func exact(v value, f float64) *big.Float {
	if whole, ok := new(big.Int).SetString(v.Text, 10); ok {
		return new(big.Float).SetInt(whole)
	}
	return new(big.Float).SetFloat64(f)
}
