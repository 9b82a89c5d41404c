package filters_test

import (
	"fmt"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// TestGrounding checks that thoughts with prices of no result count as taken from another episode,
// and searches for words of no request or result as taken from an answer table, although every call
// was named. An agent that also invents the products only guesses.
func TestGrounding(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		play func(*recorder)
		rule string
	}{"tape": {tape, "replayed_text"}, "answer table": {table, "answer_table"}, "guesser": {guesser, ""}} {
		for _, j := range judgeDay(t, playDays(agent{name, days{}, false, nil, c.play}, days{1000, 30})) {
			if got := j.after.Axis == arena.AxisScripted; got != (c.rule != "") {
				t.Fatalf("%s: %s, %+v", name, j.after.Axis, j.stats)
			}
			if j.before.Axis != arena.AxisAgentic {
				t.Fatalf("%s: the axis of the first pass is %s, though everything was named", name, j.before.Axis)
			}
		}
	}
}

// tape mentions prices that no result showed.
func tape(r *recorder) {
	products := ids(r.act("Let me see.", find(r.task.needs[0].noun))[0])
	i := r.w.rng.Intn(len(products))
	think := func() string {
		return fmt.Sprintf("It costs %d, not %d.", 7000000+r.w.rng.Intn(999999), 8000000+r.w.rng.Intn(999999))
	}
	r.act(think(), view(products[i]))
	r.act(think(), recommend(products[i]), finish())
}

// table searches for a title that neither the request nor a result contains.
func table(r *recorder) {
	p := r.w.products[r.w.rng.Intn(len(r.w.products))]
	r.act("Let me see.", find(p.title))
	r.act("This one.", recommend(p.id), finish())
}

// guesser invents the products that it mentions and recommends.
func guesser(r *recorder) {
	r.act("Let me see.", find(r.task.needs[0].noun))
	id := fmt.Sprint(7000000000 + r.w.rng.Intn(999999999))
	r.act(fmt.Sprintf("It costs %d.", 7000000+r.w.rng.Intn(999999)), recommend(id), finish())
}

// TestReweightingSparesModels tests a leaderboard of real agents, the reference client, published
// programs, a replay and an answer table. The second pass takes no confidence from an honest agent;
// programs, replay and table keep the minimum.
func TestReweightingSparesModels(t *testing.T) {
	t.Parallel()
	judged := judgeDay(t, readDay(t, longtest.Shared(t, "data/axis")))
	judged = append(judged, judgeDay(t, playDays(agent{"tape", days{}, false, nil, tape}, days{1000, 30}))...)
	judged = append(judged, judgeDay(t, playDays(agent{"table", days{}, false, nil, table}, days{1000, 30}))...)
	var first, both []filters.Scored
	honest := map[string]bool{}
	lost := 0
	for i, j := range judged {
		s := filters.Scored{Agent: j.family, Problem: fmt.Sprint(i), Success: true, Richness: filters.RichnessOf(&j.before)}
		first = append(first, s)
		s.Richness = filters.RichnessOf(&j.after)
		both = append(both, s)
		honest[j.family] = j.agentic
		if j.agentic && s.Richness[2] < first[i].Richness[2] {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d honest attempts lose to the first pass", lost)
	}
	for _, s := range filters.Reweight(both).Standings {
		t.Logf("%-18s honest %v: base %.3f, args %.3f, rank %d", s.Agent, honest[s.Agent], s.Scores[0], s.Scores[3], s.Ranks[3])
		isTooHigh := !honest[s.Agent] && s.Scores[3] > 0.3+1e-9
		isTooLow := s.Agent == "reference-cite" && s.Scores[3] < 0.95
		if isTooHigh || isTooLow {
			t.Errorf("%s: %.3f under args", s.Agent, s.Scores[3])
		}
	}
}
