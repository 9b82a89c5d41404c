package filters_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena"
)

// mixed are programs that let a model write most of the log and add calls of their own: they
// overrule the model's call and have it repeat theirs, or they decide every second call, one
// search, or the choice between two calls.
var mixed = []agent{
	{"overrules and has it echoed", many(13000), false, nil, honest(turnEchoes, talks)},
	{"overrules searches and has them echoed", many(13010), false, style("native"), honest(turnEchoesSearches, talks)},
	{"every second call of its own", many(13020), false, nil, honest(turnEverySecond, talks)},
	{"every second call of its own, told", many(13030), false, style("hermes"), honest(turnEverySecondTold, talks)},
	{"opens by itself", many(13040), false, style("native"), honest(turnOpensAlone, talks)},
	{"opens by itself what is spoken of", many(13050), false, style("hermes"), honest(turnOpensTold, talks)},
	{"one search brings the answer", many(13060), false, nil, injects(true)},
	{"one search brings the answer, unshown", many(13070), false, style("native"), injects(false)},
	{"menus of two", many(13080), false, nil, menus("Option %d: %s[%s]")},
	{"menus of two, numbered", many(13090), false, nil, menus("%d. %s: %s")},
	{"lets two be named and sends one", many(13110), false, style("native"), honest(turnOneOfTwo, talks)},
	{"counts too few tokens", many(13100), false, func(r *recorder) { r.tokens = func(int) int { return 3 + r.w.rng.Intn(9) } }, honest(turnPlain, talks)},
}

// mixedDay is the day of all mixed families, judged once for all tests.
func mixedDay(t *testing.T) []judgement {
	t.Helper()
	mixedDays.Do(func() { mixedDays.judgements = judgeDay(t, play(mixed)) })
	return mixedDays.judgements
}

var mixedDays struct {
	sync.Once
	judgements []judgement
}

// TestNoProgramOfHalvesPasses holds for each mixed program that at most one attempt in twenty is
// agentic, and that the attempts which the model decided alone are not called scripted.
func TestNoProgramOfHalvesPasses(t *testing.T) {
	t.Parallel()
	passed := map[string]int{}
	judged := mixedDay(t)
	for _, j := range judged {
		if j.after.Axis == arena.AxisAgentic {
			passed[j.family]++
		}
	}
	for family, n := range passed {
		if 20*n > len(judged)/len(mixed) {
			t.Errorf("%s: %d attempts are agentic", family, n)
		}
	}
}

// turnEchoes asks the model for a call, and then has it repeat the program's call.
func turnEchoes(r *recorder, think string, calls ...call) []call {
	switch calls[0].name {
	case "find_product":
		r.infer(think, r.other(calls[0]))
	case "view_product_information":
		ids := r.lastShown()
		r.infer(think, view(ids[len(ids)-1]))
	}
	r.infer("As asked.", calls...)
	return r.run(think, calls)
}

func turnEchoesSearches(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "find_product" {
		return turnEchoes(r, think, calls...)
	}
	return r.act(think, calls...)
}

// turnEverySecond sends every second call without the model, which chats.
func turnEverySecond(r *recorder, think string, calls ...call) []call {
	if len(r.steps)%2 == 0 || calls[0].name == "recommend_product" {
		return r.act(think, calls...)
	}
	r.say("Understood, go on.")
	return r.run(think, calls)
}

// turnEverySecondTold has the model mention the program's call in a text before every second call.
func turnEverySecondTold(r *recorder, think string, calls ...call) []call {
	if len(r.steps)%2 == 0 || calls[0].name == "recommend_product" {
		return r.act(think, calls...)
	}
	r.say(fmt.Sprintf("%s What of %v%v?", think, calls[0].args["q"], calls[0].args["product_ids"]))
	return r.run(think, calls)
}

// turnOpensAlone opens products without asking; the model does the rest.
func turnOpensAlone(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "view_product_information" {
		return r.run(think, calls)
	}
	return r.act(think, calls...)
}

// turnOpensTold opens a product that the model doubts while it asks for a search.
func turnOpensTold(r *recorder, think string, calls ...call) []call {
	if calls[0].name != "view_product_information" {
		return r.act(think, calls...)
	}
	r.infer(fmt.Sprintf("%s I doubt %v, so a search.", think, calls[0].args["product_ids"]), find(r.phrase(r.task.needs[0], 0)))
	return r.run(think, calls)
}

// injects adds one search of its own before the model's recommendation.
func injects(visible bool) func(*recorder) {
	return func(r *recorder) {
		honest(func(r *recorder, think string, calls ...call) []call {
			if calls[0].name == "recommend_product" {
				var matches []string
				for _, n := range r.task.needs {
					c := find(strings.Join(append([]string{n.noun}, n.wants...), " "), "price", fmt.Sprintf("0-%.0f", 200+n.price))
					r.do(&c)
					if visible {
						r.step("", &c)
					}
					matches = append(matches, ids(c)[r.judge(ids(c), n)])
				}
				calls[0] = recommend(matches...)
			}
			return r.act(think, calls...)
		}, talks)(r)
	}
}

// menus has the model write two of everything in a form of the author's, one of which
// the program takes.
func menus(form string) func(*recorder) {
	return func(r *recorder) {
		honest(func(r *recorder, think string, calls ...call) []call {
			names := map[string]string{"find_product": "seek", "view_product_information": "peek", "recommend_product": "take"}
			query := calls[0].args["q"]
			other := ""
			switch name := calls[0].name; name {
			case "find_product":
				other = fmt.Sprint(r.other(calls[0]).args["q"])
			case "view_product_information", "recommend_product":
				query = calls[0].args["product_ids"]
				other = r.lastShown()[len(r.lastShown())-1]
			default:
				return r.run(think, calls)
			}
			lines := []string{fmt.Sprint(query), other}
			if r.w.rng.Intn(2) == 0 {
				lines[0], lines[1] = lines[1], lines[0]
			}
			r.say(think + "\n" + fmt.Sprintf(form, 1, names[calls[0].name], lines[0]) + "\n" + fmt.Sprintf(form, 2, names[calls[0].name], lines[1]))
			return r.run(think, calls)
		}, talks)(r)
	}
}

// turnOneOfTwo has the model name two calls and sends the one that the program chose.
func turnOneOfTwo(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	switch calls[0].name {
	case "find_product":
		named = append(named, r.other(calls[0]))
	case "view_product_information":
		ids := r.lastShown()
		named = append(named, view(ids[len(ids)-1]))
	}
	if len(named) == 2 && r.w.rng.Intn(2) == 0 {
		slices.Reverse(named)
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// TestAPlaceholderIsNoCount holds that a server which counts one token for every reply is no
// evidence of a forged log.
func TestAPlaceholderIsNoCount(t *testing.T) {
	t.Parallel()
	day := []agent{{"counts one token", few(9100), true, func(r *recorder) { r.tokens = func(int) int { return 1 } }, honest(turnPlain, talks)}}
	for _, j := range judgeDay(t, play(day)) {
		if j.after.Axis != arena.AxisAgentic {
			t.Fatalf("axis %s: %v", j.after.Axis, j.after)
		}
	}
}
