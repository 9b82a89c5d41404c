package filters_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
)

// ladder is one program in better and better disguise, check by check; its last
// rung is a model that really decides.
var ladder = []agent{
	{"bare program", many(5000), false, nil, program(turnScript)},
	{"+ a chat per step", many(5010), false, nil, program(turnChat)},
	{"+ the model tells afterwards", many(5020), false, nil, program(turnNarrate)},
	{"+ it names some call", many(5030), false, nil, program(turnOverride)},
	{"+ it repeats the program's call", many(5040), false, nil, program(turnPuppet)},
	{"+ it repeats a thought with data", many(5050), false, nil, program(turnPuppetSpeech)},
	{"+ dice over tools and products", many(5060), false, nil, jitters(turnPuppetSpeech)},
	{"a model that decides", many(5070), true, nil, honest(turnPlain, talks)},
}

// TestCostOfCheating checks the table of docs/measured/filter.md: the cost of each disguise in
// inference calls and in solved slots, and its gain.
func TestCostOfCheating(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	fmt.Fprintf(&b, "%-34s %10s %8s %12s %12s %11s\n", "disguise", "inference", "solved", "first pass", "both passes", "adaptivity")
	type row struct {
		n, calls, slots, solved, first, both int
		adaptivity                           float64
	}
	rows := map[string]*row{}
	for _, j := range judgeDay(t, play(ladder)) {
		r := rows[j.family]
		if r == nil {
			r = &row{}
			rows[j.family] = r
		}
		r.n++
		r.calls += j.trace.InferenceTotal
		r.slots += len(j.task.needs)
		r.solved += solved(j.labelled)
		r.first += right(j.before.Axis, true)
		r.both += right(j.after.Axis, true)
		r.adaptivity += j.stats.Adaptivity.Point
	}
	for _, a := range ladder {
		r := rows[a.name]
		per := func(n int) float64 { return float64(n) / float64(r.n) }
		fmt.Fprintf(&b, "%-34s %10.1f %8.2f %12.2f %12.2f %11.2f\n", a.name, per(r.calls), float64(r.solved)/float64(r.slots), per(r.first), per(r.both), r.adaptivity/float64(r.n))
	}
	golden(t, "costs.txt", b.String())
}

// solved counts the slots whose product matches the request: the noun, the material and the look.
func solved(l labelled) (n int) {
	var chosen []string
	for _, s := range l.trace.Steps {
		for _, c := range s.Calls {
			if c.Name == "recommend_product" {
				chosen = strings.Split(productIDs(c), ",")
			}
		}
	}
	for i, need := range l.task.needs {
		if i < len(chosen) {
			p := titleOf(l.trace, chosen[i])
			if strings.Contains(p, need.noun) && strings.Contains(p, need.wants[0]) && strings.Contains(p, need.wants[1]) {
				n++
			}
		}
	}
	return n
}

func productIDs(c arena.ToolCall) string {
	var args struct {
		IDs string `json:"product_ids"`
	}
	json.Unmarshal([]byte(c.Arguments), &args)
	return args.IDs
}

// titleOf finds a product's title in the results of an attempt.
func titleOf(tr *arena.Trace, id string) string {
	for _, s := range tr.Steps {
		for _, c := range s.Calls {
			var rows []struct {
				ID    string `json:"product_id"`
				Title string `json:"title"`
			}
			json.Unmarshal([]byte(c.Result), &rows)
			for _, r := range rows {
				if r.ID == id && r.Title != "" {
					return r.Title
				}
			}
		}
	}
	return ""
}
