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
	Title    string
	Summary  string
	Sections []Section
}

// Section is one table under its heading.
type Section struct {
	Heading string
	Note    string
	Columns []string
	Rows    []Row
}

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
