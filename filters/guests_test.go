package filters_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// guests are families that a third generator, written before this package was
// read, held against the filter; what it got wrong was mended on them.
var guests = []agent{
	{"honest own names of tools", true, func(r *recorder) { r.form = ownNames }, honest(turnPlain, talks)},
	{"honest writes Python", true, func(r *recorder) { r.form = python }, honest(turnPlain, talks)},
	{"honest labels in Japanese", true, func(r *recorder) { r.form = japaneseLabels }, honest(turnPlain, elsewhere)},
	{"honest keys of its own", true, func(r *recorder) { r.form = ownKeys }, honest(turnPlain, talks)},
	{"honest without data", true, nil, honest(turnChooses, serene)},
	{"honest and thrifty", true, style("hermes"), honest(turnThrifty, talks)},

	{"puppet opens the cheapest", false, style("native"), program(turnCheapest)},
	{"puppet with one plan", false, nil, onePlan},
	{"overrides now and then", false, nil, honest(turnOverridesSome, talks)},
	{"writes even times", false, func(r *recorder) { r.lasting = 137.5 }, honest(turnPlain, talks)},
}

// ownNames is JSON for tools that have the author's names and arguments.
func ownNames(think string, calls []call) string {
	names := map[string]string{"find_product": "lookup", "view_product_information": "open_pages", "recommend_product": "answer", "terminate": "quit"}
	var b strings.Builder
	b.WriteString("<think>" + think + "</think>")
	for _, c := range calls {
		args := map[string]any{}
		for key, value := range c.args {
			switch key {
			case "q":
				args["text"] = value
			case "product_ids":
				args["items"] = strings.Split(fmt.Sprint(value), ",")
			case "price":
				args["at_most"] = strings.TrimPrefix(fmt.Sprint(value), "0-")
			}
		}
		one, _ := json.Marshal(map[string]any{"tool": names[c.name], "args": args})
		b.WriteString("<tool_call>" + string(one) + "</tool_call>")
	}
	return b.String()
}

func python(think string, calls []call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", think)
	for _, c := range calls {
		var args []string
		for _, key := range slices.Sorted(keysOf(c.args)) {
			value, _ := json.Marshal(c.args[key])
			args = append(args, key+"="+string(value))
		}
		fmt.Fprintf(&b, "out = %s(%s)\nprint(out)\n", c.name, strings.Join(args, ", "))
	}
	return "```python\n" + b.String() + "```"
}

func keysOf(args map[string]any) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for key := range args {
			if !yield(key) {
				return
			}
		}
	}
}

func japaneseLabels(think string, calls []call) string {
	text := "思考：" + think
	for _, c := range calls {
		args, _ := json.Marshal(c.args)
		text += "\n行動：" + c.name + "\n入力：" + string(args)
	}
	return text
}

func ownKeys(think string, calls []call) string {
	var all []any
	for _, c := range calls {
		all = append(all, map[string]any{"thought": think, "action": c.name, "action_input": c.args})
	}
	body, _ := json.Marshal(all)
	return string(body)
}

// serene never speaks of what it saw in any word or number of its own.
func serene(r *recorder, what string, _ []string) string {
	return what + pick(r.w, []string{" Patience will tell more than haste.", " One of these is nearer to the wish than its neighbours.", " I would rather read on before I decide.", " There may be better ones further down."})
}

// turnChooses opens what fits best beside another, wherever they stand.
func turnChooses(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "view_product_information" {
		shown := r.lastShown()
		best := shown[r.judge(shown, r.task.needs[0])]
		calls[0] = view(slices.Compact([]string{best, shown[r.w.rng.Intn(len(shown))]})...)
	}
	return r.act(think, calls...)
}

// lastShown is what the latest search with results brought.
func (r *recorder) lastShown() []string {
	for i := len(r.steps) - 1; i >= 0; i-- {
		for _, c := range r.steps[i].Calls {
			if shown := ids(call{result: string(c.Result)}); c.Name == "find_product" && len(shown) > 0 {
				return shown
			}
		}
	}
	return []string{r.w.products[0].id}
}

// turnThrifty opens the cheapest more often than not.
func turnThrifty(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "view_product_information" && r.w.rng.Intn(5) < 3 {
		calls[0] = view(cheapest(r, r.lastShown(), 1+r.w.rng.Intn(2))...)
	}
	return r.act(think, calls...)
}

// turnCheapest opens the two cheapest of what was found.
func turnCheapest(r *recorder, calls ...call) {
	if calls[0].name == "view_product_information" {
		calls[0] = view(cheapest(r, r.lastShown(), 2)...)
	}
	turnPuppetSpeech(r, calls...)
}

// onePlan searches for all words in the order of the request, throws dice over
// what to open, and speaks of it.
func onePlan(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		c := find(strings.Join(append([]string{n.noun}, n.wants...), " "))
		turnPuppet(r, c)
		shown := ids(find0(r, c))
		r.w.rng.Shuffle(len(shown), func(i, j int) { shown[i], shown[j] = shown[j], shown[i] })
		turnPuppetSpeech(r, view(shown[:min(1+r.w.rng.Intn(3), len(shown))]...))
		chosen = append(chosen, shown[0])
	}
	turnPuppetSpeech(r, recommend(chosen...), finish())
}

// turnOverridesSome lets every second of the model's calls stand.
func turnOverridesSome(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "find_product" && r.w.rng.Intn(2) == 0 {
		named[0] = find(pick(r.w, nouns) + " " + pick(r.w, colours))
	}
	r.infer(think, named...)
	return r.run(think, calls)
}
