package filters

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/slicesx"
	plaintext "github.com/trajectory-arena/arena/internal/text"
)

// Normalise brings a trace of any dialect into OpenAI's form: turns with tool
// calls, every result beside the call it answers. Turns name what had to be
// mended, the dialogue what could not be read. The trace is not changed; its
// strings are shared.
func Normalise(t *arena.Trace) arena.Dialogue {
	n, made := normaliser{trace: t}, 0
	for i := range t.Steps {
		made += len(t.Steps[i].Calls)
	}
	n.calls = make([]arena.Call, 0, made)
	n.turns = make([]arena.Turn, 0, len(t.Steps))
	n.ends = make([]int, 0, len(t.Steps))
	for i := range t.Steps {
		switch s := &t.Steps[i]; s.Role {
		case arena.RoleUser:
			n.user(i, s)
		case arena.RoleAgent:
			n.agent(i, s)
		case arena.RoleSystem:
		}
	}
	n.uniqueIDs()
	n.share()
	return arena.Dialogue{Turns: n.turns, Faults: n.faults}
}

// normaliser collects all calls in one piece of memory; spans says which of
// them belong to which turn until the piece has stopped growing.
type normaliser struct {
	trace  *arena.Trace
	turns  []arena.Turn
	calls  []arena.Call
	ends   []int
	faults []string
	// open is the first call that a later result may still answer.
	open int
}

func (n *normaliser) fault(word string) { n.faults = slicesx.AppendUnique(n.faults, word) }

// user keeps what the customer says after the request itself, and takes tool
// results out of messages that a client sent as the user.
func (n *normaliser) user(i int, s *arena.Step) {
	text := cmp.Or(s.Content, s.Response)
	if strings.Contains(text, "<") || strings.HasPrefix(strings.TrimSpace(text), "Observation") {
		if r := calls.Mended(text); len(r.Results) > 0 {
			n.results(r.Results)
			text = r.Text
		}
	}
	if text == "" || (len(n.turns) == 0 && text == n.trace.Query) {
		return
	}
	n.add(arena.Turn{Step: i, User: text})
}

func (n *normaliser) agent(i int, s *arena.Step) {
	turn := arena.Turn{Step: i, Think: s.Think, Text: s.Response}
	first := len(n.calls)
	if len(s.Calls) > 0 {
		n.recorded(&turn, s)
	} else {
		n.written(&turn, s)
	}
	if len(n.calls) > first {
		n.open = first
	}
	n.stepResults(&turn, s)
	if turn.Think == "" && turn.Text == "" && len(n.calls) == first {
		if last := len(n.turns) - 1; last >= 0 {
			n.turns[last].Repairs = append(n.turns[last].Repairs, turn.Repairs...)
		}
		return
	}
	n.add(turn)
}

// add appends a turn that owns the calls collected since the last one.
func (n *normaliser) add(t arena.Turn) {
	n.turns = append(n.turns, t)
	n.ends = append(n.ends, len(n.calls))
}

// recorded takes the calls that the step itself lists.
func (n *normaliser) recorded(turn *arena.Turn, s *arena.Step) {
	if turn.Think == "" && turn.Text == "" {
		turn.Think, turn.Text = s.Reasoning, s.Content
		if strings.IndexByte(s.Content, '<') >= 0 {
			turn.Think, turn.Text = calls.Think(s.Content)
		}
	}
	turn.Think = cmp.Or(turn.Think, s.Reasoning)
	for _, c := range evidence.Each(s.Calls) {
		if c.Name == "" {
			n.nameless(turn, c)
			continue
		}
		args, repair := calls.Arguments(c.Arguments)
		if args == "" {
			n.fault(calls.FaultArguments)
			args = "{}"
		}
		if repair != "" && !n.trace.Source.TextArguments {
			turn.Repairs = append(turn.Repairs, repair)
		}
		n.calls = append(n.calls, arena.Call{ID: c.ID, Name: evidence.ToolName(c.Name), Arguments: args, Result: c.Result})
	}
}

// nameless is a listed call without a name: either a result that was filed in
// the step after its call, or a fault.
func (n *normaliser) nameless(turn *arena.Turn, c *arena.ToolCall) {
	if c.Result == "" {
		n.fault(calls.FaultName)
		return
	}
	n.results([]calls.Result{{ID: c.ID, Content: c.Result}})
	turn.Repairs = append(turn.Repairs, calls.RepairLaterResults)
}

// written reads the calls out of the model's text, or out of its reasoning
// where the text holds none.
func (n *normaliser) written(turn *arena.Turn, s *arena.Step) {
	r := calls.Mended(s.Content)
	if len(r.Calls) == 0 && s.Reasoning != "" {
		inner := calls.Mended(s.Reasoning)
		if len(inner.Calls) > 0 {
			text := r.Text
			r = inner
			r.Think, r.Text = plaintext.Join(inner.Think, "\n", inner.Text), text
			r.Repairs = append(r.Repairs, calls.RepairReasoning)
		} else if r.Think == "" {
			r.Think = s.Reasoning
		}
	}
	turn.Think, turn.Text, turn.Repairs = cmp.Or(turn.Think, r.Think), cmp.Or(turn.Text, r.Text), r.Repairs
	for _, f := range r.Faults {
		n.fault(f)
	}
	if len(r.Results) > 0 {
		n.results(r.Results)
		turn.Repairs = append(turn.Repairs, calls.RepairLaterResults)
	}
	for _, c := range r.Calls {
		n.calls = append(n.calls, arena.Call{ID: c.ID, Name: evidence.ToolName(c.Name), Arguments: c.Arguments})
	}
}

// stepResults takes results that the step keeps beside its message.
func (n *normaliser) stepResults(turn *arena.Turn, s *arena.Step) {
	if s.Raw == "" || n.open >= len(n.calls) || n.calls[n.open].Result != "" || !strings.Contains(string(s.Raw), `"obs"`) {
		return
	}
	for _, path := range [...]string{"completion.message.obs", "completion.obs", "message.obs", "obs"} {
		obs := gjson.Get(string(s.Raw), path)
		if !obs.Exists() {
			continue
		}
		r := calls.Mended("<obs>" + obs.Raw + "</obs>")
		n.results(r.Results)
		turn.Repairs = append(turn.Repairs, calls.RepairLaterResults)
		return
	}
}

// results gives results to the calls still open: by id where both have one,
// else in order. Calls of earlier turns are closed: ids repeat in real traces,
// so a result is never matched over the whole of one.
func (n *normaliser) results(rs []calls.Result) {
	for _, r := range rs {
		if c := n.waiting(r.ID); c != nil {
			c.Result = r.Content
			continue
		}
		n.fault(calls.FaultOrphan)
	}
}

func (n *normaliser) waiting(id string) *arena.Call {
	var first *arena.Call
	for i := n.open; i < len(n.calls); i++ {
		c := &n.calls[i]
		if c.Result != "" {
			continue
		}
		if id != "" && c.ID == id {
			return c
		}
		if first == nil && (id == "" || c.ID == "") {
			first = c
		}
	}
	return first
}

// uniqueIDs gives calls without an id, or with one that was there before, an
// id of their own.
func (n *normaliser) uniqueIDs() {
	seen := make(map[string]bool, len(n.calls))
	for i, c := range evidence.Each(n.calls) {
		if c.ID == "" || seen[c.ID] {
			c.ID = c.ID + "#" + strconv.Itoa(i)
		}
		seen[c.ID] = true
	}
}

func (n *normaliser) share() {
	from := 0
	for i, end := range n.ends {
		if end > from {
			n.turns[i].Calls = n.calls[from:end:end]
		}
		from = end
	}
}
