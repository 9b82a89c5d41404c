// Package report draws pages for people: what became of a day, who made what
// was kept, how the judge graded and what the guard found. A page is one file
// that needs no network and runs no script; names and texts from traces are
// data and are escaped.
package report

import "fmt"

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

// Section is what stands under one heading: plots, a table, texts.
type Section struct {
	Heading string
	Note    string
	Figures []Figure
	// Columns are the heads of the table; without them there is none.
	Columns []string
	Rows    []Row
	Talks   []Talk
	// Frame is the name of a file beside this page that is shown in it; empty for
	// none.
	Frame string
}

// Figure is a plot. Its SVG is drawn here; whatever text it holds is escaped.
type Figure struct {
	SVG     []byte
	Caption string
}

// Talk is a conversation that opens at a click.
type Talk struct {
	Title string
	Lines []Line
}

// Line is what one side of a conversation said.
type Line struct{ Who, Text string }

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

// bar is a row's share of the largest value; none where nothing was counted.
func bar(value, largest int64) *float64 {
	if largest <= 0 {
		return nil
	}
	share := float64(value) / float64(largest)
	return &share
}
