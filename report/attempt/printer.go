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

// printer gathers lines of a fixed width.
type printer struct{ strings.Builder }

// line writes a text after a head, wrapped to the width; continuation lines are indented to
// the text's start.
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

// fold returns the length of the part of a text that fits into a number of columns: up to a
// blank, if there is one in its second half.
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

// columnsOf returns the number of terminal columns of a character, at most.
func columnsOf(r rune) int {
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth, width.EastAsianAmbiguous:
		return 2
	default:
		return 1
	}
}
