package outcome

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// get is Python's v[key] for a string key.
func get(v value, key string) (value, error) {
	o, ok := v.(object)
	if !ok {
		return nil, fmt.Errorf("read %q: %s is no object", key, kind(v))
	}
	item, ok := o[key]
	if !ok {
		return nil, fmt.Errorf("read %q: no such key", key)
	}
	return item, nil
}

// iterate is Python's for-loop: over a list's items, a string's characters,
// an object's keys.
func iterate(v value) ([]value, error) {
	switch v := v.(type) {
	case []value:
		return v, nil
	case string:
		all := make([]value, 0, len(v))
		for _, r := range v {
			all = append(all, string(r))
		}
		return all, nil
	case object:
		all := make([]value, 0, len(v))
		for _, key := range v.keys() {
			all = append(all, key)
		}
		return all, nil
	default:
		return nil, fmt.Errorf("cannot walk over %s", kind(v))
	}
}

// length is Python's len.
func length(v value) (int, error) {
	if s, ok := v.(string); ok {
		return utf8.RuneCountInString(s), nil
	}
	all, err := iterate(v)
	return len(all), err
}

// items is Python's v.items().
func items(v value) (object, error) {
	o, ok := v.(object)
	if !ok {
		return nil, fmt.Errorf("%s has no keys", kind(v))
	}
	return o, nil
}

// truthy is Python's bool(v).
func truthy(v value) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case number:
		return v.float != 0
	default:
		n, err := length(v)
		return err == nil && n > 0
	}
}

// contains is Python's item in v.
func contains(v, item value) (bool, error) {
	switch v := v.(type) {
	case string:
		s, ok := item.(string)
		if !ok {
			return false, fmt.Errorf("cannot look for %s in a string", kind(item))
		}
		return strings.Contains(v, s), nil
	case object:
		if _, err := hash(item); err != nil {
			return false, err
		}
		s, ok := item.(string)
		_, found := v[s]
		return ok && found, nil
	case []value:
		for _, other := range v {
			if equal(other, item) {
				return true, nil
			}
		}
		return false, nil
	default:
		return false, fmt.Errorf("cannot look into %s", kind(v))
	}
}

// equal is Python's ==: 1, 1.0 and true are one value.
func equal(a, b value) bool {
	if sa, ok := a.(string); ok {
		sb, same := b.(string)
		return same && sa == sb
	}
	if la, ok := a.([]value); ok {
		lb, same := b.([]value)
		same = same && len(la) == len(lb)
		for i := 0; same && i < len(la); i++ {
			same = equal(la[i], lb[i])
		}
		return same
	}
	if oa, ok := a.(object); ok {
		ob, same := b.(object)
		same = same && len(oa) == len(ob)
		for key, item := range oa {
			other, there := ob[key]
			same = same && there && equal(item, other)
		}
		return same
	}
	ha, errA := hash(a)
	hb, errB := hash(b)
	return errA == nil && errB == nil && ha == hb
}

var errUnhashable = errors.New("a list or object cannot be a member of a set")

// hash names a scalar so that two names are equal where Python's values are.
func hash(v value) (string, error) {
	switch v := v.(type) {
	case nil:
		return "null", nil
	case bool:
		n, _ := asNumber(v)
		return hash(n)
	case string:
		return `"` + v, nil
	case number:
		if v.whole != nil {
			return v.whole.String(), nil
		}
		if !math.IsInf(v.float, 0) && v.float == math.Trunc(v.float) {
			return new(big.Float).SetFloat64(v.float+0).Text('f', 0), nil
		}
		return strconv.FormatFloat(v.float, 'g', -1, 64), nil
	default:
		return "", errUnhashable
	}
}

// asNumber reads numbers and booleans, which Python counts as 0 and 1.
func asNumber(v value) (number, error) {
	switch v := v.(type) {
	case number:
		return v, nil
	case bool:
		if v {
			return number{float: 1}, nil
		}
		return number{}, nil
	default:
		return number{}, fmt.Errorf("%s is no number", kind(v))
	}
}

// atMost is Python's a <= b for numbers.
func atMost(a, b value) (bool, error) {
	x, err := asNumber(a)
	if err != nil {
		return false, err
	}
	y, err := asNumber(b)
	if err != nil {
		return false, err
	}
	if x.whole == nil && y.whole == nil {
		return x.float <= y.float, nil
	}
	return x.big().Cmp(y.big()) <= 0, nil
}

func (n number) big() *big.Float {
	if n.whole != nil {
		return new(big.Float).SetInt(n.whole)
	}
	return new(big.Float).SetFloat64(n.float)
}
