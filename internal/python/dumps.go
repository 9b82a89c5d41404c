package python

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// Dumps is json.dumps(v): ", " and ": " between, ASCII only, NaN and Infinity
// bare, keys in their order.
func Dumps(v Value) string { return string(AppendDumps(nil, v)) }

// AppendDumps appends json.dumps(v) to b.
func AppendDumps(b []byte, v Value) []byte { return spaced.append(b, v) }

// AppendCompact appends v as Flask's jsonify writes it: no blanks, keys sorted,
// ASCII only.
func AppendCompact(b []byte, v Value) []byte { return compact.append(b, v) }

// AppendTight appends v without blanks, keys in their order, ASCII only.
func AppendTight(b []byte, v Value) []byte { return tight.append(b, v) }

type layout struct {
	comma, colon string
	sorted       bool
}

var (
	spaced  = layout{", ", ": ", false}
	compact = layout{",", ":", true}
	tight   = layout{",", ":", false}
)

func (l layout) append(b []byte, v Value) []byte {
	switch v.Kind {
	case Bool:
		return strconv.AppendBool(b, v.Bool)
	case Int:
		return append(b, v.Text...)
	case Float:
		return appendJSONFloat(b, v.Float)
	case Str:
		return appendJSONString(b, v.Text)
	case List:
		b = append(b, '[')
		for i, e := range v.List {
			if i > 0 {
				b = append(b, l.comma...)
			}
			b = l.append(b, e)
		}
		return append(b, ']')
	case Dict:
		return l.appendDict(b, v.Dict)
	default:
		return append(b, "null"...)
	}
}

func (l layout) appendDict(b []byte, items []Item) []byte {
	if l.sorted {
		items = SortedItems(items)
	}
	b = append(b, '{')
	for i, it := range items {
		if i > 0 {
			b = append(b, l.comma...)
		}
		b = append(appendJSONString(b, it.Key), l.colon...)
		b = l.append(b, it.Value)
	}
	return append(b, '}')
}

// SortedItems gives items by key in the order of code points.
func SortedItems(items []Item) []Item {
	byKey := func(a, b Item) int { return strings.Compare(a.Key, b.Key) }
	if slices.IsSortedFunc(items, byKey) {
		return items
	}
	items = slices.Clone(items)
	slices.SortFunc(items, byKey)
	return items
}

func appendJSONFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	return appendFloat(b, f)
}

// appendFloat appends repr(f): the shortest digits that read back the same,
// with an exponent below 1e-4 and from 1e16.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "nan"...)
	case math.IsInf(f, 1):
		return append(b, "inf"...)
	case math.IsInf(f, -1):
		return append(b, "-inf"...)
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	at := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, 64)
	if slices.Index(b[at:], '.') < 0 {
		b = append(b, ".0"...)
	}
	return b
}

func appendJSONString(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	unit := func(u rune) {
		b = append(b, '\\', 'u', hexDigits[u>>12&15], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
	}
	b = append(b, '"')
	for len(s) > 0 {
		if n := plainRun(s); n > 0 {
			b = append(b, s[:n]...)
			s = s[n:]
			continue
		}
		r, size := DecodeRune(s)
		s = s[size:]
		if i := strings.IndexRune("\"\\\b\f\n\r\t", r); i >= 0 && r != utf8.RuneError {
			b = append(b, '\\', `"\bfnrt`[i])
		} else if r >= 0x10000 {
			unit(0xd800 + (r-0x10000)>>10)
			unit(0xdc00 + (r-0x10000)&0x3ff)
		} else {
			unit(r)
		}
	}
	return append(b, '"')
}

// plainRun is how many bytes of s stand for themselves in a JSON string.
func plainRun(s string) int {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return i
		}
	}
	return len(s)
}
