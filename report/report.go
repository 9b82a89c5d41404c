// Package report draws pages for people: what became of a day, who made what
// was kept, how the judge graded and what the guard found. A page is one file
// that needs no network and runs no script; names and texts from traces are
// data and are escaped.
package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
)

//go:embed page.html
var pageText string

var layout = template.Must(template.New("page").Funcs(template.FuncMap{"percent": percent}).Parse(pageText))

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
	// Frame is a page beside this one that is shown in it; empty for none.
	Frame string
}

// Figure is a plot. Its SVG is drawn here; whatever text it holds is escaped.
type Figure struct {
	SVG     template.HTML
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

// HTML writes the page.
func (p *Page) HTML() ([]byte, error) {
	var b bytes.Buffer
	if err := layout.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("draw page %q: %w", p.Title, err)
	}
	return b.Bytes(), nil
}

func percent(share *float64) string { return strconv.FormatFloat(100**share, 'f', 1, 64) }

// bar is a row's share of the largest value; none where nothing was counted.
func bar(value, largest int64) *float64 {
	if largest <= 0 {
		return nil
	}
	share := float64(value) / float64(largest)
	return &share
}
