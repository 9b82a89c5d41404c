package attempt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/trajectory-arena/arena/internal/text"
)

// Width is the maximum width of a line of text, in terminal columns.
const Width = 100

// printer collects the lines of an explanation, each at most Width columns wide.
type printer struct{ strings.Builder }

// line writes head and a formatted text, wrapped to Width columns. All lines after the first are
// indented by the width of head.
func (p *printer) line(head, format string, args ...any) {
	remaining := []rune(text.Line(fmt.Sprintf(format, args...)))
	indent := utf8.RuneCountInString(head)
	for first := true; first || len(remaining) > 0; first = false {
		n := fold(remaining, Width-indent)
		p.print(strings.TrimRight(head+string(remaining[:n]), " "))
		remaining, head = []rune(strings.TrimLeft(string(remaining[n:]), " ")), strings.Repeat(" ", indent)
	}
}

func (p *printer) print(s string) { p.WriteString(s + "\n") }

// fold returns how many characters of s fit into the given number of terminal columns. To keep
// words whole, it returns the position of the last blank instead, unless that is in the first
// half.
func fold(s []rune, columns int) int {
	fits := 0
	blank := 0
	for used := 0; fits < len(s); fits++ {
		if used += columnsOf(s[fits]); used > columns {
			break
		}
		if s[fits] == ' ' {
			blank = fits
		}
	}
	if fits < len(s) && s[fits] != ' ' && blank > fits/2 {
		return blank
	}
	return fits
}

// columnsOf returns the maximum number of terminal columns of a character: 2 for wide and
// ambiguous East Asian characters, otherwise 1.
func columnsOf(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth, width.EastAsianAmbiguous:
		return 2
	default:
		return 1
	}
}
