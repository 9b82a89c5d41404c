package python

import (
	"math"
	"slices"
)

// Finite is v with null in the place of NaN and infinities, which JSON has not.
func Finite(v Value) Value {
	if IsFinite(v) {
		return v
	}
	out := Value{Kind: v.Kind}
	for _, e := range v.List {
		out.List = append(out.List, Finite(e))
	}
	for _, it := range v.Dict {
		out.Dict = append(out.Dict, Item{Key: it.Key, Value: Finite(it.Value)})
	}
	if v.Kind == Float {
		return Value{}
	}
	return out
}

// IsFinite reports whether JSON can hold v.
func IsFinite(v Value) bool {
	return !(v.Kind == Float && (math.IsNaN(v.Float) || math.IsInf(v.Float, 0))) &&
		!slices.ContainsFunc(v.List, func(e Value) bool { return !IsFinite(e) }) &&
		!slices.ContainsFunc(v.Dict, func(it Item) bool { return !IsFinite(it.Value) })
}
