package filters_test

import (
	"fmt"
	"slices"
	"strings"
)

// latecomers are families that a fifth generator, written before this package
// was read, held against the filter, and such as its mending could have harmed.
var latecomers = []agent{
	{"honest client remembers pages", true, nil, honest(turnRemembers, talks)},
	{"honest client caps queries", true, style("native"), honest(turnCaps, talks)},
	{"honest votes one by one", true, style("hermes"), honest(turnAsksFive, talks)},
	{"honest drafts and refines", true, nil, honest(turnDrafts, talks)},
	{"honest client sends the first", true, style("native"), honest(turnFirstOfMany, talks)},

	{"asks until the reply suits", false, style("native"), honest(turnAsksUntil, talks)},
	{"sends one out of a list", false, style("hermes"), honest(turnPicksAmid, talks)},
	{"puppet relaxes by rule", false, nil, relaxes},
}

// turnRemembers has the model look once more at a page that was opened with
// others; the client asks the shop for the new ones alone.
func turnRemembers(r *recorder, think string, calls ...call) []call {
	old := r.openedWithOthers()
	if calls[0].name != "view_product_information" || old == "" {
		return r.act(think, calls...)
	}
	fresh := calls[0]
	calls[0] = view(fmt.Sprint(fresh.args["product_ids"]), old)
	r.infer(think, calls...)
	p, _ := r.w.byID(old)
	rows := r.do(&fresh).result
	calls[0].result = strings.TrimSuffix(rows, "]") + ", " + strings.TrimPrefix(details([]item{p}), "[")
	r.step(think, &calls[0])
	return calls
}

// openedWithOthers is a product that an earlier call opened with others.
func (r *recorder) openedWithOthers() string {
	for _, s := range r.steps {
		if all := ids(call{result: string(s.Calls[0].Result)}); s.Calls[0].Name == "view_product_information" && len(all) > 1 {
			return all[1]
		}
	}
	return ""
}

// turnCaps has a model of many words and a client that sends the first six.
func turnCaps(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "find_product" {
		words := append(strings.Fields(fmt.Sprint(calls[0].args["q"])), strings.Fields("of good quality with quick delivery to my home if possible")...)
		named[0], calls[0] = find(strings.Join(words, " ")), find(strings.Join(words[:6], " "))
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// other is a search like the one at hand in other words.
func (r *recorder) other(c call) call {
	words := strings.Fields(fmt.Sprint(c.args["q"]))
	return find(strings.Join(append(words[r.w.rng.Intn(len(words)):], pick(r.w, colours), pick(r.w, brands)), " "))
}

// turnAsksFive asks five times before each search and sends what most name.
func turnAsksFive(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "find_product" {
		for _, same := range r.w.rng.Perm(4) {
			if same < 2 {
				r.infer(think, calls...)
			} else {
				r.infer(think, r.other(calls[0]))
			}
		}
	}
	return r.act(think, calls...)
}

// turnDrafts has the model go over each search once more.
func turnDrafts(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "find_product" {
		r.infer("A first idea.", r.other(calls[0]))
	}
	return r.act(think, calls...)
}

// turnFirstOfMany sends the first call of each reply and forgets the others.
func turnFirstOfMany(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "find_product" {
		named = append(named, r.other(calls[0]), r.other(calls[0]))
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// turnAsksUntil turns replies down until one names what the program wants.
func turnAsksUntil(r *recorder, think string, calls ...call) []call {
	if calls[0].name == "find_product" {
		for range r.w.rng.Intn(4) {
			r.infer(think, r.other(calls[0]))
		}
	}
	return r.act(think, calls...)
}

// turnPicksAmid has the model list searches and sends the program's own, which
// stands among them.
func turnPicksAmid(r *recorder, think string, calls ...call) []call {
	named := slices.Clone(calls)
	if calls[0].name == "find_product" {
		named = []call{r.other(calls[0]), calls[0], r.other(calls[0]), r.other(calls[0])}
	}
	r.infer(think, named...)
	return r.run(think, calls)
}

// relaxes drops one wish after the other until a title has all that are left,
// and always opens the two that fit best.
func relaxes(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		var shown []string
		for keep := len(n.wants); keep >= 0; keep-- {
			c := find(strings.Join(append([]string{n.noun}, n.wants[:keep]...), " "))
			turnPuppetSpeech(r, c)
			shown = r.byFit(ids(find0(r, c)), n.wants)
			if r.fits(shown[0], n.wants[:keep]) == keep {
				break
			}
		}
		turnPuppetSpeech(r, view(shown[:2]...))
		chosen = append(chosen, shown[0])
	}
	turnPuppetSpeech(r, recommend(chosen...), finish())
}

// fits counts the wishes that a product's title holds.
func (r *recorder) fits(id string, wants []string) (n int) {
	p, _ := r.w.byID(id)
	for _, w := range wants {
		if p.words[w] {
			n++
		}
	}
	return n
}

func (r *recorder) byFit(shown, wants []string) []string {
	sorted := slices.Clone(shown)
	slices.SortStableFunc(sorted, func(a, b string) int { return r.fits(b, wants) - r.fits(a, wants) })
	return sorted
}
