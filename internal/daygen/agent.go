package daygen

import (
	"fmt"
	"strings"
)

// family is one kind of simulated agent: a simple way in which a model or a program decides which
// calls to make. The families are invented.
type family struct {
	name    string
	agentic bool
	why     string
	// reply returns the model's reply before a move (one step of an attempt). It returns the
	// zero reply if no model was asked before the move. first reports whether the move is the
	// first.
	reply func(m *move, first bool) reply
	// loops reports whether the agent repeats searches without a reason.
	loops bool
}

var families = []family{
	{name: "native", agentic: true, reply: nativeReply, why: "each dispatch follows a reply whose native tool calls name it"},
	{name: "tagged", agentic: true, reply: taggedReply, why: "each dispatch follows a reply that writes it as a tagged list of calls"},
	{name: "hermes", agentic: true, reply: hermesReply, why: "each dispatch follows a reply that writes it as one tagged object a call"},
	{name: "react", agentic: true, reply: reactReply, why: "each dispatch follows a reply with an action line that names it"},
	{name: "looper", agentic: true, reply: nativeReply, loops: true, why: "the model names each dispatch, but repeats itself"},
	{name: "rules", reply: noReply, why: "no model was asked anything"},
	{name: "classifier", reply: classifierReply, why: "the model only picks among results that a program fetched"},
	{name: "narrator", reply: narratorReply, why: "the model only tells what a program did"},
	{name: "replay", reply: replayReply, why: "a program replays calls from one plan that names no tool"},
}

// agent is one run of a simulated agent, which attempts all problems of the generated data, with
// the settings of its behaviour.
type agent struct {
	family
	run, version, hotkey string
	model                string
	started              int64 // Unix milliseconds
	// skill is the probability of choosing the requested product if it was found. depth, from 0
	// to 3, is how much the reasoning considers.
	skill float64
	depth int
	// nonce reports whether the simulated proxy writes nonce_status.
	nonce bool
	// pages is the maximum number of searches, each followed by a view, for one requested
	// product.
	pages int
	// width is the maximum number of products that one view opens.
	width int
}

var models = []string{"orchard/Sprig-9B", "orchard/Grove-30B", "northwind/Atlas-70B"}

const (
	// firstDay is the start of day 0, 1 June 2026, in Unix milliseconds.
	firstDay = 1780272000000
	// dayLength is the length of a day in milliseconds.
	dayLength = 86_400_000
)

// newAgent returns the simulated agent of run i. In the share c.Agentic of all runs, evenly
// distributed, the model decides the agent's calls; in the others a program does. The families of
// both kinds alternate.
func newAgent(d *dice, i int, c Config) agent {
	before := int(float64(i) * c.Agentic)
	after := int(float64(i+1) * c.Agentic)
	agentic := after > before
	rank := before
	if !agentic {
		rank = i - before
	}
	var mine []family
	for _, f := range families {
		if f.agentic == agentic {
			mine = append(mine, f)
		}
	}
	return agent{
		family: mine[rank%len(mine)], run: d.uuid(), version: d.uuid(), hotkey: "5" + d.hex(47),
		model: pick(d, models), started: firstDay + int64(c.Day)*dayLength + int64(d.N(80_000_000)),
		skill: 0.5 + 0.48*d.Share(), depth: d.between(1, 3), nonce: d.chance(0.5),
		pages: c.Pages, width: d.between(3, 5),
	}
}

// reply is the reply of the simulated model to one request.
type reply struct {
	message string // the JSON message, empty where nothing was asked
	finish  string
	tokens  int
}

func textReply(content string) reply {
	return reply{object(
		"role",
		str("assistant"),
		"content",
		str(content),
	), str("stop"), len(content)/4 + 6}
}

func noReply(*move, bool) reply { return reply{} }

func nativeReply(m *move, _ bool) reply {
	var calls []string
	size := len(m.think)
	for _, c := range m.calls {
		function := object("name", str(c.name), "arguments", str(c.params))
		calls = append(calls, object("id", str(c.id()), "type", str("function"), "function", function))
		size += len(c.params) + len(c.name)
	}
	return reply{object("role", str("assistant"), "content", str(m.think), "tool_calls", list(calls...)), str("tool_calls"), size/4 + 6}
}

func taggedReply(m *move, _ bool) reply { return textReply(m.content()) }

func hermesReply(m *move, _ bool) reply {
	content := "<think>\n" + m.think + "\n</think>\n"
	for _, c := range m.calls {
		content += "\n<tool_call>\n" + object("name", str(c.name), "arguments", c.params) + "\n</tool_call>"
	}
	return textReply(content)
}

func reactReply(m *move, _ bool) reply {
	content := "Thought: " + m.think
	for _, c := range m.calls {
		content += "\nAction: " + c.name + "\nAction Input: " + c.params
	}
	return textReply(content)
}

func classifierReply(m *move, first bool) reply {
	if first || len(m.options) == 0 {
		return reply{}
	}
	return textReply(object("best", str(m.options[0].id), "confidence", "0.8"))
}

func narratorReply(m *move, _ bool) reply { return textReply(m.think) }

func replayReply(m *move, first bool) reply {
	if !first {
		return reply{}
	}
	return textReply(object("wishes", list(str(m.think)), "strategy", str("look each one up, open the best ones, answer")))
}

// The thinking of an agent depends on its depth: 0 plans only, 1 comments on results, 2 names
// data from them, and 3 compares two products with a reason.

// plan returns the simulated agent's thinking before a search for the product gold. try is the
// number of earlier searches for it. seen are the products found so far.
func (s *shopper) plan(gold *product, try int, seen []*product) string {
	name := lexicon.Nouns[gold.noun].Name
	if !s.a.agentic {
		return fmt.Sprintf("step %d: look up %s", len(s.moves)+1, name)
	}
	if try == 0 || len(seen) == 0 {
		return fmt.Sprintf(pick(s.d, []string{
			"The customer wants a %s. I begin with its most telling words.",
			"First I look for the %s and see what the shop offers.",
			"A search for the %s should show whether the brand is sold here at all.",
			"Let me find every %s that could match before opening any.",
		}), name)
	}
	return s.remark(seen, gold) + fmt.Sprintf(pick(s.d, []string{
		" I try other words for the %s.", " One more search, narrower, for the %s.", " A different page of %s results may hold a better one.",
	}), name)
}

// remark returns the simulated agent's thinking about the products that a search returned. gold
// is the requested product.
func (s *shopper) remark(products []*product, gold *product) string {
	if !s.a.agentic {
		return fmt.Sprintf("opening %d results", len(products))
	}
	best := products[0]
	other := products[len(products)-1]
	switch {
	case s.a.depth == 1:
		return fmt.Sprintf(
			pick(s.d, []string{"%d results came back and the upper ones look close.", "There are %d hits to check in detail.", "I got %d answers, more than I hoped for."}),
			len(products),
		)
	case s.a.depth == 2 || best == other:
		return fmt.Sprintf(pick(s.d, []string{
			"%s costs %s pesos, which I keep in mind.", "The listing %s is priced at %s pesos.", "I note product %s at %s pesos.",
		}), best.id, num(best.price))
	default:
		return s.compare(best, other, gold)
	}
}

// compare returns a sentence in which the simulated agent prefers one of the products a and b, by
// brand, material or price. gold is the requested product.
func (s *shopper) compare(a, b, gold *product) string {
	reason := fmt.Sprintf("%s pesos against %s", num(a.price), num(b.price))
	switch {
	case a.brand == gold.brand && b.brand != gold.brand:
		reason = fmt.Sprintf("it is by %s, the brand asked for, and the other is by %s", a.brand, b.brand)
	case a.material == gold.material && b.material != gold.material:
		reason = fmt.Sprintf("it is made of %s as asked, the other of %s", a.material, b.material)
	case b.price < a.price:
		a, b = b, a
		reason = fmt.Sprintf("it costs %s pesos, less than %s", num(a.price), num(b.price))
	}
	return fmt.Sprintf(pick(s.d, []string{
		"Between %s and %s I prefer %s because %s.", "%s and %s both qualify, yet %s is better: %s.", "Comparing %s with %s, I would take %s since %s.",
	}), a.id, b.id, a.id, reason)
}

// verdict returns the simulated agent's thinking before it recommends the chosen products.
func (s *shopper) verdict() string {
	if !s.a.agentic {
		return "all wishes have a candidate"
	}
	var parts []string
	for _, p := range s.chosen {
		parts = append(parts, fmt.Sprintf(
			"%s by %s at %s pesos",
			p.id,
			p.brand,
			num(p.price),
		))
	}
	return pick(s.d, []string{"I recommend ", "My pick is ", "The best answer is ", "This settles it: "}) + strings.Join(parts, " and ") + "."
}
