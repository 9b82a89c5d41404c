package text

import (
	"strings"
	"unicode"
)

// Line keeps untrusted text on its line and off a terminal's controls: each run of
// blanks, control characters and those that turn the direction is one blank.
func Line(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
}
