// Package lenient reads JSON as models write it: almost valid JSON is repaired where it can have
// only one meaning.
package lenient

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Rules select the allowed repairs. Raw control characters, unknown escapes and superfluous
// commas are always repaired.
type Rules struct {
	// Depth is the maximum depth of nested values.
	Depth int
	// Python allows quotes, literals and keys as in Python and JavaScript: 'text', True, {key:
	// 1}.
	Python bool
	// Close adds the closing brackets that are missing at the end of the text, and accepts a
	// number at the end that may be truncated. If Close is false, an incomplete item is dropped,
	// and all values that contain it are incomplete.
	Close bool
}

// Repairs is the set of repairs that a value needed.
type Repairs uint8

// The kinds of repairs.
const (
	Quotes Repairs = 1 << iota
	Commas
	Literals
	Keys
	Control
	Closers
)

// Mended is one value as valid JSON.
type Mended struct {
	// JSON is the value. If the value is not complete, JSON contains only its complete part.
	JSON string
	// End is the number of bytes of the text that were read.
	End int
	// Complete is false if the text ends within the value or the value is broken.
	Complete bool
	Mends    Repairs
}

// Repair reads the value at the start of text.
func (r Rules) Repair(text string) Mended {
	m := mender{rules: r, src: text}
	complete := m.value(0)
	return Mended{
		JSON:     string(m.out),
		End:      m.pos,
		Complete: complete,
		Mends:    m.mends,
	}
}

// mender rewrites one value of src, starting at pos, as JSON and appends it to out. Its methods
// that read a value, or a part of one, report whether it was complete.
type mender struct {
	rules Rules
	src   string
	pos   int
	out   []byte
	mends Repairs
}

func (m *mender) value(depth int) bool {
	m.space()
	switch c := m.peek(); {
	case depth > m.rules.Depth:
		return false
	case c == '{':
		return m.list('}', depth, m.member)
	case c == '[':
		return m.list(']', depth, m.value)
	case m.isQuote(c):
		return m.text(c)
	default:
		return m.word()
	}
}

// list writes an object or a list, up to the bracket closing, which it adds if it is missing. item
// reads one of its items, at the given nesting depth, and reports whether the item was complete.
// list returns false if the text breaks off or a comma is missing; it drops an item that was
// incomplete or that text other than a string follows directly.
func (m *mender) list(
	closing byte,
	depth int,
	item func(int) bool,
) bool {
	m.out = append(m.out, m.src[m.pos])
	m.pos++
	for first := true; ; first = false {
		m.commas(closing, first)
		switch {
		case m.peek() == closing:
			m.pos++
			m.out = append(m.out, closing)
			return true
		case m.closesAtEnd(closing):
			return true
		}
		before := len(m.out)
		if !first {
			m.out = append(m.out, ',')
		}
		if !item(depth + 1) {
			m.out = append(m.out[:before], closing)
			return false
		}
		if m.space(); m.peek() == ',' || m.peek() == closing {
			continue
		}
		if m.closesAtEnd(closing) {
			return true
		}
		// The text ended after a complete item, or a comma is missing. Any other text, such as
		// "0.7 or 0.5", makes the item itself doubtful.
		if !m.ended() && m.peek() != '"' {
			m.out = m.out[:before]
		}
		m.out = append(m.out, closing)
		return false
	}
}

// closesAtEnd appends the closing bracket if the text has ended and the rules allow that a missing
// bracket is added. It reports whether it did so.
func (m *mender) closesAtEnd(closing byte) bool {
	if !m.rules.Close || !m.ended() {
		return false
	}
	m.mends |= Closers
	m.out = append(m.out, closing)
	return true
}

func (m *mender) commas(closing byte, first bool) {
	n := 0
	for m.space(); m.peek() == ','; m.space() {
		m.pos++
		n++
	}
	superfluous := first || m.peek() == closing
	if n > 1 || n == 1 && superfluous {
		m.mends |= Commas
	}
}

func (m *mender) member(depth int) bool {
	m.space()
	if !m.key() {
		return false
	}
	if m.space(); m.peek() != ':' {
		return false
	}
	m.pos++
	m.out = append(m.out, ':')
	return m.value(depth)
}

func (m *mender) key() bool {
	if c := m.peek(); m.isQuote(c) {
		return m.text(c)
	}
	name := m.bare()
	if name == "" || !m.rules.Python {
		return false
	}
	m.mends |= Keys
	m.out = append(append(append(m.out, '"'), name...), '"')
	return true
}

// word reads a number or a literal such as true and reports whether it is valid and complete. At
// the end of the text it is incomplete, since digits may be missing, unless the rules set Close.
func (m *mender) word() bool {
	word := m.bare()
	if literal := literals[word]; literal != "" && m.rules.Python {
		m.mends |= Literals
		word = literal
	}
	cut := m.ended() && !m.rules.Close
	if word == "" || cut || !gjson.Valid(word) {
		return false
	}
	m.out = append(m.out, word...)
	return true
}

var literals = map[string]string{"True": "true", "False": "false", "None": "null"}

func (m *mender) bare() string {
	start := m.pos
	for !m.ended() && isBare(m.src[m.pos]) {
		m.pos++
	}
	return m.src[start:m.pos]
}

func isBare(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("_+-.", c) >= 0
}

func (m *mender) isQuote(c byte) bool { return c == '"' || c == '\'' && m.rules.Python }

// text reads a string that begins with quote, up to the closing quote, and writes it as a JSON
// string. It returns false if the text ends before the closing quote.
func (m *mender) text(quote byte) bool {
	if quote == '\'' {
		m.mends |= Quotes
	}
	m.out = append(m.out, '"')
	for m.pos++; !m.ended(); {
		c := m.src[m.pos]
		switch {
		case c == quote:
			m.pos++
			m.out = append(m.out, '"')
			return true
		case c == '\\':
			m.escape()
		case c == '"':
			m.pos++
			m.out = append(m.out, `\"`...)
		case c < 0x20:
			const hex = "0123456789abcdef"
			m.mends |= Control
			m.pos++
			m.out = append(
				m.out,
				'\\',
				'u',
				'0',
				'0',
				hex[c>>4],
				hex[c&15],
			)
		default:
			r, n := utf8.DecodeRuneInString(m.src[m.pos:])
			m.pos += n
			m.out = utf8.AppendRune(m.out, r)
		}
	}
	return false
}

// escape copies the escape sequence at pos. A backslash that does not start a known escape
// becomes an escaped backslash.
func (m *mender) escape() {
	m.pos++
	switch c := m.peek(); {
	case c == 'u' && len(m.src) >= m.pos+5 && isHex(m.src[m.pos+1:m.pos+5]):
		m.out = append(m.out, m.src[m.pos-1:m.pos+5]...)
		m.pos += 5
	case c == '\'' && m.rules.Python:
		m.out = append(m.out, '\'')
		m.pos++
	case slices.Contains([]byte(`"\/bfnrt`), c):
		m.out = append(m.out, '\\', c)
		m.pos++
	default:
		m.out = append(m.out, `\\`...)
	}
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

func (m *mender) space() {
	for !m.ended() && strings.IndexByte(" \t\r\n", m.src[m.pos]) >= 0 {
		m.pos++
	}
}

func (m *mender) ended() bool { return m.pos >= len(m.src) }

func (m *mender) peek() byte {
	if m.ended() {
		return 0
	}
	return m.src[m.pos]
}
