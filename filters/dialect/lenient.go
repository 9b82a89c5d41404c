package dialect

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// mends is the set of repairs one JSON value needed.
type mends uint8

const (
	mendQuotes mends = 1 << iota
	mendCommas
	mendLiterals
	mendKeys
	mendControl
	mendClosers
)

// mendWords names the repairs in the order of their bits.
var mendWords = [...]string{RepairQuotes, RepairCommas, RepairLiterals, RepairKeys, RepairControl, RepairClosers}

// value cuts the first JSON value off s and returns it as valid JSON. A value
// that is not quite JSON is rewritten: quotes, commas, Python's words and keys
// without quotes have one meaning. Closing brackets are added only where the
// text ends between values, so nothing is invented.
func value(s string) (json, rest string, m mends, ok bool) {
	s = strings.TrimLeft(s, " \t\r\n")
	if end, deep := span(s); end > 0 && deep <= MaxDepth && gjson.Valid(s[:end]) {
		return s[:end], s[end:], 0, true
	}
	w := mender{in: s}
	w.out.Grow(len(s))
	if !w.value(0) {
		return "", s, 0, false
	}
	if out := w.out.String(); gjson.Valid(out) {
		return out, s[w.at:], w.mends, true
	}
	return "", s, 0, false
}

// span measures the object, list or string that s starts with, and how deep it
// nests, by strict JSON's rules for strings; 0 where it does not end.
func span(s string) (end, deep int) {
	if s == "" || (s[0] != '{' && s[0] != '[' && s[0] != '"') {
		return 0, 0
	}
	open, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
			if c == '\\' {
				i++
			}
			continue
		case c == '{' || c == '[':
			open++
			deep = max(deep, open)
		case c == '}' || c == ']':
			open--
		}
		if open == 0 && !quoted {
			return i + 1, deep
		}
	}
	return 0, 0
}

// mender rewrites one loose value of in, from at, as JSON to out.
type mender struct {
	in    string
	at    int
	out   strings.Builder
	mends mends
}

func (w *mender) blank() {
	for w.at < len(w.in) && strings.IndexByte(" \t\r\n", w.in[w.at]) >= 0 {
		w.at++
	}
}

func (w *mender) peek() byte {
	if w.at < len(w.in) {
		return w.in[w.at]
	}
	return 0
}

func (w *mender) value(level int) bool {
	w.blank()
	if level > MaxDepth {
		return false
	}
	switch c := w.peek(); c {
	case '{':
		return w.members('{', '}', level, w.member)
	case '[':
		return w.members('[', ']', level, w.value)
	case '"', '\'':
		return w.text(c)
	default:
		return w.word()
	}
}

// members reads the items of a list or an object between two brackets.
func (w *mender) members(open, closing byte, level int, item func(int) bool) bool {
	w.at++
	w.out.WriteByte(open)
	for n := 0; ; n++ {
		w.blank()
		if w.peek() == closing {
			w.at++
			break
		}
		if w.at >= len(w.in) {
			w.mends |= mendClosers
			break
		}
		if n > 0 {
			w.out.WriteByte(',')
		}
		if !item(level + 1) {
			return false
		}
		if !w.comma(closing) {
			return false
		}
	}
	w.out.WriteByte(closing)
	return true
}

// comma steps over the separator after an item.
func (w *mender) comma(closing byte) bool {
	w.blank()
	switch w.peek() {
	case ',':
		w.at++
		w.blank()
		if w.peek() == closing {
			w.mends |= mendCommas
		}
		return true
	case closing:
		return true
	default:
		return w.at >= len(w.in)
	}
}

func (w *mender) member(level int) bool {
	w.blank()
	if !w.key() {
		return false
	}
	w.blank()
	if w.peek() != ':' {
		return false
	}
	w.at++
	w.out.WriteByte(':')
	return w.value(level)
}

func (w *mender) key() bool {
	if c := w.peek(); c == '"' || c == '\'' {
		return w.text(c)
	}
	name := w.bare()
	if name == "" {
		return false
	}
	w.mends |= mendKeys
	w.out.WriteByte('"')
	w.out.WriteString(name)
	w.out.WriteByte('"')
	return true
}

// bare cuts a run of letters, digits and the signs of numbers.
func (w *mender) bare() string {
	from := w.at
	for w.at < len(w.in) {
		c := w.in[w.at]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("_+-.", c) >= 0 {
			w.at++
			continue
		}
		break
	}
	return w.in[from:w.at]
}

// word reads a number or one of JSON's and Python's words.
func (w *mender) word() bool {
	word := w.bare()
	switch word {
	case "":
		return false
	case "True", "False", "None":
		w.mends |= mendLiterals
		word = map[string]string{"True": "true", "False": "false", "None": "null"}[word]
	}
	w.out.WriteString(word)
	return gjson.Valid(word)
}

// text reads a string in either kind of quotes. It ends at the quote it began
// with; a text that never ends is not a value.
func (w *mender) text(quote byte) bool {
	if quote == '\'' {
		w.mends |= mendQuotes
	}
	w.at++
	w.out.WriteByte('"')
	for w.at < len(w.in) {
		c := w.in[w.at]
		w.at++
		switch {
		case c == quote:
			w.out.WriteByte('"')
			return true
		case c == '\\':
			w.escape()
		case c == '"':
			w.out.WriteString(`\"`)
		case c < 0x20:
			w.control(c)
		case c < utf8.RuneSelf:
			w.out.WriteByte(c)
		default:
			w.rune()
		}
	}
	return false
}

// rune copies a character beyond ASCII whose first byte was just passed.
func (w *mender) rune() {
	c, n := utf8.DecodeRuneInString(w.in[w.at-1:])
	w.out.WriteRune(c)
	w.at += n - 1
}

func (w *mender) control(c byte) {
	w.mends |= mendControl
	const hex = "0123456789abcdef"
	w.out.WriteString(`\u00`)
	w.out.WriteByte(hex[c>>4])
	w.out.WriteByte(hex[c&15])
}

// escape copies an escape after its backslash. Python's \' is a plain quote.
func (w *mender) escape() {
	c := w.peek()
	w.at++
	switch {
	case c == '\'':
		w.out.WriteByte('\'')
	case c != 0 && strings.IndexByte(`"\/bfnrtu`, c) >= 0:
		w.out.WriteByte('\\')
		w.out.WriteByte(c)
	default:
		w.out.WriteString(`\\`)
		w.at--
	}
}
