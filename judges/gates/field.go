package gates

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// field is one key of an object with its value, as JSON, Python or YAML writes
// it.
type field struct {
	span
	key string
}

// figure reports whether the field's value is a number.
func (f field) figure(text string) bool { return f.end > f.start && isDigit(text[f.end-1]) }

// fieldForm is a key, in quotes or behind what may stand before one, its colon and
// its value: a string, a list up to its first object, or what ends at a sign.
var fieldForm = regexp.MustCompile(`(?s)(?:"(\w+)"|'(\w+)'|(?:^|[ \t\n,{])(\w+)): *(?:\[[^\]{]*|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[^,}\]\n\["'{ ][^,}\]\n]*)?`)

// fieldsIn finds the fields that text lays out. A value that is an object ends
// before it: its own fields follow.
func fieldsIn(text string) []field {
	var all []field
	for _, m := range fieldForm.FindAllStringSubmatchIndex(text, -1) {
		for k := 2; k < len(m); k += 2 {
			if m[k] < 0 {
				continue
			}
			start := m[0]
			if k == len(m)-2 {
				start = m[k]
			}
			all = append(all, field{span{int32(start), int32(m[1])}, text[m[k]:m[k+1]]})
		}
	}
	return all
}

// lettersOf keeps the letters and digits of a text.
func lettersOf(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || isWordByte(c) {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// blanked is text with line ends in place of stretches, so that nothing joins
// across them.
func blanked(text string, stretches []span) string {
	if len(stretches) == 0 {
		return text
	}
	b := []byte(text)
	for _, at := range stretches {
		for i := at.start; i < at.end; i++ {
			b[i] = '\n'
		}
	}
	return string(b)
}
