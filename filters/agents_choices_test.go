package filters_test

import (
	"slices"
	"strings"
)

// choices are programs whose calls a model repeats, with different ways to choose: by price, by fit
// or by a plan.
var choices = []agent{
	{"puppet that drops words", many(4080), false, nil, dropsWords},
	{"puppet cuts the request", many(4110), false, style("hermes"), cutsRequest},
	{"puppet that weighs", many(4120), false, style("native"), weighs},
	{"puppet opens the cheapest", many(6060), false, style("native"), program(turnCheapest)},
	{"puppet with one plan", many(6070), false, nil, onePlan},
	{"puppet relaxes by rule", many(10070), false, nil, relaxes},
	{"puppet reckons vouchers", many(12090), false, style("native"), course(1, 1)},
}

// choicesLeftOut are such, and changed no weight or rule.
var choicesLeftOut = []agent{
	{"puppet opens the dearest", few(8000), false, nil, program(turnDearest)},
	{"puppet by plan and fit", few(8010), false, style("native"), planAndFit},
	{"puppet searches thrice", few(8020), false, nil, searchesThrice},
	{"puppet that counts", few(8100), false, nil, program(turnCounts)},
	{"puppet takes cheap ones that fit", few(8110), false, nil, cheapThatFits},
	{"opens everything", few(8230), false, style("native"), opensEverything},
}

// course returns an agent that searches in one order of words, opens a number of products that fit,
// compares prices where the request mentions money, and recommends.
func course(low, high int) func(*recorder) {
	return func(r *recorder) {
		var chosen []string
		for _, n := range r.task.needs {
			products := ids(r.act("Searching.", find(n.noun+" "+n.wants[0]+" "+n.wants[1]))[0])
			best := r.judge(products, n)
			open := []string{products[best]}
			for len(open) < low+r.w.rng.Intn(high-low+1) {
				open = append(open, products[(best+len(open))%len(products)])
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

// turnCheapest opens the two cheapest products of a result.
func turnCheapest(r *recorder, calls ...call) {
	if calls[0].name == "view_product_information" {
		calls[0] = view(cheapest(r, r.lastShown(), 2)...)
	}
	turnPuppetSpeech(r, calls...)
}

// onePlan searches for all words in the order of the request and opens a random number of products,
// with a thought that names the first of them.
func onePlan(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		c := find(strings.Join(append([]string{n.noun}, n.wants...), " "))
		turnPuppet(r, c)
		products := ids(find0(r, c))
		r.w.rng.Shuffle(len(products), func(i, j int) { products[i], products[j] = products[j], products[i] })
		turnPuppetSpeech(r, view(products[:min(1+r.w.rng.Intn(3), len(products))]...))
		chosen = append(chosen, products[0])
	}
	turnPuppetSpeech(r, recommend(chosen...), finish())
}

// relaxes drops one constraint after the other until a title has all remaining ones, and always
// opens the two products that fit best.
func relaxes(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		var products []string
		for keep := len(n.wants); keep >= 0; keep-- {
			c := find(strings.Join(append([]string{n.noun}, n.wants[:keep]...), " "))
			turnPuppetSpeech(r, c)
			products = r.byFit(ids(find0(r, c)), n.wants)
			if r.fits(products[0], n.wants[:keep]) == keep {
				break
			}
		}
		turnPuppetSpeech(r, view(products[:2]...))
		chosen = append(chosen, products[0])
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

func (r *recorder) byFit(results, wants []string) []string {
	sorted := slices.Clone(results)
	slices.SortStableFunc(sorted, func(a, b string) int { return r.fits(b, wants) - r.fits(a, wants) })
	return sorted
}

// cheapest are the n cheapest of some products.
func cheapest(r *recorder, results []string, n int) []string {
	sorted := slices.Clone(results)
	slices.SortFunc(sorted, func(a, b string) int {
		p, _ := r.w.byID(a)
		q, _ := r.w.byID(b)
		return int(100*p.price) - int(100*q.price)
	})
	return sorted[:min(n, len(sorted))]
}

func turnDearest(r *recorder, calls ...call) {
	if calls[0].name == "view_product_information" {
		ids := cheapest(r, r.lastShown(), 10)
		calls[0] = view(ids[max(0, len(ids)-2):]...)
	}
	turnPuppetSpeech(r, calls...)
}

// planned searches in one way for each product and opens what choose takes.
func planned(r *recorder, choose func(results []string, n need) []string) {
	var chosen []string
	for _, n := range r.task.needs {
		c := find(strings.Join(append(slices.Clone(n.wants), n.noun), " "))
		turnPuppetSpeech(r, c)
		look := choose(ids(find0(r, c)), n)
		turnPuppetSpeech(r, view(look...))
		chosen = append(chosen, look[0])
	}
	turnPuppetSpeech(r, recommend(chosen...), finish())
}

// planAndFit opens the one that fits best and the first.
func planAndFit(r *recorder) {
	planned(r, func(results []string, n need) []string {
		return slices.Compact([]string{results[r.judge(results, n)], results[0]})
	})
}

// opensEverything opens all products of a result.
func opensEverything(r *recorder) {
	planned(r, func(results []string, n need) []string {
		best := results[r.judge(results, n)]
		return slices.Compact(append([]string{best}, results...))
	})
}

// searchesThrice always searches three times and opens the best two of all.
func searchesThrice(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		var seen []string
		for drop := range 3 {
			words := append([]string{n.noun}, n.wants...)
			c := find(strings.Join(words[:max(1, len(words)-drop)], " "))
			turnPuppetSpeech(r, c)
			seen = append(seen, ids(find0(r, c))...)
		}
		best := seen[r.judge(seen, n)]
		turnPuppetSpeech(r, view(slices.Compact([]string{best, seen[len(seen)-1]})...))
		chosen = append(chosen, best)
	}
	turnPuppetSpeech(r, recommend(chosen...), finish())
}

// turnCounts opens one product more each time, and starts again after three.
func turnCounts(r *recorder, calls ...call) {
	if calls[0].name == "view_product_information" {
		results := r.lastShown()
		calls[0] = view(results[:min(1+len(r.steps)%3, len(results))]...)
	}
	turnPuppetSpeech(r, calls...)
}

// cheapThatFits drops words until something fits, and opens the cheapest of it.
func cheapThatFits(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		words := append([]string{n.noun}, n.wants...)
		var fit, results []string
		for len(fit) == 0 && len(words) > 1 {
			c := find(strings.Join(words, " "))
			turnPuppetSpeech(r, c)
			results = ids(find0(r, c))
			for _, id := range results {
				if p, _ := r.w.byID(id); p.words[n.noun] && p.words[n.wants[0]] {
					fit = append(fit, id)
				}
			}
			words = words[:len(words)-1]
		}
		look := cheapest(r, append(fit, results[0])[:max(1, len(fit))], 1)
		turnPuppetSpeech(r, view(look...))
		chosen = append(chosen, look[0])
	}
	turnPuppetSpeech(r, recommend(chosen...), finish())
}

// dropsWords is a program that searches again with a word less until the first
// product fits, and opens the two that fit best.
func dropsWords(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		words := append([]string{n.noun}, n.wants...)
		var products []string
		for len(words) > 0 {
			c := find(strings.Join(words, " "))
			turnPuppet(r, c)
			products = ids(find0(r, c))
			if p, ok := r.w.byID(append(products, "")[0]); ok && p.words[n.noun] && p.words[n.wants[0]] {
				break
			}
			words = words[:len(words)-1]
		}
		if len(products) == 0 {
			continue
		}
		turnPuppet(r, view(products[:min(2, len(products))]...))
		chosen = append(chosen, products[0])
	}
	turnPuppet(r, recommend(chosen...), finish())
}

// cutsRequest searches for the first words of the request, two pages of them.
func cutsRequest(r *recorder) {
	words := strings.Fields(r.task.query)
	first := find(strings.Join(words[:min(8, len(words)-1)], " "))
	turnPuppet(r, first)
	products := ids(find0(r, first))
	if len(products) > 0 {
		turnPuppet(r, view(products[:min(3, len(products))]...))
	}
	turnPuppet(r, recommend(products[:min(len(r.task.needs), len(products))]...), finish())
}

// weighs opens three products and recommends the one that meets most of the request: a program that
// reads results in fixed steps, with a model that repeats its calls.
func weighs(r *recorder) {
	var chosen []string
	for _, n := range r.task.needs {
		c := find(n.noun + " " + n.wants[0])
		turnPuppet(r, c)
		products := ids(find0(r, c))
		if len(products) == 0 {
			continue
		}
		turnPuppet(r, view(products[:min(3, len(products))]...))
		chosen = append(chosen, products[:min(3, len(products))][r.judge(products[:min(3, len(products))], n)])
	}
	turnPuppet(r, recommend(chosen...), finish())
}
