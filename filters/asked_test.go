package filters_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
)

// TestWhatRepliesHold checks two rules. A call that the newest reply holds word for word, or by its
// position in the newest list, is never evidence against the model. A call that a client chose from
// a list, or without a request to the model, is no evidence for it; at most four attempts with a
// choice from two are agentic.
func TestWhatRepliesHold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		agent
		never arena.Axis
		limit int
	}{
		{agent{"honest translates", few(13000), true, nil, honest(turnTranslates, talks)}, arena.AxisScripted, 0},
		{agent{"honest points at places", few(13010), true, places, honest(turnPlain, terse)}, arena.AxisScripted, 0},
		{agent{"chooses from two", few(13020), false, nil, honest(turnOfTwo, talks)}, arena.AxisAgentic, 4},
		{agent{"answers without asking", few(13030), false, nil, honest(turnAsksToSearch, talks)}, arena.AxisAgentic, 0},
	} {
		wrong := 0
		for _, j := range judgeDay(t, playDays(c.agent, c.days)) {
			if j.after.Axis == c.never {
				wrong++
			}
		}
		if wrong > c.limit {
			t.Errorf("%s: %d of %d are %s, at most %d may be", c.name, wrong, 2*c.days.tasks, c.never, c.limit)
		}
	}
}

// turnTranslates has a second reply that translates a search into the shop's language.
func turnTranslates(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "find_product" {
		named[0] = find(foreign(fmt.Sprint(calls[0].args["q"])))
	}
	r.infer(think, named...)
	if calls[0].name == "find_product" {
		r.say("Translation: " + fmt.Sprint(calls[0].args["q"]))
	}
	return r.run(think, calls)
}

// places has the model name products by their positions in the newest list.
func places(r *recorder) {
	names := map[string]string{"find_product": "search:", "view_product_information": "open", "recommend_product": "buy"}
	r.form = func(think string, calls []call) string {
		text := "Thought: " + think
		for _, c := range calls {
			text += "\nAction: " + names[c.name]
			if q := c.args["q"]; q != nil {
				text += fmt.Sprintf(" %v (page %v)", q, c.args["page"])
			}
			for i, id := range strings.Split(fmt.Sprint(c.args["product_ids"]), ",") {
				if index := slices.Index(r.lastShown(), id); index >= 0 {
					text += fmt.Sprintf("%s #%d", strings.Repeat(",", min(i, 1)), index+1)
				} else if c.args["product_ids"] != nil {
					text += fmt.Sprintf("%s %s", strings.Repeat(",", min(i, 1)), id)
				}
			}
		}
		return text
	}
}

// turnOfTwo has the model list the program's own call and another one.
func turnOfTwo(r *recorder, think string, calls ...call) []call {
	two := []call{calls[0], r.other(find(r.task.needs[0].noun))}
	if r.w.rng.Intn(2) == 0 {
		slices.Reverse(two)
	}
	text := think
	for i, c := range two {
		value := c.args["q"]
		if value == nil {
			value = c.args["product_ids"]
		}
		text += fmt.Sprintf("\n%d) %s %q", i+1, map[string]string{"find_product": "look for", "view_product_information": "look at"}[c.name], fmt.Sprint(value))
	}
	r.say(text)
	return r.run(think, calls)
}

// turnAsksToSearch has the model search and open; the program recommends by itself.
func turnAsksToSearch(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "find_product" || calls[0].name == "view_product_information" {
		r.infer(think, calls...)
	}
	return r.run(think, calls)
}

// TestCopiedLog checks that an agent with another agent's replies of an hour earlier counts as
// having asked no model. The agent that had them first, and an attempt that is in the day twice,
// are not affected.
func TestCopiedLog(t *testing.T) {
	t.Parallel()
	for after, want := range map[int64]arena.Axis{0: arena.AxisAgentic, 3_600_000: arena.AxisScripted} {
		day := playDays(familyNamed("honest native"), days{13040, 6})
		for _, l := range day {
			l.trace, l.family = rewrite(l.trace, func(s string) string { return s }), "copy"
			l.trace.RunID = "copy"
			for i := range l.trace.Steps {
				for j := range l.trace.Steps[i].Proxy {
					l.trace.Steps[i].Proxy[j].AtMS += after
				}
			}
			day = append(day, l)
		}
		for _, j := range judgeDay(t, day) {
			wantAxis := arena.AxisAgentic
			if j.family == "copy" {
				wantAxis = want
			}
			if j.after.Axis != wantAxis {
				t.Errorf("%s %s, %d ms later: %s", j.family, j.trace.ID, after, j.after.Axis)
			}
		}
	}
}
