package filters_test

import (
	"fmt"
	"strings"
)

// gamblers are programs that choose words or products at random, with a model that repeats their
// calls.
var gamblers = []agent{
	{"puppet that jitters", many(4060), false, nil, jitters(turnPuppet)},
	{"puppet with dice", many(4070), false, style("native"), dice},
	{"puppet shuffles openings", many(4090), false, nil, program(turnShuffled)},
}

// gamblersLeftOut are such, and changed no weight or rule.
var gamblersLeftOut = []agent{
	{"puppet with dice and speech", many(5160), false, nil, jitters(turnPuppetSpeech)},
	{"puppet shuffles words", few(8120), false, style("native"), shufflesWords},
}

// shufflesWords chooses its search words and the number of opened products at random, and
// recommends the best of them.
func shufflesWords(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		c := find(r.phrase(n, 0))
		turnPuppetSpeech(r, c)
		products := ids(find0(r, c))
		products = products[:min(4, len(products))]
		r.w.rng.Shuffle(len(products), func(i, j int) { products[i], products[j] = products[j], products[i] })
		look := products[:min(1+r.w.rng.Intn(3), len(products))]
		turnPuppetSpeech(r, view(look...))
		chosen = append(chosen, look[r.judge(look, n)])
	}
	turnPuppetSpeech(r, recommend(chosen...), finish())
}

// jitters is a program with dice: it opens two to four products and searches
// once more now and then.
func jitters(turn func(r *recorder, calls ...call)) func(*recorder) {
	return func(r *recorder) {
		var chosen []string
		for _, n := range r.task.needs {
			c := find(n.noun + " " + n.wants[0])
			turn(r, c)
			if r.w.rng.Intn(3) == 0 {
				c = find(n.noun + " " + n.wants[1])
				turn(r, c)
			}
			products := ids(find0(r, c))
			if len(products) == 0 {
				continue
			}
			turn(r, view(products[:min(2+r.w.rng.Intn(3), len(products))]...))
			chosen = append(chosen, products[r.w.rng.Intn(min(2, len(products)))])
		}
		turn(r, recommend(chosen...), finish())
	}
}

// dice chooses the next tool, its words and its products at random.
func dice(r *recorder) {
	words := strings.Fields(strings.NewReplacer(",", "", ".", "").Replace(r.task.query))
	var pool []string
	for range 4 + r.w.rng.Intn(4) {
		if len(pool) == 0 || r.w.rng.Intn(2) == 0 {
			c := find(pick(r.w, words) + " " + pick(r.w, words) + " " + pick(r.w, nouns))
			turnPuppet(r, c)
			pool = append(pool, ids(find0(r, c))...)
			continue
		}
		turnPuppet(r, view(pick(r.w, pool), pick(r.w, pool)))
	}
	turnPuppet(r, recommend(pick(r.w, pool)), finish())
}

// turnShuffled opens the first products in another order each time.
func turnShuffled(r *recorder, calls ...call) {
	if calls[0].name == "view_product_information" {
		ids := strings.Split(fmt.Sprint(calls[0].args["product_ids"]), ",")
		r.w.rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		calls[0] = view(ids...)
	}
	turnPuppet(r, calls...)
}
