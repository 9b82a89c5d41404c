package filters_test

import (
	"fmt"
	"testing"

	"github.com/trajectory-arena/arena"
)

// TestGrounding: thoughts with prices that nobody showed are another episode's, and
// searches for words that nobody said an answer table's, though every call was
// named; who invents the products, too, only guesses.
func TestGrounding(t *testing.T) {
	t.Parallel()
	tape := func(r *recorder) {
		shown := ids(r.act("Let me see.", find(r.task.needs[0].noun))[0])
		i := r.w.rng.Intn(len(shown))
		think := func() string {
			return fmt.Sprintf("It costs %d, not %d.", 7000000+r.w.rng.Intn(999999), 8000000+r.w.rng.Intn(999999))
		}
		r.act(think(), view(shown[i]))
		r.act(think(), recommend(shown[i]), finish())
	}
	table := func(r *recorder) {
		p := r.w.products[r.w.rng.Intn(len(r.w.products))]
		r.act("Let me see.", find(p.title))
		r.act("This one.", recommend(p.id), finish())
	}
	guesser := func(r *recorder) {
		r.act("Let me see.", find(r.task.needs[0].noun))
		id := fmt.Sprint(7000000000 + r.w.rng.Intn(999999999))
		r.act(fmt.Sprintf("It costs %d.", 7000000+r.w.rng.Intn(999999)), recommend(id), finish())
	}
	for name, c := range map[string]struct {
		play func(*recorder)
		rule string
	}{"tape": {tape, "replayed_text"}, "answer table": {table, "answer_table"}, "guesser": {guesser, ""}} {
		for _, j := range judgeDay(t, playDays(agent{name, days{}, false, nil, c.play}, days{1000, 30})) {
			if got := j.after.Axis == arena.AxisScripted; got != (c.rule != "") {
				t.Fatalf("%s: %s, %+v", name, j.after.Axis, j.stats)
			}
			if j.before.Axis != arena.AxisAgentic {
				t.Fatalf("%s: the first pass says %s, though everything was named", name, j.before.Axis)
			}
		}
	}
}
