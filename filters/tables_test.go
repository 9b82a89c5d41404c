package filters_test

import (
	"math"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
)

func TestCalibrate(t *testing.T) {
	t.Parallel()
	c := filters.Calibrate([]filters.Labelled{
		{Family: "x", Agentic: true, Axis: arena.AxisAgentic, Confidence: 0.9},
		{Family: "x", Agentic: true, Axis: arena.AxisScripted, Confidence: 0.6},
		{Family: "y", Agentic: false, Axis: arena.AxisScripted, Confidence: 0.8},
		{Family: "y", Agentic: false, Axis: arena.AxisUnknown, Confidence: 0.5},
		{Family: "y", Agentic: false, Axis: arena.AxisAgentic, Confidence: 0.8},
	})
	if c.Total.Agentic[arena.AxisAgentic] != 1 || c.Total.Agentic[arena.AxisScripted] != 1 || c.Total.Scripted[arena.AxisScripted] != 1 || c.Total.Agentic[arena.AxisUnknown]+c.Total.Scripted[arena.AxisUnknown] != 1 || c.Total.Correct() != 2 {
		t.Errorf("total %+v", c.Total)
	}
	// (0.1² + 0.6² + 0.2² + 0.5² + 0.8²) / 5
	if math.Abs(c.Brier-0.26) > 1e-12 {
		t.Errorf("Brier = %v, want 0.26", c.Brier)
	}
	if c.Capped.N != 1 || c.Capped.True != 0 || c.Unknown.N != 1 {
		t.Errorf("capped %+v, unknown %+v: want one attempt each", c.Capped, c.Unknown)
	}
	// The bins hold 0.9 (agentic), 0.4 (agentic) and 0.2 (scripted).
	if want := (0.1 + 0.6 + 0.2) / 3; math.Abs(c.Error-want) > 1e-12 {
		t.Errorf("error %v without capped and unknown answers, want %v", c.Error, want)
	}
	if len(c.Families) != 2 || c.Families[0].Family != "x" {
		t.Errorf("families %+v", c.Families)
	}
}

func TestReweight(t *testing.T) {
	t.Parallel()
	unknown := math.NaN()
	var scores []filters.Scored
	for _, p := range []string{"p1", "p2", "p3", "p4"} {
		scores = append(scores,
			filters.Scored{Agent: "model", Problem: p, Success: p != "p4", Agentic: true, Richness: [3]float64{1, unknown, 1}},
			filters.Scored{Agent: "program", Problem: p, Success: true, Richness: [3]float64{0, unknown, 0}})
	}
	b := filters.Reweight(scores)
	first := b.Standings[0]
	second := b.Standings[1]
	if first.Agent != "program" || first.Scores[0] != 1 || second.Scores[0] != 0.75 || first.Ranks[0] != 1 {
		t.Fatalf("standings %+v", b.Standings)
	}
	// The program keeps 0.3 of its reward, the model all of it.
	if math.Abs(first.Scores[1]-0.3) > 1e-12 || second.Scores[1] != 0.75 || first.Ranks[1] != 2 || second.Ranks[1] != 1 {
		t.Errorf("under v1: %+v, %+v", first, second)
	}
	if math.Abs(b.AgenticShare[0]-3.0/7) > 1e-12 || math.Abs(b.AgenticShare[1]-3/4.2) > 1e-12 || math.Abs(b.AgenticShare[2]-3.0/7) > 1e-12 {
		t.Errorf("shares %v", b.AgenticShare)
	}
	if ci := b.AgenticInterval[1]; ci.Low > 3/4.2 || ci.High < 3/4.2 || ci.High-ci.Low < 0.01 {
		t.Errorf("interval %v of %d problems", ci, b.Problems)
	}
	if g := second.Gain[1]; second.Low[1] > g || second.High[1] < g || g <= 0 || math.Abs(second.Gain[2]) > 1e-12 {
		t.Errorf("gain %v in %v to %v", second.Gain, second.Low, second.High)
	}
	again := filters.Reweight(scores)
	if again.Standings[0] != first || again.Standings[1] != second {
		t.Error("another leaderboard the second time")
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	f := newFilter(t)
	for family, want := range map[string]string{
		"honest plain": "named", "override": "overridden", "no model": "no_inference",
		"fabricates": "result without a dispatch", "edits results": "result edited", "honest composes": "derived",
	} {
		tr := played(t, family)
		d := filters.Normalise(tr)
		e := f.Explain(tr, &d)
		var links []string
		for _, r := range e.Rows {
			links = append(links, r.Link)
		}
		if !strings.Contains(strings.Join(links, "|"), want) {
			t.Errorf("%s: no link %q in %q", family, want, links)
		}
		sum := 0.0
		for _, x := range e.Terms {
			sum += x.Odds
		}
		if _, sample := f.Check(tr, &d); math.Abs(sum-sample.Score) > 1e-9 {
			t.Errorf("%s: terms sum to %v, the score is %v", family, sum, sample.Score)
		}
	}
}
