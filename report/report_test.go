package report_test

import (
	"bytes"
	"encoding/xml"
	html "html/template"
	"image/color"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/report"
)

func sample() *report.Build {
	return &report.Build{
		Funnel:  []corpus.Stage{{Name: "read", In: 10, Out: 9, Failed: 1}, {Name: "filter", In: 9, Out: 4, Dropped: map[string]int64{"axis_scripted": 5}}},
		Agents:  []report.Agent{{Name: `<img src=x onerror="alert(1)">`, Kept: 1}},
		Lengths: []report.Lengths{{Split: "train", Steps: []int{1, 2, 12}, Tokens: []int{0, 9_999, 14_336}}, {Split: "eval", Steps: []int{3}, Tokens: []int{700}}},
		Levels:  []report.Level{{Score: 0.7, Attempts: 3, Kept: 1}},
	}
}

// everywhere is a page with one text in every place that takes any.
func everywhere(text string) *report.Page {
	share := 0.5
	return &report.Page{
		Title: text, Summary: text, Numbers: []report.Number{{Name: text, Value: text, Note: text}},
		Sections: []report.Section{{
			Heading: text, Note: text, Figures: []report.Figure{{Caption: text, Curves: []report.Curve{{Points: plotter.XYs{{X: 1, Y: 1}, {X: 2, Y: 3}}, Colour: color.Black}}}},
			Columns: []string{text}, Rows: []report.Row{{Cells: []string{text}, Bar: &share}},
		}, {Columns: []string{text}}},
	}
}

func drawn(t *testing.T, p *report.Page) string {
	t.Helper()
	var b strings.Builder
	if err := p.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestATextIsATextEverywhere: a page of hostile texts is the page of harmless
// ones but for the words.
func TestATextIsATextEverywhere(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`<img src=x onerror="alert(1)">`, `</title><script>`, `"onload="x`, `'&lt;`, "<!--", "\x00<\xff>", "+ADw-script+AD4-"} {
		want := drawn(t, everywhere("harmless"))
		escaped := strings.ReplaceAll(html.HTMLEscapeString(text), "+", "&#43;")
		if got := drawn(t, everywhere(text)); got != strings.ReplaceAll(want, "harmless", escaped) {
			t.Errorf("%q in\n%s", text, got)
		}
	}
}

// TestAPageAsTextHoldsItsTables, each untrusted text on a line of its own.
func TestAPageAsTextHoldsItsTables(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := everywhere("a\x1b[2J\nb").Text(&b); err != nil {
		t.Fatal(err)
	}
	const name = "a [2J b"
	if want := strings.Join([]string{name, name + "  " + name + "  " + name, "", name, name, name, name, "", "", "None.", ""}, "\n"); b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestPlotsDependOnTheBuildAlone draws a build twice.
func TestPlotsDependOnTheBuildAlone(t *testing.T) {
	t.Parallel()
	b := sample()
	b.Levels = nil
	one, err := b.Plots()
	if err != nil {
		t.Fatal(err)
	}
	two, err := b.Plots()
	if err != nil {
		t.Fatal(err)
	}
	if len(one) != 4 || one["grades.svg"] != nil {
		t.Errorf("%d plots", len(one))
	}
	for name, svg := range one {
		if !bytes.Equal(svg, two[name]) || xml.Unmarshal(svg, new(struct{})) != nil || bytes.Contains(svg, []byte("<img")) {
			t.Errorf("%s: %.300s", name, svg)
		}
	}
}
