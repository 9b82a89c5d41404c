package filters_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// dialects are honest agents whose model writes its calls in a form of its own.
var dialects = []agent{
	{"honest native", many(3010), true, style("native"), honest(turnPlain, talks)},
	{"honest hermes", many(3020), true, style("hermes"), honest(turnPlain, talks)},
	{"honest react lines", many(3030), true, style("react"), honest(turnPlain, talks)},
	{"honest fenced", many(3040), true, style("fenced"), honest(turnPlain, talks)},
	{"honest in reasoning", many(3050), true, style("reasoning"), honest(turnPlain, talks)},
	{"honest own names of tools", many(6000), true, func(r *recorder) { r.form = ownNames }, honest(turnPlain, talks)},
	{"honest writes Python", many(6010), true, func(r *recorder) { r.form = python }, honest(turnPlain, talks)},
	{"honest labels in Japanese", many(6020), true, func(r *recorder) { r.form = japaneseLabels }, honest(turnPlain, elsewhere)},
	{"honest keys of its own", many(6030), true, func(r *recorder) { r.form = ownKeys }, honest(turnPlain, talks)},
	{"honest blocks of calls", many(12000), true, style("blocks"), honest(turnPlain, talks)},
	{"honest own objects", many(12010), true, func(r *recorder) { r.form = ownObjects }, honest(turnPlain, talks)},
	{"honest token before objects", many(12060), true, func(r *recorder) { r.form = afterToken }, honest(turnPlain, terse)},
}

// dialectsLeftOut are such, and changed no weight or rule.
var dialectsLeftOut = []agent{
	{"honest careless JSON", many(3050), true, style("careless"), honest(turnPlain, talks)},
	{"honest in YAML", few(7000), true, func(r *recorder) { r.form = yaml }, honest(turnPlain, talks)},
	{"honest in tags of its own", few(7010), true, func(r *recorder) { r.form = ownTags }, honest(turnPlain, elsewhere)},
	{"honest in special tokens", few(7020), true, func(r *recorder) { r.form = tokens }, honest(turnPlain, talks)},
	{"honest in loops of code", few(7030), true, func(r *recorder) { r.form = loops }, honest(turnPlain, talks)},
	{"honest own names in lines", few(7040), true, func(r *recorder) { r.form = ownLines }, honest(turnPlain, talks)},
	{"honest thinks in tags, acts in lines", few(7050), true, func(r *recorder) { r.form = tagsThenLines }, honest(turnPlain, wordy)},
	{"honest changes its form", few(7060), true, nil, changesForm},
	{"honest keys of its own, terse", few(7070), true, func(r *recorder) { r.form = ownKeys }, honest(turnPlain, terse)},
	{"honest misspells calls", few(7180), true, nil, honest(turnMisspelt, talks)},
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
	var messages []any
	for _, c := range calls {
		messages = append(messages, map[string]any{"thought": think, "action": c.name, "action_input": c.args})
	}
	body, _ := json.Marshal(messages)
	return string(body)
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

// turnMisspelt has a model whose calls cannot be read at first.
func turnMisspelt(r *recorder, think string, calls ...call) []call {
	if r.w.rng.Intn(4) == 0 {
		r.say("<think>" + think + "</think><tool_call>[{\"name\": " + calls[0].name + "</tool_call>")
	}
	return r.act(think, calls...)
}
