package filters_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
)

// visitors are families that a fourth generator, written before this package was
// read, held against the filter; what it got wrong was mended on them.
var visitors = []agent{
	{"honest client opens together", true, style("native"), honest(turnTogether, talks)},
	{"honest model counts products", true, nil, honest(turnNumbers, talks)},
	{"honest client cuts queries", true, nil, honest(turnCutsQueries, talks)},
	{"honest votes among choices", true, nil, honest(turnBallots, talks)},
	{"honest client cuts results", true, style("hermes"), honest(turnCutsResults, talks)},

	{"puppet, brand first in requests", false, style("native"), brandFirst(turnPuppetSpeech)},
	{"puppet, no thinking, brand first", false, func(r *recorder) { r.mute = true }, brandFirst(turnPuppet)},
	{"log with quick replies", false, func(r *recorder) { r.quick = true }, honest(turnPlain, talks)},
	{"replies written afterwards", false, nil, honest(turnAfterwards, talks)},
	{"nonce of nobody", false, func(r *recorder) { r.replyNonce = "malformed" }, program(turnPuppetSpeech)},
}

// turnTogether names one product a call, and the client opens all at once.
func turnTogether(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "view_product_information" {
		named = named[:0]
		for _, id := range strings.Split(fmt.Sprint(calls[0].args["product_ids"]), ",") {
			named = append(named, view(id))
		}
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// turnNumbers has a client that numbers the products of each list.
func turnNumbers(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "view_product_information" {
		var numbers []string
		for _, id := range strings.Split(fmt.Sprint(calls[0].args["product_ids"]), ",") {
			numbers = append(numbers, fmt.Sprintf("#%d", 1+slices.Index(r.lastShown(), id)))
		}
		named[0] = view(numbers...)
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// turnCutsQueries has a client that sends the first words of a search.
func turnCutsQueries(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "find_product" {
		words := strings.Fields(fmt.Sprint(calls[0].args["q"]))
		named[0] = find(strings.Join(append(words, "for home"), " "))
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// turnBallots asks for three answers at once, the last of which is taken.
func turnBallots(r *recorder, think string, calls ...call) []call {
	var choices []any
	for i, c := range [][]call{{find("something else")}, {view("1000000000")}, calls} {
		choices = append(choices, map[string]any{"index": i, "message": r.message(think, c)})
	}
	r.nextID++
	body, _ := json.Marshal(map[string]any{"id": fmt.Sprintf("vote-%s-%d", r.task.id, r.nextID), "choices": choices})
	d := r.tick(800, 6000)
	r.log(arena.ProxyCall{Method: "POST", Path: "/inference/chat/completions", AtMS: r.now, DurationMS: float64(d), Status: 200}, string(body))
	r.asked++
	return r.run(think, calls)
}

// turnCutsResults shows the model the beginning of each list as text.
func turnCutsResults(r *recorder, think string, calls ...call) []call {
	r.act(think, calls...)
	shown := &r.steps[len(r.steps)-1].Calls[0]
	if calls[0].name == "find_product" && len(shown.Result) > 400 {
		text, _ := json.Marshal(string(shown.Result)[:400-r.w.rng.Intn(100)] + "...")
		shown.Result = arena.Raw(text)
	}
	return calls
}

// brandFirst has a program at requests in several wordings, where a brand stands
// before the thing, and the thing may come first or last in the search.
func brandFirst(turn func(r *recorder, calls ...call)) func(*recorder) {
	return func(r *recorder) {
		var said []string
		for _, n := range r.task.needs {
			name := n.noun
			if len(n.wants) > 2 {
				name = n.wants[2] + " " + n.noun
			}
			said = append(said, fmt.Sprintf(pick(r.w, []string{"a %s in %s, %s look", "one %s made from %s (%s)", "the %s of %s that is %s"}), name, n.wants[0], n.wants[1]))
		}
		r.task.query = pick(r.w, []string{"hi, I want ", "Get me ", "Looking for "}) + strings.Join(said, " and ")
		var chosen []string
		for _, n := range r.task.needs {
			words := append(slices.Clone(n.wants[2:]), n.wants[0], n.noun)
			c := find(strings.Join(words, " "))
			turn(r, c)
			shown := ids(find0(r, c))
			if len(shown) == 0 {
				continue
			}
			shown = shown[:min(3, len(shown))]
			turn(r, view(shown...))
			chosen = append(chosen, shown[r.judge(shown, n)])
		}
		turn(r, recommend(chosen...), finish())
	}
}

// turnAfterwards sends the calls first; the log then says that the model was
// asked before, and for longer than that.
func turnAfterwards(r *recorder, think string, calls ...call) []call {
	if calls[0].name != "view_product_information" {
		return r.act(think, calls...)
	}
	r.infer(think, calls...)
	written := &r.proxy[len(r.proxy)-1]
	written.DurationMS += 20000
	return r.run(think, calls)
}

// TestToldAnswers: a product that no result held and that others found on the
// day was told; one that nobody knows was made up.
func TestToldAnswers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]arena.Axis{"found by others": arena.AxisScripted, "found by nobody": arena.AxisAgentic} {
		teller := agent{name, false, nil, func(r *recorder) {
			id := "8765432109"
			if want == arena.AxisScripted {
				for _, p := range r.w.search(map[string]any{"q": r.task.needs[0].noun}) {
					id = p.id
				}
			}
			r.act("It must be this one, I am sure of it.", recommend(id), finish())
		}}
		finder := agent{"finder", true, nil, func(r *recorder) {
			shown := ids(r.act("Let me see what there is.", find(r.task.needs[0].noun))[0])
			r.act("The last one, please.", recommend(shown[len(shown)-1]), finish())
		}}
		teller.play, finder.play = sameTask(teller.play), sameTask(finder.play)
		for _, j := range judgeDay(t, playTasks([]agent{teller, finder}, 1, 6)) {
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
