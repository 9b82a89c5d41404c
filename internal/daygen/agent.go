package daygen

// family is one way of building an agent. The families are our own: the plain
// ways in which a model can decide its calls, and in which a program can.
type family struct {
	name    string
	agentic bool
	why     string
	// reply renders what the model answered before a move; empty where no
	// inference call came before it.
	reply func(m *move, first bool) reply
	// loops repeats searches without a reason.
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

// agent is one run of one agent over all problems of the day.
type agent struct {
	family
	run, version, hotkey string
	model                string
	started              int64 // Unix milliseconds
	// skill is the chance to choose the gold product where it was found; depth,
	// 0 to 3, how far the thinking goes.
	skill float64
	depth int
	// nonce reports whether the proxy of the day wrote nonce_status.
	nonce bool
	// pages is how many searches and views one wish takes at most.
	pages int
	// width is how many products one view opens.
	width int
}

var models = []string{"orchard/Sprig-9B", "orchard/Grove-30B", "northwind/Atlas-70B"}

// dayStart is 1 June 2026, the day that all generated days play on.
const dayStart = 1780272000000

// newAgent makes the i-th run. Of all runs the given share is agentic, spread
// evenly; each kind goes through its families in turn.
func newAgent(d *dice, i int, c Config) agent {
	before, after := int(float64(i)*c.Agentic), int(float64(i+1)*c.Agentic)
	agentic, rank := after > before, before
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
		model: pick(d, models), started: dayStart + int64(d.N(80_000_000)),
		skill: 0.5 + 0.48*d.Share(), depth: d.between(1, 3), nonce: d.chance(0.5),
		pages: c.Pages, width: d.between(3, 5),
	}
}

// reply is what the model answered in one inference call.
type reply struct {
	message string // the JSON message, empty where nothing was asked
	finish  string
	tokens  int
}

func textReply(content string) reply {
	return reply{object("role", str("assistant"), "content", str(content)), str("stop"), len(content)/4 + 6}
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
