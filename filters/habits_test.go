package filters_test

import (
	"slices"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/checks"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// guilty has, for checks of the second pass, a family on which the check fires over a full day.
var guilty = map[string]string{
	"fixed_habit_v4":   "puppet",
	"deaf_thinking_v2": "puppet with dice",
	"fixed_plan_v4":    "puppet with one plan",
	"mixed_day_v1":     "overrules and has it echoed",
	"told_answers_v2":  "puppet tells answers",
}

// TestEveryHabitFires holds that each check of the second pass fires on its family in guilty,
// states its reason for a scripted attempt, and does not fire on a model that decides.
func TestEveryHabitFires(t *testing.T) {
	t.Parallel()
	honestDay := judgeDay(t, playDays(familyNamed("honest plain"), many(6000)))
	for _, c := range filters.Catalogue() {
		if c.Measure != nil {
			continue
		}
		if guilty[c.Name] != "" && fired(judgeDay(t, playDays(familyNamed(guilty[c.Name]), many(6000))), c) == 0 {
			t.Errorf("%s never fires on %q", c.Name, guilty[c.Name])
		}
		if n := fired(honestDay, c); n > 0 {
			t.Errorf("%s fires on %d honest attempts", c.Name, n)
		}
	}
}

func fired(day []judgement, c checks.Check) (n int) {
	for _, j := range day {
		for _, v := range j.after.Verdicts {
			if v.Check == c.Name && v.Decision == arena.Drop && v.Reason == c.Reason && slices.Contains(j.after.Reasons, c.Reason) {
				n++
			}
		}
	}
	return n
}

// TestDaysDoNotMove holds that changes which are irrelevant to authorship do not alter the verdicts
// of a full day. Thinking is compared with results by numbers, so that changes of thinking keep
// them. Without the tag long it tests half of the families.
func TestDaysDoNotMove(t *testing.T) {
	t.Parallel()
	equal := map[string]func(*arena.Trace) *arena.Trace{
		"thinking in another language": func(tr *arena.Trace) *arena.Trace { return rethink(tr, foreign) },
	}
	for _, name := range []string{"other ids", "other prices", "keys in another order", "another time zone", "bodies kept as text"} {
		equal[name] = changes[name]
	}
	families := []string{
		"honest plain", "puppet", "puppet opens the cheapest", "overrides now and then",
		"honest native", "puppet with dice", "puppet shuffles openings", "puppet with one plan",
	}
	for _, family := range families[:longtest.Pick(8, 4)] {
		day := playDays(familyNamed(family), days{8000, 45})[:45]
		want := axes(judgeDay(t, day))
		for name, change := range equal {
			if family == "puppet opens the cheapest" && name == "other prices" {
				continue // its thoughts keep the old prices: so does a replay
			}
			changed := slices.Clone(day)
			for i := range changed {
				changed[i].trace = change(day[i].trace)
			}
			got := axes(judgeDay(t, changed))
			if family == "overrides now and then" {
				got.unknown, got.scripted = want.unknown, want.scripted // the words of a thought excuse what was sent
			}
			if got != want {
				t.Errorf("%s: %s moves the day from %v to %v", family, name, want, got)
			}
		}
	}
}

func familyNamed(name string) agent {
	return setOn[slices.IndexFunc(setOn, func(a agent) bool { return a.name == name })]
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
		isLower := r >= 'a' && r <= 'z'
		isUpper := r >= 'A' && r <= 'Z'
		if isLower || isUpper {
			out[i] = 'ก' + r%40
		}
	}
	return string(out)
}

// TestAnswersFoundByOthers holds that a product which no result of the attempt held and which other
// agents found on the day came from outside, and that one which no agent found was invented.
func TestAnswersFoundByOthers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]arena.Axis{"found by others": arena.AxisScripted, "found by nobody": arena.AxisAgentic} {
		teller := agent{name, days{}, false, nil, func(r *recorder) {
			id := "8765432109"
			if want == arena.AxisScripted {
				for _, p := range r.w.search(map[string]any{"q": r.task.needs[0].noun}) {
					id = p.id
				}
			}
			r.act("It must be this one, I am sure of it.", recommend(id), finish())
		}}
		finder := agent{"finder", days{}, true, nil, func(r *recorder) {
			products := ids(r.act("Let me see what there is.", find(r.task.needs[0].noun))[0])
			r.act("The last one, please.", recommend(products[len(products)-1]), finish())
		}}
		teller.play, finder.play = sameTask(teller.play), sameTask(finder.play)
		for _, j := range judgeDay(t, append(playDays(teller, days{1000, 6}), playDays(finder, days{1010, 6})...)) {
			if j.family == name && j.after.Axis != want {
				t.Errorf("%s: %s, want %s", name, j.after.Axis, want)
			}
		}
	}
}

// sameTask has every agent play in the same shop, at its same requests.
func sameTask(play func(*recorder)) func(*recorder) {
	return func(r *recorder) {
		r.w, r.task = newWorld(11), task{id: r.task.id, query: "a kettle", needs: []need{{noun: "kettle", wants: []string{"copper", "plain"}}}}
		play(r)
	}
}
