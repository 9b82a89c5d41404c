package reply

import (
	"fmt"
	"strings"
)

// maxDepth bounds nesting; a judge's answer needs three levels.
const maxDepth = 32

// mended is one JSON value in strict form.
type mended struct {
	strict string
	// end is how many bytes of the source it took.
	end int
	// complete is false where the text was cut off or broken inside the value;
	// strict then holds what was whole before that.
	complete bool
}

// mend reads one value at the start of text, forgiving what models get wrong
// inside strings and between values: raw control characters, unknown escapes,
// commas before a closing bracket.
func mend(text string) mended {
	m := &mender{src: text}
	complete := m.value(0)
	return mended{strict: m.out.String(), end: m.pos, complete: complete}
}

type mender struct {
	src string
	pos int
	out strings.Builder
}

// value writes one value and reports whether it was whole.
func (m *mender) value(depth int) bool {
	m.space()
	switch c := m.peek(); {
	case depth > maxDepth:
		return false
	case c == '{':
		return m.list('}', depth, m.pair)
	case c == '[':
		return m.list(']', depth, m.value)
	case c == '"':
		return m.text()
	default:
		return m.word()
	}
}

// list writes an object or an array. Of a value that is not whole, only what
// can be closed again is kept.
func (m *mender) list(closing byte, depth int, item func(int) bool) bool {
	m.out.WriteByte(m.src[m.pos])
	m.pos++
	for first := true; ; first = false {
		if m.skipCommas(); m.peek() == closing {
			m.pos++
			m.out.WriteByte(closing)
			return true
		}
		before := m.out.Len()
		if !first {
			m.out.WriteByte(',')
		}
		if whole := item(depth + 1); !whole {
			m.cutTo(before)
			m.out.WriteByte(closing)
			return false
		}
		if m.space(); m.peek() != ',' && m.peek() != closing {
			// The text ended behind a whole item, or a comma was forgotten.
			// Anything else ("0.7 or 0.5") makes the item itself doubtful.
			if m.pos < len(m.src) && m.peek() != '"' {
				m.cutTo(before)
			}
			m.out.WriteByte(closing)
			return false
		}
	}
}

func (m *mender) pair(depth int) bool {
	m.space()
	if m.peek() != '"' || !m.text() {
		return false
	}
	m.space()
	if m.peek() != ':' {
		return false
	}
	m.pos++
	m.out.WriteByte(':')
	return m.value(depth)
}

// cutTo drops everything written since the mark.
func (m *mender) cutTo(mark int) {
	kept := m.out.String()[:mark]
	m.out.Reset()
	m.out.WriteString(kept)
}

func (m *mender) text() bool {
	m.out.WriteByte('"')
	for m.pos++; m.pos < len(m.src); m.pos++ {
		switch c := m.src[m.pos]; {
		case c == '"':
			m.pos++
			m.out.WriteByte('"')
			return true
		case c == '\\':
			m.escape()
		case c < 0x20:
			fmt.Fprintf(&m.out, `\u%04x`, c)
		default:
			m.out.WriteByte(c)
		}
	}
	return false
}

// escape copies one escape; a character that needs none stands for itself.
func (m *mender) escape() {
	m.pos++
	switch c := m.peek(); {
	case c == 'u' && len(m.src) >= m.pos+5 && isHex(m.src[m.pos+1:m.pos+5]):
		m.out.WriteString(m.src[m.pos-1 : m.pos+5])
		m.pos += 4
	case c != 0 && strings.IndexByte(`"\/bfnrt`, c) >= 0:
		m.out.WriteByte('\\')
		m.out.WriteByte(c)
	default:
		m.out.WriteString(`\\`)
		m.pos--
	}
}

// word writes a number or a literal. One that the end of the text cuts is not
// whole: digits may be missing.
func (m *mender) word() bool {
	start := m.pos
	for m.pos < len(m.src) && isWord(m.src[m.pos]) {
		m.pos++
	}
	word := m.src[start:m.pos]
	if word == "" || m.pos == len(m.src) || !isLiteral(word) {
		return false
	}
	m.out.WriteString(word)
	return true
}

func (m *mender) space() {
	for m.pos < len(m.src) && strings.IndexByte(" \t\r\n", m.src[m.pos]) >= 0 {
		m.pos++
	}
}

func (m *mender) skipCommas() {
	for m.space(); m.peek() == ','; m.space() {
		m.pos++
	}
}

// peek is the byte at hand, 0 at the end.
func (m *mender) peek() byte {
	if m.pos >= len(m.src) {
		return 0
	}
	return m.src[m.pos]
}
