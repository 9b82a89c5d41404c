package filters_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// leftOutModels were written after the rules for plans, sorting, overruling and
// foreign dialects, and changed nothing any more.
var leftOutModels = []agent{
	{"honest in YAML", true, func(r *recorder) { r.form = yaml }, honest(turnPlain, talks)},
	{"honest in tags of its own", true, func(r *recorder) { r.form = ownTags }, honest(turnPlain, elsewhere)},
	{"honest in special tokens", true, func(r *recorder) { r.form = tokens }, honest(turnPlain, talks)},
	{"honest in loops of code", true, func(r *recorder) { r.form = loops }, honest(turnPlain, talks)},
	{"honest own names in lines", true, func(r *recorder) { r.form = ownLines }, honest(turnPlain, talks)},
	{"honest thinks in tags, acts in lines", true, func(r *recorder) { r.form = tagsThenLines }, honest(turnPlain, wordy)},
	{"honest changes its form", true, nil, changesForm},
	{"honest keys of its own, terse", true, func(r *recorder) { r.form = ownKeys }, honest(turnPlain, terse)},
	{"honest and cold", true, style("native"), cold},
	{"honest always opens two", true, nil, honest(turnFirstTwo, talks)},
	{"honest outvoted", true, nil, honest(turnOutvoted, talks)},
	{"honest manager and worker", true, style("native"), honest(turnManaged, talks)},
	{"honest client opens fewer", true, nil, honest(turnFewer, talks)},
	{"honest client in lower case", true, func(r *recorder) { r.wire = lowered }, honest(turnCapitals, talks)},
	{"honest after a veto", true, style("fenced"), honest(turnVetoed, talks)},
	{"honest in two batches", true, style("native"), twoBatches},
	{"honest gives up", true, nil, givesUp},
	{"honest rounds prices", true, nil, honest(turnPlain, rounds)},
	{"honest misspells calls", true, nil, honest(turnMisspelt, talks)},
}

func yaml(think string, calls []call) string {
	text := think
	for _, c := range calls {
		text += "\ntool: " + c.name
		for _, key := range slices.Sorted(keysOf(c.args)) {
			text += fmt.Sprintf("\n%s: %v", key, c.args[key])
		}
	}
	return text
}

func ownTags(think string, calls []call) string {
	text := think
	for _, c := range calls {
		text += "\n<" + c.name + ">"
		for _, key := range slices.Sorted(keysOf(c.args)) {
			text += fmt.Sprintf("<%s>%v</%s>", key, c.args[key], key)
		}
		text += "</" + c.name + ">"
	}
	return text
}

func tokens(think string, calls []call) string {
	text := think + "<|calls_begin|>"
	for _, c := range calls {
		args, _ := json.Marshal(c.args)
		text += "<|call|>functions." + c.name + ":0<|arguments|>" + string(args) + "<|end|>"
	}
	return text
}

// loops is code whose arguments are known only where it runs; the answer is
// written out.
func loops(think string, calls []call) string {
	text := "# " + think
	for _, c := range calls {
		switch c.name {
		case "find_product":
			text += "\nfor wish in wishes:\n    found += find_product(q=wish)"
		case "view_product_information":
			text += "\npages = view_product_information(product_ids=\",\".join(best))"
		case "recommend_product":
			text += fmt.Sprintf("\nrecommend_product(product_ids=%q)", c.args["product_ids"])
		}
	}
	return text
}

func ownLines(think string, calls []call) string {
	names := map[string]string{"find_product": "Suche", "view_product_information": "Ansehen", "recommend_product": "Antwort", "terminate": "Ende"}
	text := "Thought: " + think
	for _, c := range calls {
		args := map[string]any{}
		for key, value := range c.args {
			args[map[string]string{"q": "worte", "product_ids": "nummern", "page": "seite", "price": "preis", "status": "stand"}[key]] = value
		}
		input, _ := json.Marshal(args)
		text += "\nAction: " + names[c.name] + "\nAction Input: " + string(input)
	}
	return text
}

func tagsThenLines(think string, calls []call) string {
	text := "<think>" + think + "</think>"
	for _, c := range calls {
		args, _ := json.Marshal(c.args)
		text += "\nAction: " + c.name + "\nAction Input: " + string(args)
	}
	return text
}

// changesForm is a model that writes each call in another form.
func changesForm(r *recorder) {
	forms := []func(string, []call) string{yaml, ownTags, tokens, python, ownKeys, tagsThenLines, japaneseLabels}
	r.form = func(think string, calls []call) string { return forms[r.w.rng.Intn(len(forms))](think, calls) }
	honest(turnPlain, talks)(r)
}

// cold is a model at temperature zero: it words its searches in one way, opens
// one or two, and searches for less where the pages do not convince it.
func cold(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		words := append(slices.Clone(n.wants), n.noun)
		var shown []string
		for range 3 {
			shown = ids(turnPlain(r, talks(r, "Searching.", shown), find(strings.Join(words, " ")))[0])
			best := shown[r.judge(shown, n)]
			turnPlain(r, talks(r, "Reading.", []string{best}), view(best))
			if p, _ := r.w.byID(best); p.words[n.wants[0]] && p.words[n.wants[1]] || len(words) < 3 {
				break
			}
			words = words[1:]
		}
		chosen = append(chosen, shown[r.judge(shown, n)])
	}
	turnPlain(r, talks(r, "Settled.", chosen), recommend(chosen...), finish())
}

func turnFirstTwo(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "view_product_information" {
		shown := r.lastShown()
		calls[0] = view(shown[:min(2, len(shown))]...)
	}
	return r.act(think, calls...)
}

// turnOutvoted has a first reply that wants something else.
func turnOutvoted(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "find_product" {
		r.infer("Or rather this.", find(pick(r.w, materials)+" "+r.task.needs[0].noun))
	}
	return r.act(think, calls...)
}

// turnManaged has a manager say what is wanted and a worker report what it saw.
func turnManaged(r *recorder, think string, calls ...call) []call {
	r.say(`{"assign": "worker", "task": "` + r.task.needs[0].noun + `"}`)
	out := r.act(think, calls...)
	if calls[0].name == "view_product_information" {
		r.say("Report: " + think)
	}
	return out
}

// turnFewer has a client that opens at most two of the products named.
func turnFewer(r *recorder, think string, calls ...call) []call {
	r.infer(think, calls...)
	if calls[0].name == "view_product_information" {
		all := strings.Split(fmt.Sprint(calls[0].args["product_ids"]), ",")
		calls[0] = view(all[:min(2, len(all))]...)
	}
	return r.run(think, calls)
}

func lowered(args map[string]any) map[string]any {
	args["q"] = strings.ToLower(fmt.Sprint(args["q"]))
	return args
}

func turnCapitals(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "find_product" {
		calls[0].args["q"] = strings.ToUpper(fmt.Sprint(calls[0].args["q"]))
	}
	return r.act(think, calls...)
}

// turnVetoed has a critic refuse a first proposal now and then.
func turnVetoed(r *recorder, think string, calls ...call) []call {
	if r.w.rng.Intn(3) == 0 {
		r.infer("At once.", recommend(r.lastShown()[0]))
		r.say("No. Too early, look first.")
	}
	return r.act(think, calls...)
}

// twoBatches asks for all searches in one reply and all openings in the next.
func twoBatches(r *recorder) {
	var finds, views []call
	var chosen []string
	for _, n := range r.task.needs {
		finds = append(finds, find(r.phrase(n, 0)))
	}
	finds = turnPlain(r, "", finds...)
	for i, f := range finds {
		shown := ids(f)
		best := shown[r.judge(shown, r.task.needs[i])]
		views = append(views, view(slices.Compact([]string{best, shown[r.w.rng.Intn(len(shown))]})...))
		chosen = append(chosen, best)
	}
	turnPlain(r, talks(r, "Details.", chosen), views...)
	turnPlain(r, "", recommend(chosen...), finish())
}

func givesUp(r *recorder) {
	shown := []string{}
	for try := range 1 + r.w.rng.Intn(3) {
		shown = ids(turnPlain(r, talks(r, "Searching.", shown), find(r.phrase(r.task.needs[0], try)))[0])
	}
	turnPlain(r, talks(r, "None of these.", shown), call{name: "terminate", args: map[string]any{"status": "failure"}, result: `"The interaction has been completed with status: failure"`})
}

// rounds speaks of prices as people do.
func rounds(r *recorder, what string, shown []string) string {
	if len(shown) == 0 {
		return what
	}
	p, _ := r.w.byID(shown[r.w.rng.Intn(len(shown))])
	return what + fmt.Sprintf(" The %s one for about %.0f?", strings.Fields(p.title)[0], p.price)
}

// turnMisspelt has a model whose calls cannot be read at first.
func turnMisspelt(r *recorder, think string, calls ...call) []call {
	if r.w.rng.Intn(4) == 0 {
		r.say("<think>" + think + "</think><tool_call>[{\"name\": " + calls[0].name + "</tool_call>")
	}
	return r.act(think, calls...)
}
