// Package report draws the plots of a build and writes what contests find as text for
// people. Control characters in names and texts that others wrote are taken out. What
// became of a day, package site shows.
package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
)

// Page is what one report shows.
type Page struct {
	Summary string
	// Numbers are the few that a reader looks for first.
	Numbers  []Number
	Sections []Section
}

// Number is one figure with its name.
type Number struct{ Name, Value, Note string }

// Section is a heading with a table.
type Section struct {
	Heading string
	Note    string
	// Columns are the heads of the table, separated by " | ".
	Columns string
	Rows    [][]string
}

func (s *Section) row(cells ...any) {
	s.Rows = append(s.Rows, slicesx.Map(cells, func(c any) string {
		return fmt.Sprint(c)
	}))
}

// Text writes the report for a terminal.
func (p *Page) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(cells ...string) {
		for i, c := range cells {
			if i > 0 {
				fmt.Fprint(t, "\t")
			}
			fmt.Fprint(t, text.Line(c))
		}
		fmt.Fprintln(t)
	}
	line(p.Summary)
	for _, n := range p.Numbers {
		line(n.Name, n.Value, n.Note)
	}
	for _, s := range p.Sections {
		fmt.Fprintln(t)
		line(s.Heading)
		if s.Note != "" {
			line(s.Note)
		}
		if len(s.Rows) == 0 {
			line("None.")
			continue
		}
		line(strings.Split(s.Columns, " | ")...)
		for _, r := range s.Rows {
			line(r...)
		}
	}
	return t.Flush()
}
