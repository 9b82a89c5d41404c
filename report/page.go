package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

//go:embed page.css
var style string

// HTML writes the page.
func (p *Page) HTML() ([]byte, error) {
	var b bytes.Buffer
	if err := p.node().Render(&b); err != nil {
		return nil, fmt.Errorf("draw page %q: %w", p.Title, err)
	}
	return b.Bytes(), nil
}

func (p *Page) node() g.Node {
	return h.Doctype(h.HTML(h.Lang("en"),
		h.Head(
			h.Meta(h.Charset("utf-8")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.TitleEl(escaped(p.Title)),
			h.StyleEl(g.Raw(style))),
		h.Body(
			h.H1(escaped(p.Title)),
			h.P(escaped(p.Summary)),
			g.If(len(p.Numbers) > 0, h.Div(h.Class("numbers"), g.Map(p.Numbers, Number.node))),
			g.Map(p.Sections, Section.node))))
}

func (n Number) node() g.Node {
	return h.Div(h.Span(escaped(n.Name)), h.B(escaped(n.Value)), h.Small(escaped(n.Note)))
}

func (s Section) node() g.Node {
	return g.Group{
		h.H2(escaped(s.Heading)),
		g.If(s.Note != "", h.P(h.Class("note"), escaped(s.Note))),
		g.If(len(s.Figures) > 0, h.Div(h.Class("figures"), g.Map(s.Figures, Figure.node))),
		s.table(),
	}
}

func (f Figure) node() g.Node {
	return h.Figure(g.Raw(string(f.SVG)), h.FigCaption(escaped(f.Caption)))
}

func (s Section) table() g.Node {
	switch {
	case len(s.Rows) > 0:
		heads := h.Tr(g.Map(s.Columns, func(name string) g.Node { return h.Th(escaped(name)) }), h.Th())
		return h.Table(heads, g.Map(s.Rows, Row.node))
	case len(s.Columns) > 0:
		return h.P(escaped("None."))
	default:
		return nil
	}
}

func (r Row) node() g.Node {
	cells := g.Map(r.Cells, func(cell string) g.Node { return h.Td(escaped(cell)) })
	bar := g.Iff(r.Bar != nil, func() g.Node {
		return h.Div(h.Style("width:" + strconv.FormatFloat(100**r.Bar, 'f', 1, 64) + "%"))
	})
	return h.Tr(cells, h.Td(h.Class("bar"), bar))
}

// escaped is a text inside an element, also for a reader that guesses UTF-7.
func escaped(s string) g.Node {
	return g.Raw(strings.ReplaceAll(template.HTMLEscapeString(s), "+", "&#43;"))
}
