package traces

import (
	"bytes"
	"slices"
)

// notNumbers are the words that Python and JavaScript write for numbers that JSON does not have.
// -Infinity precedes Infinity, which is a part of it.
var notNumbers = [][]byte{[]byte("-Infinity"), []byte("Infinity"), []byte("NaN")}

// addLoss adds the code of a loss to all traces of a record that do not have it.
func (d *decoded) addLoss(word string) {
	if d.trace != nil && !slices.Contains(d.trace.Lost, word) {
		d.trace.Lost = append(d.trace.Lost, word)
	}
	for i := range d.siblings {
		d.siblings[i].addLoss(word)
	}
}

// WithoutNotNumbers returns a copy of a JSON text with null in place of the numbers that JSON does
// not have. If the text has none outside of strings, it is returned itself, and found is false.
func WithoutNotNumbers(text []byte) (repaired []byte, found bool) {
	inString := false
	last := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString, c != 'N' && c != 'I' && c != '-':
		default:
			for _, word := range notNumbers {
				if bytes.HasPrefix(text[i:], word) {
					repaired = append(append(repaired, text[last:i]...), "null"...)
					last = i + len(word)
					i = last - 1
					break
				}
			}
		}
	}
	if last == 0 {
		return text, false
	}
	return append(repaired, text[last:]...), true
}
