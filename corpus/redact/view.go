package redact

import (
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a text without its JSON escapes, whatever their depth: expressions
// see the same in a text, in a JSON string that holds it and in a JSON string
// in that. A secret cannot hide behind an escape, and no finding begins or ends
// within one.
type view struct {
	text string
	// marks are the places in text where it stops to run along with the source,
	// in order.
	marks []mark
}

// mark says that from a byte of the view on, the source goes on at from.
type mark struct{ at, from int }

// newView decodes every escape of a text.
func newView(source string) *view {
	next := strings.IndexByte(source, '\\')
	if next < 0 {
		return &view{text: source}
	}
	v := &view{}
	var b strings.Builder
	b.Grow(len(source))
	at := 0
	for next >= 0 {
		b.WriteString(source[at : at+next])
		r, end := unescape(source, at+next)
		if r >= 0 {
			// one escape may become several bytes: none of them but the first
			// begins anything
			v.marks = append(v.marks, mark{b.Len(), at + next})
			b.WriteRune(r)
		}
		v.marks = append(v.marks, mark{b.Len(), end})
		at, next = end, strings.IndexByte(source[end:], '\\')
	}
	b.WriteString(source[at:])
	v.text = b.String()
	return v
}

// unescape reads the backslashes at a place with what they escape. It gives
// where it ends, and -1 for backslashes that escape nothing: they are left out.
func unescape(s string, at int) (rune, int) {
	end := at
	for end < len(s) && s[end] == '\\' {
		end++
	}
	if end == len(s) {
		return -1, end
	}
	switch s[end] {
	case 'n':
		return '\n', end + 1
	case 'r':
		return '\r', end + 1
	case 't':
		return '\t', end + 1
	case 'b':
		return '\b', end + 1
	case 'f':
		return '\f', end + 1
	case '"', '/':
		return rune(s[end]), end + 1
	case 'u':
		return unicodeEscape(s, at, end)
	default:
		return -1, end
	}
}

// unicodeEscape reads the escape whose u is at the given place, and with it the
// second half of a surrogate pair, escaped as deep as the first.
func unicodeEscape(s string, start, u int) (rune, int) {
	r, ok := hex4(s, u+1)
	if !ok {
		return -1, u
	}
	end, slashes := u+5, s[start:u+1]
	if !utf16.IsSurrogate(r) {
		return r, end
	}
	if low, paired := hex4(s, end+len(slashes)); paired && strings.HasPrefix(s[end:], slashes) {
		if joined := utf16.DecodeRune(r, low); joined != utf8.RuneError {
			return joined, end + len(slashes) + 4
		}
	}
	return utf8.RuneError, end
}

func hex4(s string, at int) (rune, bool) {
	if at+4 > len(s) {
		return 0, false
	}
	r := rune(0)
	for _, c := range []byte(s[at : at+4]) {
		switch {
		case digit(c):
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// source is a span of the view in the text that it is of.
func (v *view) source(s span) span { return span{v.from(s.start), v.from(s.end)} }

func (v *view) from(at int) int {
	i := sort.Search(len(v.marks), func(i int) bool { return v.marks[i].at > at })
	if i == 0 {
		return at
	}
	m := v.marks[i-1]
	return m.from + at - m.at
}
