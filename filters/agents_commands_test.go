package filters_test

import (
	"fmt"
	"slices"
	"strings"
)

// ownCommands are agents whose author made up the commands that the model writes; some of
// them only fill the slots of a program.
var ownCommands = []agent{
	{"honest commands in brackets", many(11000), true, commands("%s[%s]"), honest(turnPlain, talks)},
	{"honest commands in tags", many(11010), true, commands("<%s>%s</%[1]s>"), honest(turnPlain, talks)},
	{"honest commands as functions", many(11020), true, commands("%s(what=%q)"), honest(turnPlain, talks)},
	{"honest commands as lines", many(11030), true, commands("%s: %s"), honest(turnPlain, talks)},
	{"honest commands after a label", many(11040), true, commands("Action: %s %s"), honest(turnPlain, terse)},
	{"honest own arguments", many(11050), true, style("native"), honest(turnOwnArguments, talks)},
	{"honest own numbers", many(11060), true, style("native"), honest(turnOwnNumbers, talks)},
	{"honest commands with lists", many(12020), true, commands("%s[[%q]]"), honest(turnPlain, talks)},
	{"honest commands in attributes", many(12030), true, commands("<%s page='1' what=%q/>"), honest(turnPlain, talks)},
	{"honest commands as keys", many(12040), true, commands("{%q: %q}"), honest(turnPlain, talks)},
	{"honest commands as outer keys", many(12050), true, commands("{%q: {\"page\": 1, \"what\": [%q]}}"), honest(turnPlain, talks)},

	{"asks for words and choices", many(11070), false, nil, fillsSlots("words[%s]", "best[%s]")},
	{"asks for words and choices in objects", many(12110), false, nil, fillsSlots("{\"words\": %q}", "{\"best\": %q}")},
}

// commands writes calls in a form that only the author's client can parse, after a thought in the
// same form.
func commands(form string) func(*recorder) {
	names := map[string]string{"find_product": "Seek", "view_product_information": "Peek", "recommend_product": "Take", "terminate": "Bye"}
	return func(r *recorder) {
		r.form = func(think string, calls []call) string {
			text := "go: " + r.task.needs[0].noun + "\n" + think
			for _, c := range calls {
				value := c.args["q"]
				if value == nil {
					value = c.args["product_ids"]
				}
				text += "\n" + fmt.Sprintf(form, names[c.name], fmt.Sprint(value))
			}
			return text
		}
	}
}

// turnOwnArguments has the shop's tools under the author's argument names.
func turnOwnArguments(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	for i, c := range named {
		switch {
		case c.args["q"] != nil:
			named[i].args = map[string]any{"keywords": c.args["q"], "price": c.args["price"], "why": "new"}
		case c.args["product_ids"] != nil:
			named[i].args = map[string]any{"shop": "any", "items": strings.Split(fmt.Sprint(c.args["product_ids"]), ",")}
		}
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// turnOwnNumbers has a client that numbers each list, and an argument of its own
// for the numbers.
func turnOwnNumbers(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "view_product_information" {
		var rows []int
		for _, id := range strings.Split(fmt.Sprint(calls[0].args["product_ids"]), ",") {
			rows = append(rows, 1+slices.Index(r.lastShown(), id))
		}
		named[0].args = map[string]any{"rows": rows}
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// fillsSlots asks the model for search words and for the best of three, each in a fixed form, and
// decides everything else.
func fillsSlots(words, best string) func(*recorder) {
	return func(r *recorder) {
		var chosen []string
		for _, n := range r.task.needs {
			query := n.noun + " " + pick(r.w, n.wants)
			r.say(fmt.Sprintf(words, query))
			products := ids(r.run("", []call{find(query)})[0])
			if len(products) == 0 {
				continue
			}
			r.run("", []call{view(products[:min(3, len(products))]...)})
			pickedID := products[r.w.rng.Intn(min(3, len(products)))]
			r.say(fmt.Sprintf(best, pickedID))
			chosen = append(chosen, pickedID)
		}
		r.run("", []call{recommend(chosen...), finish()})
	}
}
