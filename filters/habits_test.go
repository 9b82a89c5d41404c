package filters_test

import (
	"slices"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
)

// guilty is, for every check of the second pass, a family that it fires on over
// a whole day.
var guilty = map[string]string{
	"fixed_habit_v3":       "puppet",
	"pasted_episode_v1":    "pastes an episode",
	"template_thinking_v2": "puppet fills a template",
	"deaf_thinking_v1":     "puppet with dice",
	"fixed_plan_v3":        "puppet with one plan",
	"sorted_choice_v1":     "puppet opens the cheapest",
	"overriding_client_v2": "overrides now and then",
	"request_queries_v1":   "puppet cuts the request",
	"told_answers_v2":      "puppet tells answers",
}

// TestEveryHabitFires: each check of the second pass fires on its own family,
// names its reason on a scripted attempt, and is silent on a model that decides.
func TestEveryHabitFires(t *testing.T) {
	t.Parallel()
	honestDay := judgeDay(t, play(familyNamed("honest plain"), 6))
	for _, c := range filters.Catalogue() {
		if !isSecondPass(c.Name) {
			continue
		}
		if fired(judgeDay(t, play(familyNamed(guilty[c.Name]), 6)), c) == 0 {
			t.Errorf("%s never fires on %q", c.Name, guilty[c.Name])
		}
		if n := fired(honestDay, c); n > 0 {
			t.Errorf("%s fires on %d honest attempts", c.Name, n)
		}
	}
}

func fired(day []judgement, c filters.Check) (n int) {
	for _, j := range day {
		for _, v := range j.after.Verdicts {
			if v.Check == c.Name && v.Decision == arena.Drop && v.Reason == c.Reason && slices.Contains(j.after.Reasons, c.Reason) {
				n++
			}
		}
	}
	return n
}

// TestDaysDoNotMove: what does not bear on who decided moves no verdict of a
// whole day either. Numbers are what thinking is held against results by, so
// changes of thinking keep them.
func TestDaysDoNotMove(t *testing.T) {
	t.Parallel()
	same := map[string]func(*arena.Trace) *arena.Trace{
		"thinking in another language": func(tr *arena.Trace) *arena.Trace { return rethink(tr, foreign) },
	}
	for _, name := range []string{"other ids", "other prices", "keys in another order", "another time zone", "bodies kept as text"} {
		same[name] = changes[name]
	}
	for _, family := range []string{
		"honest plain", "honest native", "puppet", "puppet with dice", "puppet shuffles openings",
		"puppet opens the cheapest", "puppet with one plan", "overrides now and then",
	} {
		day := play(familyNamed(family), 8)[:tasksPerAgent]
		want := axes(judgeDay(t, day))
		for name, change := range same {
			changed := slices.Clone(day)
			for i := range changed {
				changed[i].trace = change(day[i].trace)
			}
			if got := axes(judgeDay(t, changed)); got != want {
				t.Errorf("%s: %s moves the day from %v to %v", family, name, want, got)
			}
		}
	}
}

func familyNamed(name string) []agent {
	for _, a := range slices.Concat(agents, strangers, guests, visitors, latecomers, newcomers, arrivals) {
		if a.name == name {
			return []agent{a}
		}
	}
	return nil
}

func axes(day []judgement) (n struct{ agentic, scripted, unknown int }) {
	for _, j := range day {
		switch j.after.Axis {
		case arena.AxisAgentic:
			n.agentic++
		case arena.AxisScripted:
			n.scripted++
		case arena.AxisUnknown:
			n.unknown++
		}
	}
	return n
}

// foreign replaces every letter, and leaves numbers and what parts words.
func foreign(s string) string {
	out := []rune(s)
	for i, r := range out {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			out[i] = 'ก' + r%40
		}
	}
	return string(out)
}
