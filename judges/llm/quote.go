package llm

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	plaintext "github.com/trajectory-arena/arena/internal/text"
)

// What stands in a trace must not look like the frame it is shown in: an agent
// could else write a tool result of its own into its thinking. So long texts
// are quoted line by line, and everything else is kept on its line.
const (
	quoteMark = "  > "
	cutMark   = " …[cut]"
)

// lineEnds are all signs that a reader may take for the end of a line.
var (
	toNewline = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")
	toSpace   = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\v", " ", "\f", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ")
)

// block quotes every line of s.
func block(s string) string {
	return quoteMark + strings.ReplaceAll(toNewline.Replace(s), "\n", "\n"+quoteMark)
}

// line is the first n characters of s on one line.
func line(s string, n int) string { return toSpace.Replace(cut(s, n)) }

// text is a JSON string's own text, or any other value as it was written.
func text(r arena.Raw) string {
	if r.Kind() == arena.String {
		return gjson.Parse(string(r)).Str
	}
	return string(r)
}

// cut ends s after n characters and says so.
func cut(s string, n int) string {
	if c := plaintext.Clip(s, n); len(c) < len(s) {
		return c + cutMark
	}
	return s
}
