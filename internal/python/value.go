// Package python reproduces those forms of Python's values that a model or a search server can
// see: json.loads with its error texts, json.dumps, repr and str, float() and number formatting,
// URL quoting, and the text methods that the tools use. The subnet's tools are written in
// Python, and what a student reads must not depend on the language of the tools.
package python

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/mathext/prng"
)

// Kind is the Python type of a Value.
type Kind uint8

// The types of values in JSON. None is the zero value.
const (
	None Kind = iota
	Bool
	Int
	Float
	Str
	List
	Dict
)

// Value is one Python value of a type that json.loads returns.
type Value struct {
	Kind Kind
	Bool bool
	// Text is the string of a Str, possibly with lone surrogates in their three-byte form, or
	// the decimal digits of an Int.
	Text  string
	Float float64
	List  []Value
	Dict  []Item
}

// Item is one key of a Dict with its value. A Dict has its items in the order of insertion.
type Item struct {
	Key   string
	Value Value
}

// String returns a Value of kind Str.
func String(s string) Value { return Value{Kind: Str, Text: s} }

// Integer returns a Value of kind Int.
func Integer[N int | int64](n N) Value {
	return Value{Kind: Int, Text: strconv.FormatInt(int64(n), 10)}
}

// Number returns a Value of kind Float.
func Number(f float64) Value { return Value{Kind: Float, Float: f} }

// Boolean returns a Value of kind Bool.
func Boolean(b bool) Value { return Value{Kind: Bool, Bool: b} }

// ListOf returns a Value of kind List.
func ListOf(v ...Value) Value { return Value{Kind: List, List: v} }

// DictOf returns a Value of kind Dict. The keys of items must differ.
func DictOf(items ...Item) Value { return Value{Kind: Dict, Dict: items} }

// TypeName returns Python's type(v).__name__.
func (v Value) TypeName() string {
	return [...]string{"NoneType", "bool", "int", "float", "str", "list", "dict"}[v.Kind]
}

// Get returns the value of a key of a Dict. It returns false if there is no such key.
func (v Value) Get(key string) (Value, bool) {
	for _, it := range v.Dict {
		if it.Key == key {
			return it.Value, true
		}
	}
	return Value{}, false
}

// With returns a copy of a Dict in which key has the given value. A new key is added at the end.
func (v Value) With(key string, value Value) Value {
	items := slices.Clone(v.Dict)
	i := slices.IndexFunc(items, func(it Item) bool {
		return it.Key == key
	})
	if i < 0 {
		return DictOf(append(items, Item{key, value})...)
	}
	items[i].Value = value
	return DictOf(items...)
}

// Without returns a copy of a Dict without the key.
func (v Value) Without(key string) Value {
	return DictOf(slices.DeleteFunc(slices.Clone(v.Dict), func(it Item) bool {
		return it.Key == key
	})...)
}

// Truth returns Python's bool(v).
func (v Value) Truth() bool {
	return v.Bool || v.Text != "" && (v.Kind != Int || v.Text != "0") || v.Float != 0 || len(v.List)+len(v.Dict) > 0
}

// IsNumber reports whether v is a Bool, Int or Float, which can be used in arithmetic.
func (v Value) IsNumber() bool { return v.Kind == Bool || v.Kind == Int || v.Kind == Float }

// Float64 returns the value of an Int or a Float as a float64. ok is false for other types.
func (v Value) Float64() (f float64, ok bool) {
	if v.Kind == Int {
		f, err := strconv.ParseFloat(v.Text, 64)
		return f, err == nil
	}
	return v.Float, v.Kind == Float
}

// Finite returns v with null in place of NaN and infinities, which JSON cannot represent.
func Finite(v Value) Value {
	if IsFinite(v) {
		return v
	}
	out := Value{Kind: v.Kind}
	for _, e := range v.List {
		out.List = append(out.List, Finite(e))
	}
	for _, it := range v.Dict {
		out.Dict = append(out.Dict, Item{
			Key:   it.Key,
			Value: Finite(it.Value),
		})
	}
	if v.Kind == Float {
		return Value{}
	}
	return out
}

// IsFinite reports whether v contains no NaN and no infinity, so that JSON can represent it.
func IsFinite(v Value) bool {
	return !(v.Kind == Float && (math.IsNaN(v.Float) || math.IsInf(v.Float, 0))) &&
		!slices.ContainsFunc(v.List, func(e Value) bool {
			return !IsFinite(e)
		}) &&
		!slices.ContainsFunc(v.Dict, func(it Item) bool {
			return !IsFinite(it.Value)
		})
}

// String returns Python's str(v): a string unchanged, any other value as its repr.
func (v Value) String() string {
	if v.Kind == Str {
		return v.Text
	}
	return Repr(v)
}

// Repr returns Python's repr(v).
func Repr(v Value) string { return string(shown.append(nil, v)) }

// isPrintable returns Python's str.isprintable of a rune.
func isPrintable(r rune) bool {
	return r == ' ' || !unicode.In(r, unicode.Z) && unicode.IsGraphic(r) && isKnown(r)
}

// appendQuoted appends Python's repr of a string. It is in single quotes, or in double quotes if
// the string contains single quotes only. Characters that are not printable are escaped.
func appendQuoted(b []byte, s string) []byte {
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	b = append(b, quote)
	for len(s) > 0 {
		r, size := DecodeRune(s)
		switch {
		case r == rune(quote) || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case isPrintable(r):
			b = append(b, s[:size]...)
		case r < 0x100:
			b = fmt.Appendf(b, `\x%02x`, r)
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
		s = s[size:]
	}
	return append(b, quote)
}

// Random generates the numbers of Python's random.Random(seed).
type Random struct{ source *prng.MT19937 }

// NewRandom returns the generator that Python's random.Random(seed) is.
func NewRandom(seed uint64) *Random {
	keys := []uint32{uint32(seed)}
	if seed>>32 > 0 {
		keys = append(keys, uint32(seed>>32))
	}
	r := &Random{prng.NewMT19937()}
	r.source.SeedFromKeys(keys)
	return r
}

// Below returns a random index from 0 to n-1, the one that Python's random.choice selects from n
// items. n must be from 1 to 2^32-1.
func (r *Random) Below(n int64) int64 {
	shift := 32 - bits.Len32(uint32(n))
	for {
		if v := int64(r.source.Uint32() >> shift); v < n {
			return v
		}
	}
}

// Between returns Python's randint(low, high), which may be low or high. Their difference must
// be at most 2^32-2.
func (r *Random) Between(low, high int64) int64 { return low + r.Below(high-low+1) }
