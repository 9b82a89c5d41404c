package report_test

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpora"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/report"
)

func sample() *report.Build {
	return &report.Build{
		Funnel:  []corpora.Stage{{Name: "read", In: 10, Out: 9, Failed: 1}, {Name: "filter", In: 9, Out: 4, Dropped: map[string]int64{"axis_scripted": 5}}},
		Agents:  []report.Agent{{Name: `<img src=x onerror="alert(1)">`, Attempts: 8, Agentic: 2, Kept: 1}},
		Lengths: []report.Lengths{{Split: "train", Steps: []int{1, 2, 12}, Tokens: []int{0, 9_999, 14_336}}, {Split: "eval", Steps: []int{3}, Tokens: []int{700}}},
		Judge:   "gates_v1", Levels: []report.Level{{Score: 0.7, Attempts: 3, Kept: 1}},
		Guard: &guard.Report{Injection: &guard.InjectionReport{}, Dropped: []guard.DroppedRow{{ID: "a/b", Evidence: "<script>x</script>"}}},
	}
}

func TestThePageEscapesWhatTracesSay(t *testing.T) {
	t.Parallel()
	b, err := sample().Page().HTML()
	if err != nil {
		t.Fatal(err)
	}
	html := string(b)
	for _, bad := range []string{"<img", "<script", "javascript:", "http://", "https://"} {
		if strings.Contains(html, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, want := range []string{"axis_scripted 5", "&lt;img src=x", "width:40.0%"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
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
