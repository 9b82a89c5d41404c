// Package report draws the plots of a build and the pages of contests for people. A
// page is one file that needs no network and runs no script; names and texts that
// others wrote are data and are escaped. What became of a day, package site shows.
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

// Section is what stands under one heading: plots, a table.
type Section struct {
	Heading string
	Note    string
	Figures []Figure
	// Columns are the heads of the table; without them there is none.
	Columns []string
	Rows    []Row
}

// Figure is a plot. Its SVG is drawn here; whatever text it holds is escaped.
type Figure struct {
	SVG     []byte
	Caption string
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
