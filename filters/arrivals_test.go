package filters_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
)

// arrivals are families that a seventh generator, written before this package was
// read, held against the filter, and such as its mending could have harmed.
var arrivals = []agent{
	{"honest blocks of calls", true, style("blocks"), honest(turnPlain, talks)},
	{"honest own objects", true, func(r *recorder) { r.form = ownObjects }, honest(turnPlain, talks)},
	{"honest commands with lists", true, commands("%s[[%q]]"), honest(turnPlain, talks)},
	{"honest commands in attributes", true, commands("<%s page='1' what=%q/>"), honest(turnPlain, talks)},
	{"honest commands as keys", true, commands("{%q: %q}"), honest(turnPlain, talks)},
	{"honest commands as outer keys", true, commands("{%q: {\"page\": 1, \"what\": [%q]}}"), honest(turnPlain, talks)},
	{"honest token before objects", true, func(r *recorder) { r.form = afterToken }, honest(turnPlain, terse)},
	{"honest client resends", true, nil, honest(turnResends, talks)},
	{"honest keeps to a course", true, style("native"), course(2, 4)},

	{"puppet reckons vouchers", false, style("native"), course(1, 1)},
	{"embeddings alone", false, nil, program(turnEmbeds)},
	{"asks for words and choices in objects", false, nil, fillsSlots("{\"words\": %q}", "{\"best\": %q}")},
	{"falls back at once", false, fails, program(turnScript)},
}

// ownObjects writes each call as an object in which all is the author's own.
func ownObjects(think string, calls []call) string {
	names := map[string]string{"find_product": "seek", "view_product_information": "peek", "recommend_product": "take", "terminate": "bye"}
	list := []any{}
	for _, c := range calls {
		with := map[string]any{}
		for key, value := range c.args {
			if key == "product_ids" {
				value = strings.Split(fmt.Sprint(value), ",")
			}
			with["a_"+key] = value
		}
		list = append(list, map[string]any{"go": names[c.name], "with": with})
	}
	body, _ := json.Marshal(map[string]any{"because": think, "steps": list})
	return string(body)
}

// afterToken is how some models write a call before a server parses it.
func afterToken(_ string, calls []call) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, `<|python_tag|>{"name": %q, "parameters": {`, c.name)
		for i, key := range slices.Sorted(keysOf(c.args)) {
			value, _ := json.Marshal(c.args[key])
			fmt.Fprintf(&b, "%s%q: %s", strings.Repeat(", ", min(i, 1)), key, value)
		}
		b.WriteString("}}")
	}
	return b.String()
}

// turnResends names two searches, and the shop fails on the first of them.
func turnResends(r *recorder, think string, calls ...call) []call {
	if calls[0].name != "find_product" {
		return r.act(think, calls...)
	}
	second := calls[0]
	second.args = find(fmt.Sprint(calls[0].args["q"]) + " " + pick(r.w, colours)).args
	r.infer(think, calls[0], second)
	r.do(&calls[0])
	failed := &r.proxy[len(r.proxy)-1]
	failed.Status, failed.Response, failed.Length = 0, "", -1
	done := r.run(think, []call{calls[0], second})
	return done[:1]
}

// turnEmbeds has a program ask a model for numbers only, which the sandbox counts.
func turnEmbeds(r *recorder, calls ...call) {
	r.run("Ranked by likeness.", calls)
	r.tick(80, 300)
	r.log(arena.ProxyCall{Method: "POST", Path: "/inference/embeddings", AtMS: r.now, DurationMS: 60, Status: 200}, `{"object":"list","data":[{"embedding":[0.1,-0.2]}]}`)
	r.asked++
}

// fails has a model that was asked and never answered.
func fails(r *recorder) {
	for range 2 {
		r.log(arena.ProxyCall{Method: "POST", Path: "/inference/chat/completions", AtMS: r.now, DurationMS: 300, Status: 503}, "")
		r.tick(300, 900)
		r.asked++
	}
}

// course searches in one order of words, opens so many products that fit, reckons
// where the request speaks of money, and recommends.
func course(least, most int) func(*recorder) {
	return func(r *recorder) {
		var chosen []string
		for _, n := range r.task.needs {
			shown := ids(r.act("Searching.", find(n.noun+" "+n.wants[0]+" "+n.wants[1]))[0])
			best := r.judge(shown, n)
			open := []string{shown[best]}
			for len(open) < least+r.w.rng.Intn(most-least+1) {
				open = append(open, shown[(best+len(open))%len(shown)])
			}
			r.act(talks(r, "These.", open), view(open...))
			chosen = append(chosen, open[0])
		}
		if r.task.needs[0].price > 0 {
			r.act("The sum.", call{name: "calculate_voucher", args: map[string]any{"product_prices": "10,20", "budget": 40}, result: `{"total_after":30}`})
		}
		r.act("Done.", recommend(chosen...), finish())
	}
}

// TestWhatRepliesName: calls in blocks, after tokens and in the author's own
// objects, and requests that were sent again, are the model's, one by one.
func TestWhatRepliesName(t *testing.T) {
	t.Parallel()
	for _, a := range arrivals[:8] {
		r := &recorder{w: newWorld(7), task: newWorld(7).task(1), limit: 4000, now: start}
		if a.setUp != nil {
			a.setUp(r)
		}
		a.play(r)
		links := linksOf(t, r.trace(a.name))
		if not, by := links["unnamed"]+links["overridden"]+links["stale"], links["named"]+links["named_loosely"]; not > 0 || by == 0 {
			t.Errorf("%s: %v dispatches are named, %v not", a.name, by, not)
		}
	}
}

// TestNumbersEndWithinObjects: a number after a key ends where JSON goes on.
func TestNumbersEndWithinObjects(t *testing.T) {
	t.Parallel()
	r := &recorder{w: newWorld(7), task: newWorld(7).task(1), limit: 4000, now: start, form: afterToken}
	r.act("", find("linen goblet", "page", 2, "price", "0-900", "shop_id", "7"))
	r.act("", recommend("1000000001"))
	if links := linksOf(t, r.trace("numbers")); links["named"] != 1 {
		t.Errorf("%v of 1 dispatches is named", links["named"])
	}
}

// TestNobodySpoke: where models gave numbers alone, or failed each time, a program
// acted, whatever the sandbox counts.
func TestNobodySpoke(t *testing.T) {
	t.Parallel()
	for _, family := range []string{"embeddings alone", "falls back at once"} {
		for _, j := range judgeDay(t, playTasks(familyNamed(family), 7, 6)) {
			if j.after.Axis != arena.AxisScripted {
				t.Errorf("%s: the axis is %s", family, j.after.Axis)
			}
		}
	}
}

// TestChecksAreCommands: details that a match asked for are told by its own name,
// not by that of openings, and the searches over one shop by their list.
func TestChecksAreCommands(t *testing.T) {
	t.Parallel()
	r := &recorder{w: newWorld(7), task: newWorld(7).task(1), limit: 4000, now: start}
	search := find("linen goblet rustic")
	shown := ids(find0(r, search))
	r.say(`seek["linen goblet rustic"]`)
	r.run("", []call{search})
	r.say("peek[" + shown[1] + "]")
	r.run("", []call{view(shown[1])})
	r.say("test[" + shown[2] + "]")
	details := view(shown[2])
	r.do(&details)
	r.step("", &call{name: "check_product_match", args: map[string]any{"product_id": shown[2]}, result: `{"matched":true}`})
	r.say(`both[[{\"q\": \"oak lamp\"}, {\"q\": \"tin bowl\"}]]`)
	one, other := find("oak lamp"), find("tin bowl", "shop_id", "7")
	r.do(&one)
	r.do(&other)
	r.step("", &call{name: "find_products_in_same_shop", args: map[string]any{"product_queries": `[{"q": "oak lamp"}, {"q": "tin bowl"}]`}, result: `{"found":false}`})
	r.say("take[" + shown[2] + "]")
	r.run("", []call{recommend(shown[2])})
	if links := linksOf(t, r.trace("checks")); links["named"]+links["named_loosely"]+links["derived"] != 5 {
		t.Errorf("%v of 5 dispatches are named", links["named"]+links["named_loosely"]+links["derived"])
	}
}

// TestPlansByKindOfRequest: a plan may begin otherwise for another kind of request;
// who opens now more, now fewer products follows none.
func TestPlansByKindOfRequest(t *testing.T) {
	t.Parallel()
	f, err := filters.New(filters.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	day := func(breadth func(i int) int) []filters.Sample {
		all := make([]filters.Sample, 24)
		for i := range all {
			kind := uint64(i % 2)
			all[i] = filters.Sample{Attempt: uint64(i), Slots: 2, Tools: 3 + kind, Asks: 3 + kind, Begun: 1 + int(kind), Breadth: breadth(i), Forms: []uint64{7}}
		}
		return all
	}
	if a := f.AgentDay(day(func(int) int { return 1 }), nil); a.Sequence < 1 || a.Plan < 1 {
		t.Errorf("two kinds of requests: sequence %v, plan %v, want 1 and 1", a.Sequence, a.Plan)
	}
	if a := f.AgentDay(day(func(i int) int { return 1 + i%3 }), nil); a.Sequence > 0 || a.Plan > 0 {
		t.Errorf("one to three products: sequence %v, plan %v, want 0 and 0", a.Sequence, a.Plan)
	}
}
