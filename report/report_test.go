package report_test

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/report"
)

func sample() []figures.Bars {
	return []figures.Bars{
		{File: "agents.svg", Names: []string{`<img src=x onerror="alert(1)">`}, Stacks: []figures.Stack{{Name: "kept", Counts: []float64{1}}}},
		{File: "grades.svg", Names: []string{"0.7"}, Stacks: []figures.Stack{{Name: "kept", Counts: []float64{1}}, {Name: "not kept", Counts: []float64{2}, Rest: true}}},
		{File: "empty.svg"},
	}
}

// everywhere is a report with one text in every place that takes any.
func everywhere(text string) *report.Page {
	return &report.Page{
		Summary: text, Numbers: []report.Number{{Name: text, Value: text, Note: text}},
		Sections: []report.Section{{Heading: text, Note: text, Columns: text, Rows: [][]string{{text}}}, {Columns: text}},
	}
}

// TestAPageAsTextHoldsItsTables checks that each untrusted text is on a line of its own.
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

// TestPlotsDependOnTheChartsAlone renders the plots twice and compares them.
func TestPlotsDependOnTheChartsAlone(t *testing.T) {
	t.Parallel()
	one := report.Plots(sample())
	two := report.Plots(sample())
	if len(one) != 2 {
		t.Errorf("%d plots", len(one))
	}
	for name, svg := range one {
		if !bytes.Equal(svg, two[name]) || xml.Unmarshal(svg, new(struct{})) != nil || bytes.Contains(svg, []byte("<img")) {
			t.Errorf("%s: %.300s", name, svg)
		}
	}
}
