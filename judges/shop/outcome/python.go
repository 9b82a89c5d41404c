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

// value is a Python value, decoded from JSON.
//
// The subnet's scorer is a Python program that accepts any JSON of a suite and a catalogue. It
// does not skip fields of an unexpected type: Python's operators use them or raise an error,
// which leaves the attempt without a score. The functions of this file do the same. Where Python
// raises an error, they panic by python.Raise.
type value = python.Value

// decode parses JSON to the value that Python would read. Python refuses integers of more than
// 4,300 digits. If the whole of r is such an integer, decode returns the nearest float; a list or
// object that contains one becomes the number 0. No attempt with such a number was ever paid.
func decode(r gjson.Result) value {
	if v, err := python.Loads(r.Raw); err == nil {
		return v
	}
	return python.Number(r.Num)
}

// pick returns an object with only the given keys of the JSON object r, and their values. If a
// key is repeated, its last value counts.
func pick(r gjson.Result, keys ...string) value {
	var picked []python.Item
	for i, member := range members(r, keys...) {
		if member.Exists() {
			picked = append(picked, python.Item{
				Key:   keys[i],
				Value: decode(member),
			})
		}
	}
	return python.DictOf(picked...)
}

// kindName returns the kind of a value in the words of an error, such as "a list".
func kindName(v value) string {
	return [...]string{"null", "a boolean", "a number", "a number", "a string", "a list", "an object"}[v.Kind]
}

// get returns Python's v[key] for a string key. It panics by python.Raise if v is no object or
// does not have the key.
func get(v value, key string) value {
	if v.Kind != python.Dict {
		python.Raise("read %q: %s is no object", key, kindName(v))
	}
	item, ok := v.Get(key)
	if !ok {
		python.Raise("read %q: no such key", key)
	}
	return item
}

// iterate returns the items over which Python's for loop iterates: a list's items, a string's
// characters or an object's keys. It panics by python.Raise for any other value.
func iterate(v value) []value {
	switch v.Kind {
	case python.List:
		return v.List
	case python.Str:
		var chars []value
		for _, r := range v.Text {
			chars = append(chars, python.String(string(r)))
		}
		return chars
	case python.Dict:
		return slicesx.Map(v.Dict, func(item python.Item) value {
			return python.String(item.Key)
		})
	case python.None, python.Bool, python.Int, python.Float:
		python.Raise("cannot walk over %s", kindName(v))
	}
	return nil
}

// iterateKey returns the items over which Python's for loop iterates in v[key]. It returns nil
// if v does not have the key.
func iterateKey(v value, key string) []value {
	if list, ok := v.Get(key); ok {
		return iterate(list)
	}
	return nil
}

// items returns the keys of an object with their values. It panics by python.Raise if v is no
// object.
func items(v value) []python.Item {
	if v.Kind != python.Dict {
		python.Raise("%s has no keys", kindName(v))
	}
	return v.Dict
}

// contains reports whether Python's "item in v" is true. It panics by python.Raise where Python
// raises an error.
func contains(v, item value) bool {
	switch v.Kind {
	case python.Str:
		if item.Kind != python.Str {
			python.Raise("cannot look for %s in a string", kindName(item))
		}
		return strings.Contains(v.Text, item.Text)
	case python.Dict:
		hash(item) // raises for a list or an object
		_, ok := v.Get(item.Text)
		return ok && item.Kind == python.Str
	case python.List:
		return slices.ContainsFunc(v.List, func(element value) bool {
			return equal(element, item)
		})
	case python.None, python.Bool, python.Int, python.Float:
	}
	python.Raise("cannot look into %s", kindName(v))
	return false
}

// equal reports whether Python's a == b is true. The values 1, 1.0 and true are equal.
func equal(a, b value) bool {
	if a.Kind < python.List && b.Kind < python.List {
		return hash(a) == hash(b)
	}
	if a.Kind != b.Kind || len(a.Dict) != len(b.Dict) {
		return false
	}
	if !slices.EqualFunc(a.List, b.List, equal) {
		return false
	}
	for _, item := range a.Dict {
		if v, ok := b.Get(item.Key); !ok || !equal(item.Value, v) {
			return false
		}
	}
	return true
}

// hash returns a text for a null, boolean, number or string. Two such texts are equal if and
// only if Python's == is true for the values. It panics by python.Raise for a list or an object,
// which cannot be in a Python set.
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

// asNumber returns a number as a float64. A boolean is 0 or 1. It panics by python.Raise for any
// other value.
func asNumber(v value) float64 {
	if !v.IsNumber() {
		python.Raise("%s is no number", kindName(v))
	}
	if v.Bool {
		return 1
	}
	f, _ := v.Float64() // infinite if out of range, as in Python
	return f
}

// exactDigits is the maximum number of decimal digits with which every integer is exact as a
// float64.
const exactDigits = 15

// atMost reports whether Python's a <= b is true. Integers of any length are compared exactly,
// as in Python. It panics by python.Raise if a or b is no number.
func atMost(a, b value) bool {
	x := asNumber(a)
	y := asNumber(b)
	if len(a.Text) <= exactDigits && len(b.Text) <= exactDigits {
		return x <= y
	}
	return exact(a, x).Cmp(exact(b, y)) <= 0
}

// exact returns a number as a big.Float. An integer of any length is not rounded; for any other
// value it returns f, which must be the nearest float64 to v.
func exact(v value, f float64) *big.Float {
	if n, ok := new(big.Int).SetString(v.Text, 10); ok {
		return new(big.Float).SetInt(n)
	}
	return new(big.Float).SetFloat64(f)
}
