package python

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// Dumps returns Python's json.dumps(v): with ", " and ": " as separators, in ASCII only, with
// unquoted NaN and Infinity, and with keys in their order.
func Dumps(v Value) string { return string(AppendDumps(nil, v)) }

// AppendDumps appends Python's json.dumps(v) to b.
func AppendDumps(b []byte, v Value) []byte { return spaced.append(b, v) }

// Compact returns v as Flask's jsonify writes it: without blanks, with sorted keys, and in ASCII
// only.
func Compact(v Value) []byte { return compact.append(nil, v) }

// AppendTight appends v to b as JSON without blanks, with keys in their order, and in ASCII
// only.
func AppendTight(b []byte, v Value) []byte { return tight.append(b, v) }

// Canonical returns v as JSON without blanks, with sorted keys, and in UTF-8.
func Canonical(v Value) []byte { return canonical.append(nil, v) }

type form struct {
	words        words
	quoted       func(b []byte, s string) []byte
	comma, colon string
	sorted       bool
}

type words struct{ none, yes, no, nan, inf string }

var (
	inJSON   = words{"null", "true", "false", "NaN", "Infinity"}
	inPython = words{"None", "True", "False", "nan", "inf"}

	spaced    = form{inJSON, appendASCII, ", ", ": ", false}
	compact   = form{inJSON, appendASCII, ",", ":", true}
	tight     = form{inJSON, appendASCII, ",", ":", false}
	canonical = form{inJSON, appendUTF8, ",", ":", true}
	shown     = form{inPython, appendQuoted, ", ", ": ", false}
)

func (f *form) append(b []byte, v Value) []byte {
	switch v.Kind {
	case Bool:
		if v.Bool {
			return append(b, f.words.yes...)
		}
		return append(b, f.words.no...)
	case Int:
		return append(b, v.Text...)
	case Float:
		return f.appendFloat(b, v.Float)
	case Str:
		return f.quoted(b, v.Text)
	case List:
		b = append(b, '[')
		for i, e := range v.List {
			if i > 0 {
				b = append(b, f.comma...)
			}
			b = f.append(b, e)
		}
		return append(b, ']')
	case Dict:
		return f.appendDict(b, v.Dict)
	default:
		return append(b, f.words.none...)
	}
}

func (f *form) appendDict(b []byte, items []Item) []byte {
	if f.sorted {
		items = SortedItems(items)
	}
	b = append(b, '{')
	for i, it := range items {
		if i > 0 {
			b = append(b, f.comma...)
		}
		b = append(f.quoted(b, it.Key), f.colon...)
		b = f.append(b, it.Value)
	}
	return append(b, '}')
}

// SortedItems returns the items sorted by the code points of their keys.
func SortedItems(items []Item) []Item {
	byKey := func(a, b Item) int {
		return strings.Compare(a.Key, b.Key)
	}
	if slices.IsSortedFunc(items, byKey) {
		return items
	}
	items = slices.Clone(items)
	slicesx.SortFunc(items, byKey)
	return items
}

// appendFloat appends Python's repr(x): the shortest digits from which x can be read back, with
// an exponent for magnitudes below 1e-4 and from 1e16 on.
func (f *form) appendFloat(b []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(b, f.words.nan...)
	case math.IsInf(x, 1):
		return append(b, f.words.inf...)
	case math.IsInf(x, -1):
		return append(append(b, '-'), f.words.inf...)
	}
	if a := math.Abs(x); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(b, x, 'e', -1, 64)
	}
	start := len(b)
	b = strconv.AppendFloat(b, x, 'f', -1, 64)
	if slices.Index(b[start:], '.') < 0 {
		b = append(b, ".0"...)
	}
	return b
}

func appendASCII(b []byte, s string) []byte { return appendJSONString(b, s, 0x7f) }
func appendUTF8(b []byte, s string) []byte  { return appendJSONString(b, s, math.MaxUint8+1) }

// appendJSONString appends s to b as a quoted JSON string. It escapes what JSON requires to be
// escaped, and writes characters that have a UTF-8 byte of at least end as \u escapes.
func appendJSONString(b []byte, s string, end int) []byte {
	const hexDigits = "0123456789abcdef"
	unit := func(u rune) {
		b = append(
			b,
			'\\',
			'u',
			hexDigits[u>>12&15],
			hexDigits[u>>8&15],
			hexDigits[u>>4&15],
			hexDigits[u&15],
		)
	}
	b = append(b, '"')
	for len(s) > 0 {
		if n := plainRun(s, end); n > 0 {
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

// plainRun returns the length of the prefix of s whose bytes need no escape in a JSON string.
// Quotes, backslashes, control characters and all bytes of at least end need an escape.
func plainRun(s string, end int) int {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || int(c) >= end || c == '"' || c == '\\' {
			return i
		}
	}
	return len(s)
}
