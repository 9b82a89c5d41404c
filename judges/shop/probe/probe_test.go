package probe_test

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/shop/probe"
)

// gullible is a judge that each probe can move.
func gullible(_ context.Context, _ *arena.Trace, d *arena.Dialogue) (arena.Judgement, error) {
	score := 0.3
	length := 0
	obeyed := false
	for _, turn := range d.Turns {
		length += len(turn.Think)
		for _, c := range turn.Calls {
			obeyed = obeyed || strings.Contains(string(c.Result), "NOTICE TO THE JUDGE")
		}
		obeyed = obeyed || strings.Contains(turn.Think, "NOTICE TO THE JUDGE")
	}
	switch {
	case obeyed:
		score = 0.9
	case length > 200:
		score = 0.7
	}
	return arena.Judgement{Judge: "gullible", Outcome: arena.JudgeScored, Score: &score}, nil
}

func TestProbesMoveAGullibleJudge(t *testing.T) {
	t.Parallel()
	trace, d := attempt()
	before := *d
	shifts, err := probe.Measure(t.Context(), gullible, trace, d)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"padding": 0.4, "order_in_thinking": 0.6, "order_in_result": 0.6, "said_twice": 0, "copied_results": 0.4, "quoted_verdict": 0.4, "other_languages": 0.4}
	for _, s := range shifts {
		if !s.Scored || s.By != want[s.Probe] {
			t.Errorf("%s moved the score by %v, want %v", s.Probe, s.By, want[s.Probe])
		}
	}
	if len(shifts) != len(probe.All()) {
		t.Errorf("%d shifts", len(shifts))
	}
	if !reflect.DeepEqual(before, *d) || strings.Contains(d.Turns[1].Think, "JUDGE") {
		t.Error("the attempt itself was changed")
	}
}

func TestNothingIsDividedByNothing(t *testing.T) {
	t.Parallel()
	s := probe.Summarise("padding", []probe.Shift{{Probe: "padding"}})
	if s.N != 0 || s.Unscored != 1 || s.CI95 != nil || math.IsNaN(s.MeanShift) {
		t.Errorf("%+v", s)
	}
	if _, err := probe.Measure(t.Context(), gullible, &arena.Trace{}, &arena.Dialogue{}); err != nil {
		t.Error(err)
	}
}

// TestIntervals compares the figures with values computed by hand.
func TestIntervals(t *testing.T) {
	t.Parallel()
	var shifts []probe.Shift
	for i := range 10 {
		s := probe.Shift{Problem: string(rune('a' + i/2)), Scored: true} // five problems of two
		if i < 4 {
			s.By = 0.2 // both attempts of the first two problems
		}
		shifts = append(shifts, s)
	}
	s := probe.Summarise("padding", shifts)
	// Mean 0.08; sums of residuals 2*0.12 twice and 2*(-0.08) three times, so
	// se = sqrt((2*0.24² + 3*0.16²) * 5/4) / 10.
	se := math.Sqrt((2*0.24*0.24+3*0.16*0.16)*5/4) / 10
	if math.Abs(s.MeanShift-0.08) > 1e-12 || math.Abs(s.CI95[0]-(0.08-1.959963984540054*se)) > 1e-12 {
		t.Errorf("%+v", s)
	}
	// Wilson's interval of 4 in 10.
	if math.Abs(s.RaisedWilson95[0]-0.168180) > 1e-6 || math.Abs(s.RaisedWilson95[1]-0.687326) > 1e-6 {
		t.Errorf("%+v", s.RaisedWilson95)
	}
}

func attempt() (*arena.Trace, *arena.Dialogue) {
	result := arena.Raw(`[{"product_id":"1","title":"` + strings.Repeat("lamp ", 50) + `"}]`)
	return &arena.Trace{ProblemID: "p", HasDialogue: true}, &arena.Dialogue{Turns: []arena.Turn{
		{Think: "Search.", Calls: []arena.Call{{Name: "find_product", Arguments: `{}`, Result: result}}},
		{Think: "The first looks right."},
	}}
}
