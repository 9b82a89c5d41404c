// Package report draws the plots of a build and the pages of contests for people. A
// page is one file that needs no network and runs no script, or the same as text;
// names and texts that others wrote are data and are escaped. What became of a day,
// package site shows.
package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/trajectory-arena/arena/internal/text"
)

// Page is what one page shows.
type Page struct {
	Title   string
	Summary string
	// Numbers are the few that a reader looks for first.
	Numbers  []Number
	Sections []Section
}

// Number is one figure in large print.
type Number struct{ Name, Value, Note string }

// Section is what stands under one heading: plots, a table.
type Section struct {
	Heading string
	Note    string
	Figures []Figure
	// Columns are the heads of the table; without them there is none.
	Columns []string
	Rows    []Row
}

// Figure is a plot, which only a page shows.
type Figure struct {
	// X and Y name the axes.
	X, Y, Caption string
	Curves        []Curve
}

// Row is one line of a table, with a bar where a number is better seen than
// read.
type Row struct {
	Cells []string
	// Bar is the share of the widest bar, 0 to 1; nil for none.
	Bar *float64
}

// row adds a line to the table: its cells as they print, and its bar.
func (s *Section) row(bar *float64, cells ...any) {
	r := Row{Bar: bar}
	for _, c := range cells {
		r.Cells = append(r.Cells, fmt.Sprint(c))
	}
	s.Rows = append(s.Rows, r)
}

// Text writes the page for a terminal: all but plots and bars.
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
		if len(s.Columns) > 0 && len(s.Rows) == 0 {
			line("None.")
			continue
		}
		line(s.Columns...)
		for _, r := range s.Rows {
			line(r.Cells...)
		}
	}
	return t.Flush()
}
