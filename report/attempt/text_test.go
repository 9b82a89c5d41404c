package attempt_test

import (
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/report/attempt"
)

// scripted is an attempt that a build dropped as the work of a program.
func scripted() *where.Line {
	return &where.Line{
		Attempt: &rows.Attempt{TraceID: "r/p", Fate: "dropped", Stage: "filter", Reason: "axis_scripted"},
		Verdict: &rows.Verdict{
			Axis: "scripted", Reasons: []string{"axis_scripted", "no_inference"},
			Checks: []rows.CheckVerdict{{Check: "no_inference_v3", Reason: "no_inference", Value: -12}},
		},
	}
}

// TestExplanationPrintsEachReasonOnce explains a scripted attempt with and without its trace: the
// meaning of each reason and each measurement is printed once.
func TestExplanationPrintsEachReasonOnce(t *testing.T) {
	t.Parallel()
	reason := ""
	for _, c := range filters.Catalogue() {
		if c.Name == "no_inference_v3" {
			_, reason, _ = strings.Cut(c.Value, ": ")
		}
	}
	for name, story := range map[string]*attempt.Story{
		"without the trace": nil,
		"with the trace":    {Odds: []filters.Term{{Rule: "no_inference", Why: reason, Odds: -12}}},
	} {
		l := attempt.Alone(scripted())
		a := l.Argue(0)
		a.Story = story
		text := strings.Join(strings.Fields(l.Text(a)), " ")
		for _, phrase := range []string{"a program, not the model, acted", "The agent made calls, but asked no model", reason, "-12"} {
			if n := strings.Count(text, phrase); n != 1 || phrase == "" {
				t.Errorf("%s, %q is printed %d times:\n%s", name, phrase, n, l.Text(a))
			}
		}
	}
}

// TestExplanationNamesTheEvidenceOfTheDay explains attempts that are unknown because of a
// check of the agent's day.
func TestExplanationNamesTheEvidenceOfTheDay(t *testing.T) {
	t.Parallel()
	for _, check := range []string{"mixed_day_v1", "fixed_habit_v4"} {
		line := scripted()
		line.Verdict.Axis = "unknown"
		line.Verdict.Checks = []rows.CheckVerdict{{Check: check, Reason: "mixed_day"}}
		line.Verdict.Features = []rows.Feature{{Name: "turns", Value: 3}}
		l := attempt.Alone(line)
		got := l.Argue(0).Unknown
		want := "its agent's day against it (" + check + ")"
		if !strings.Contains(got, want) {
			t.Errorf("why unknown: %q, want %q", got, want)
		}
	}
}
