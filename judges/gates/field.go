package gates

import (
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

// fieldsIn finds the fields that text lays out. A value that is an object ends
// before it: its own fields follow.
func fieldsIn(text string) []field {
	var all []field
	for i := 0; i < len(text); i++ {
		key, colon := keyAt(text, i)
		if key == "" {
			continue
		}
		last := valueEnd(text, colon+1)
		all = append(all, field{span{int32(i), int32(last)}, key})
		i = last - 1
	}
	return all
}

// keyAt reads a key that begins at text[i], in quotes or without, up to its
// colon; empty where there is none.
func keyAt(text string, i int) (key string, colon int) {
	start := i
	quoted := text[i] == '"' || text[i] == '\''
	if quoted {
		start++
	} else if !isWordByte(text[i]) || i > 0 && !strings.ContainsRune(" \t\n,{", rune(text[i-1])) {
		return "", 0
	}
	end := start
	for end < len(text) && (isWordByte(text[end]) || text[end] == '_') {
		end++
	}
	if colon = end; quoted {
		colon++
	}
	if colon >= len(text) || text[colon] != ':' || quoted && text[end] != text[i] {
		return "", 0
	}
	return text[start:end], colon
}

// valueEnd is where the value that begins at or after text[i] ends.
func valueEnd(text string, i int) int {
	for i < len(text) && text[i] == ' ' {
		i++
	}
	if i >= len(text) {
		return i
	}
	switch c := text[i]; c {
	case '{':
		return i
	case '[':
		return endAt(text, i+1, "]{")
	case '"', '\'':
		for i++; i < len(text) && text[i] != c; i++ {
			if text[i] == '\\' {
				i++
			}
		}
		return min(i+1, len(text))
	default:
		return endAt(text, i, ",}]\n")
	}
}

func endAt(text string, i int, signs string) int {
	if n := strings.IndexAny(text[i:], signs); n >= 0 {
		return i + n
	}
	return len(text)
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
