package student

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/student/rollout"
)

// TestUnknownFiguresAreNull holds that one problem has no interval, that a part without a problem
// has no rate, and that a mean has its number of rollouts.
func TestUnknownFiguresAreNull(t *testing.T) {
	t.Parallel()
	tally := newTally(map[string]bool{}, true, nil)
	won := true
	lost := false
	quality := 0.5
	success := rollout.LabelSuccess
	failure := rollout.LabelTruncated
	tally.add(&rollout.Result{ProblemID: "p", Outcome: rollout.Scored, Success: &won, Label: &success, Quality: &quality, Axes: map[string]float64{"rule": 1}})
	tally.add(&rollout.Result{ProblemID: "p", Outcome: rollout.Scored, Success: &lost, Label: &failure})
	tally.endProblem()
	s := tally.summary()
	if s.Clustered95 != nil || s.SEClustered != nil || s.SEScored != nil || len(s.Axes95) > 0 || s.Pass["pass@2"].CI95 != nil {
		t.Errorf("one problem has intervals: %+v", s)
	}
	clean := s.ByContamination["clean"]
	dirty := s.ByContamination["contaminated"]
	if clean.ASRAll == nil || *clean.ASRAll != 0.5 || dirty.Problems != 0 || dirty.ASRAll != nil {
		t.Errorf("clean %+v, contaminated %+v", clean, dirty)
	}
	if s.Axes["rule"] != 1 || s.AxisRollouts["rule"] != 1 {
		t.Errorf("axes %v of %v rollouts", s.Axes, s.AxisRollouts)
	}
	for _, score := range inspectScores(s)[1:] { // quality, and the rule
		if score.Scored != 1 || score.Unscored != 1 {
			t.Errorf("%s: %d scored, %d unscored", score.Name, score.Scored, score.Unscored)
		}
	}
}

// TestLostSamplesAreInNoPassRate has a problem of which two samples were solved and two had no
// answer of a server.
func TestLostSamplesAreInNoPassRate(t *testing.T) {
	t.Parallel()
	tally := newTally(nil, false, nil)
	for _, isLost := range []bool{false, true, true, false} {
		r := &rollout.Result{ProblemID: "p", Outcome: rollout.Scored, Success: new(true)}
		if isLost {
			r = &rollout.Result{ProblemID: "p", Outcome: rollout.Infra, Infra: new("error")}
		}
		tally.add(r)
	}
	tally.endProblem()
	s := tally.summary()
	if len(s.Pass) != 4 || s.Pass["pass@2"].Mean != 1 || s.Pass["pass^2"].Mean != 1 {
		t.Errorf("pass rates for k = 1 and 2: %+v", s.Pass)
	}
}

// TestProblemsThatCannotBeScored holds that problems without a valid reward are refused, since no
// model could solve them.
func TestProblemsThatCannotBeScored(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "problems.jsonl")
	for problem, reason := range map[string]string{
		`{"problem_id":"a","query":"x","category":"Product"}`:                             "no reward",
		`{"problem_id":"a","query":"x","category":"Web","reward":{"product_id":"1"}}`:     `category "Web" has no rules`,
		`{"problem_id":"a","query":"x","category":"Shop","reward":7}`:                     "reward",
		`{"problem_id":"a","query":"x","category":"Product","reward":{"product_id":7}}`:   "",
		`{"problem_id":"a","query":"x","category":"Voucher","reward":[{"product_id":1}]}`: "",
	} {
		if err := os.WriteFile(path, []byte(problem+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadProblems(path)
		isRight := err == nil
		if reason != "" {
			isRight = err != nil && strings.Contains(err.Error(), reason)
		}
		if !isRight {
			t.Errorf("%s: %v", problem, err)
		}
	}
}

// TestTooManyUnparsedCallsAreNoRate holds that unparsed calls in up to one rollout of five are
// reported. Above that, the summary has no rate, unless the prompt alone describes how calls are
// written.
func TestTooManyUnparsedCallsAreNoRate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unparsed     int
		serverParses bool
		rate         bool
	}{{0, true, true}, {2, true, true}, {3, true, false}, {10, true, false}, {10, false, true}} {
		tally := newTally(nil, c.serverParses, nil)
		lost := false
		label := rollout.LabelNoToolCall
		for i := range 10 {
			r := &rollout.Result{ProblemID: string(rune('a' + i)), Outcome: rollout.Scored, Success: &lost, Label: &label}
			if i < c.unparsed {
				r.UnparsedForm = "glm45"
			}
			tally.add(r)
			tally.endProblem()
		}
		s := tally.summary()
		words := Table(s)
		named := strings.Contains(words, "hold calls in the form glm45 that nobody parsed; vLLM: --enable-auto-tool-choice --tool-call-parser glm45")
		if (s.ASRScored != nil) != c.rate || (s.NoRate == "") != c.rate || strings.Contains(words, "success rate") != c.rate || named != (c.unparsed > 0) || c.rate == (len(s.Pass) == 0) {
			t.Errorf("%+v: rate %v, %q\n%s", c, s.ASRScored, s.NoRate, words)
		}
	}
}
