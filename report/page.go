package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

//go:embed page.css
var style string

// HTML writes the page.
func (p *Page) HTML(w io.Writer) error {
	if err := p.node().Render(w); err != nil {
		return fmt.Errorf("draw page %q: %w", p.Title, err)
	}
	return nil
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

// node is the plot; nothing where there is nothing to draw.
func (f Figure) node() g.Node {
	return g.NodeFunc(func(w io.Writer) error {
		if !slices.ContainsFunc(f.Curves, func(c Curve) bool { return len(c.Points) > 0 }) {
			return nil
		}
		p := newPlot(f.X, f.Y)
		if err := addCurves(p, f.Curves...); err != nil {
			return err
		}
		svg, err := drawn(p)
		if err != nil {
			return fmt.Errorf("draw %q: %w", f.Caption, err)
		}
		return h.Figure(g.Raw(string(prelude.ReplaceAll(svg, []byte("$1")))), h.FigCaption(escaped(f.Caption))).Render(w)
	})
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
