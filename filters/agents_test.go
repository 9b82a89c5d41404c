package filters_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// agent plays one task and leaves a trace. A family is the agents of one name.
type agent struct {
	name    string
	days    days
	agentic bool
	// setUp changes the form of the model's texts, the content of the log, or the calls of the
	// client.
	setUp func(r *recorder)
	play  func(r *recorder)
}

// days are the tasks of an agent: a number of tasks on each of two days, sampled with a seed.
type days struct {
	seed  int64
	tasks int
}

// many returns about as many tasks as a suite of the subnet has.
func many(seed int64) days { return days{seed, 45} }

func few(seed int64) days { return days{seed, 20} }

// setOn are the families on which weights were set or rules were corrected. leftOut are those that
// were written afterwards and changed nothing: their results are those of unknown agents.
var (
	setOn   = slices.Concat(models, dialects, ownCommands, clients, results, councils, logs, puppets, choices, gamblers, tables, overrides, chats, mixed)
	leftOut = slices.Concat(modelsLeftOut, dialectsLeftOut, clientsLeftOut, resultsLeftOut, councilsLeftOut, logsLeftOut, puppetsLeftOut,
		choicesLeftOut, gamblersLeftOut, tablesLeftOut, overridesLeftOut, chatsLeftOut)
)

// play lets every family play its days.
func play(families []agent) []labelled {
	var attempts []labelled
	for _, a := range families {
		attempts = append(attempts, playDays(a, a.days)...)
	}
	return attempts
}

func playDays(a agent, d days) []labelled {
	var attempts []labelled
	for day := range 2 {
		w := newWorld(d.seed + int64(day))
		for n := range d.tasks {
			r := &recorder{w: w, task: w.task(n), now: start, limit: 2000, server: fmt.Sprintf("%08x-", uint32(evidence.HashText(a.name)))}
			if a.setUp != nil {
				a.setUp(r)
			}
			a.play(r)
			t := r.trace(fmt.Sprintf("%s %d", a.name, day))
			attempts = append(attempts, labelled{t, a.name, a.agentic, r.task})
		}
	}
	return attempts
}

// honest plays as a model would: it varies its searches, opens some of the results, changes its
// choice, and picks by what it read.
func honest(turn func(r *recorder, think string, calls ...call) []call, thinks func(r *recorder, topic string, results []string) string) func(*recorder) {
	return func(r *recorder) {
		var chosen []string
		for _, n := range r.task.needs {
			chosen = append(chosen, r.pursue(n, turn, thinks))
		}
		final := recommend(chosen...)
		if r.w.rng.Intn(3) == 0 {
			turn(r, thinks(r, "These match best.", chosen), final, finish())
			return
		}
		turn(r, thinks(r, "These match best.", chosen), final)
		turn(r, thinks(r, "All done.", nil), finish())
	}
}

// pursue looks for one product and returns the one the model settles on.
func (r *recorder) pursue(n need, turn func(r *recorder, think string, calls ...call) []call, thinks func(*recorder, string, []string) string) string {
	products := []string{}
	best := ""
	for try := range 1 + r.w.rng.Intn(3) {
		c := find(r.phrase(n, try))
		if n.price > 0 && r.w.rng.Intn(2) == 0 {
			c.args["price"] = fmt.Sprintf("0-%.0f", n.price)
		}
		if try > 0 && r.w.rng.Intn(4) == 0 {
			c.args["page"] = 2
		}
		products = ids(turn(r, thinks(r, "Searching for a "+n.noun+".", products), c)[0])
		if len(products) == 0 {
			continue
		}
		best = products[r.judge(products, n)]
		if r.w.rng.Intn(4) == 0 {
			continue
		}
		look := products[:1+r.w.rng.Intn(min(4, len(products)))]
		if r.w.rng.Intn(6) == 0 && len(products) > 2 {
			look = []string{best, products[len(products)-1]}
		}
		turn(r, thinks(r, "Looking closer.", look), view(look...))
		if r.w.rng.Intn(2) == 0 {
			break
		}
	}
	if best == "" {
		best = r.w.products[0].id
	}
	return best
}

// phrase is a search in the model's words: some of the wishes, in some order.
func (r *recorder) phrase(n need, try int) string {
	words := append([]string{n.noun}, n.wants...)
	r.w.rng.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	keep := max(1, len(words)-try-r.w.rng.Intn(2))
	keptWords := words[:keep]
	if !strings.Contains(strings.Join(keptWords, " "), n.noun) {
		keptWords = append(keptWords, n.noun)
	}
	return strings.Join(keptWords, " ")
}

// judge picks the product with most of the wishes that fits the price.
func (r *recorder) judge(ids []string, n need) int {
	best := 0
	bestCount := -1
	for i, id := range ids {
		p, _ := r.w.byID(id)
		score := 0
		for _, x := range append([]string{n.noun}, n.wants...) {
			if p.words[x] {
				score += 2
			}
		}
		if n.price > 0 && p.price > n.price {
			score -= 3
		}
		if score > bestCount {
			best = i
			bestCount = score
		}
	}
	if r.w.rng.Intn(6) == 0 {
		best = r.w.rng.Intn(len(ids))
	}
	return best
}

// talks thinks in texts that cite the results.
func talks(r *recorder, topic string, ids []string) string {
	if len(ids) == 0 {
		return topic + " " + pick(r.w, []string{"I start with the main words.", "Few words first.", "The shop should have it."})
	}
	p, _ := r.w.byID(ids[r.w.rng.Intn(len(ids))])
	return topic + " " + fmt.Sprintf(pick(r.w, []string{"%s at %.2f looks right (%s).", "I saw %s for %.2f, that is %s.", "%s, %.2f: %s stays in the race."}), p.title, p.price, p.id)
}

func turnPlain(r *recorder, think string, calls ...call) []call { return r.act(think, calls...) }

func style(s string) func(*recorder) { return func(r *recorder) { r.style = s } }

// lastShown returns the ids of the latest search with results.
func (r *recorder) lastShown() []string {
	for i := len(r.steps) - 1; i >= 0; i-- {
		for _, c := range r.steps[i].Calls {
			if products := ids(call{result: string(c.Result)}); c.Name == "find_product" && len(products) > 0 {
				return products
			}
		}
	}
	return []string{r.w.products[0].id}
}

// other is a search like the one at hand in other words.
func (r *recorder) other(c call) call {
	words := strings.Fields(fmt.Sprint(c.args["q"]))
	return find(strings.Join(append(words[r.w.rng.Intn(len(words)):], pick(r.w, colours), pick(r.w, brands)), " "))
}

// program is a fixed plan: one search and one look per product, the first three
// in rank order, and the first of them.
func program(turn func(r *recorder, calls ...call)) func(*recorder) {
	return func(r *recorder) {
		var chosen []string
		for _, n := range r.task.needs {
			c := []call{find(n.noun + " " + n.wants[0] + " " + n.wants[1])}
			turn(r, c...)
			products := ids(find0(r, c[0]))
			if len(products) == 0 {
				continue
			}
			turn(r, view(products[:min(3, len(products))]...))
			best := products[0]
			for _, id := range products[:min(3, len(products))] {
				if p, _ := r.w.byID(id); n.price == 0 || p.price <= n.price {
					best = id
					break
				}
			}
			chosen = append(chosen, best)
		}
		turn(r, recommend(chosen...), finish())
	}
}

// find0 returns the result of a search without another request to the proxy.
func find0(r *recorder, c call) call {
	c.result = listing(r.w.search(c.args))
	return c
}

// stock is a program's own words for a step.
func stock(calls []call) string {
	return map[string]string{"find_product": "Searching the catalogue.", "view_product_information": "Reading details.", "recommend_product": "Submitting."}[calls[0].name]
}

func turnScript(r *recorder, calls ...call) { r.run(stock(calls), calls) }

// turnPuppet orders the model to repeat the program's call.
func turnPuppet(r *recorder, calls ...call) {
	r.act("Calling the tool as asked.", calls...)
}

// turnPuppetSpeech orders it to repeat a thought with slots, too.
func turnPuppetSpeech(r *recorder, calls ...call) {
	think := stock(calls)
	if x := fmt.Sprint(calls[0].args["product_ids"]); calls[0].name != "find_product" {
		first, _, _ := strings.Cut(x, ",")
		p, _ := r.w.byID(first)
		think = fmt.Sprintf("Comparing the results, %s (%s) at %.2f stands out, so I go on with it.", p.id, p.title, p.price)
	}
	r.act(think, calls...)
}
