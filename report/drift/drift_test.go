package drift_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/report/drift"
)

// lines are a day: agents of 20 attempts each, of which a share solves.
func lines(d *dice.Dice, agents []string, solves float64) (lines []*where.Line) {
	for _, agent := range agents {
		for i := range 20 {
			lines = append(lines, &where.Line{
				Attempt: &rows.Attempt{TraceID: fmt.Sprint(agent, "/", i), AgentHotkey: agent},
				Verdict: &rows.Verdict{Axis: "agentic"},
				Outcome: &rows.Outcome{Scored: true, Success: d.Share() < solves},
			})
		}
	}
	return lines
}

func names(first, last int) (names []string) {
	for i := first; i < last; i++ {
		names = append(names, fmt.Sprintf("agent-%02d", i))
	}
	return names
}

func TestADayIsComparedWithAnother(t *testing.T) {
	t.Parallel()
	d := dice.New(1)
	before := drift.NewDay("monday", lines(d, names(0, 12), 0.7))
	later := lines(d, names(2, 14), 0.3)
	for _, l := range later[:20] { // agent-02
		l.Verdict.Axis = "scripted"
	}
	got := drift.Between(before, drift.NewDay("tues|day", later), drift.Defaults())
	if !slices.Equal(got.New, names(12, 14)) || !slices.Equal(got.Gone, names(0, 2)) || !slices.Equal(got.Moved, names(2, 3)) {
		t.Errorf("new %v, removed %v, moved %v", got.New, got.Gone, got.Moved)
	}
	if passed := got.Passed(); !slices.Equal(passed, []string{"solved"}) {
		t.Errorf("passed %v", passed)
	}
	text := got.Markdown()
	for _, want := range []string{"# tues_day against monday", "**passed**", "New: `agent-12`, `agent-13`", "| grade | - | - |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestEqualDaysExceedNoLimit samples pairs of days from one distribution with no tolerance for a
// difference: the intervals alone decide, and err in one of twenty pairs.
func TestEqualDaysExceedNoLimit(t *testing.T) {
	t.Parallel()
	// With fewer pairs the bound allows three standard errors.
	pairs := longtest.Pick(1000, 300)
	tolerance := longtest.Pick(0.025, 0.04)
	d := dice.New(2)
	passed := 0
	for range pairs {
		a := drift.NewDay("a", lines(d, names(0, 30), 0.5))
		b := drift.NewDay("b", lines(d, names(0, 30), 0.5))
		passed += len(drift.Between(a, b, drift.Limits{}).Passed())
	}
	if share := float64(passed) / float64(pairs); math.Abs(share-0.05) > tolerance {
		t.Errorf("%.3f of equal days differ", share)
	}
}

// TestGradesOfDifferentJudgesAreNotCompared compares a day with one on which each grade is higher by
// 0.2, of the same judge and of another.
func TestGradesOfDifferentJudgesAreNotCompared(t *testing.T) {
	t.Parallel()
	day := func(judge string, score float64) *drift.Day {
		graded := lines(dice.New(1), names(0, 12), 0.5)
		for _, l := range graded {
			l.Judgement = &rows.Judgement{Judge: judge, Score: &score}
		}
		return drift.NewDay(judge, graded)
	}
	for _, c := range []struct{ judge, row string }{
		{"old", "| grade | 0.300 | 0.500 | 0.200 | 0.200 to 0.200 | 0.1 | **passed** |"},
		{"new", "| grade | 0.300 | 0.500 | - | - to - | 0.1 |  |"},
	} {
		got := drift.Between(day("old", 0.3), day(c.judge, 0.5), drift.Defaults())
		if text := got.Markdown(); !strings.Contains(text, c.row) || strings.Contains(text, "passed") != (len(got.Passed()) == 1) {
			t.Errorf("passed %v, no %q in\n%s", got.Passed(), c.row, text)
		}
	}
}

// TestSampledGradeIsWeighedByItsProbability compares a day whose dropped attempts are all graded
// with the same day of which one in eight is: the mean grade is the same.
func TestSampledGradeIsWeighedByItsProbability(t *testing.T) {
	t.Parallel()
	grade := func(lines []*where.Line, score float64, oneIn *int64) {
		for _, l := range lines {
			l.Judgement = &rows.Judgement{Judge: "j", Score: &score, OneIn: oneIn}
		}
	}
	base := lines(dice.New(1), names(0, 12), 0.5)
	sample := lines(dice.New(1), names(0, 12), 0.5)
	for i := 0; i < len(base); i += 20 {
		grade(base[i:i+4], 0.9, nil)
		grade(base[i+4:i+20], 0.1, nil)
		grade(sample[i:i+4], 0.9, nil)
		grade(sample[i+4:i+6], 0.1, new(int64(8)))
	}
	got := drift.Between(drift.NewDay("all", base), drift.NewDay("drawn", sample), drift.Defaults())
	for _, s := range got.Shifts {
		if s.Name == "grade" && (math.Abs(s.Before-0.26) > 1e-9 || math.Abs(s.After-0.26) > 1e-9) {
			t.Errorf("grade %v, then %v", s.Before, s.After)
		}
	}
}
