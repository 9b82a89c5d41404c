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

// Normalise converts a trace of any dialect into OpenAI's form: turns with tool calls, each with
// its result. Each turn lists its repairs, and the dialogue lists what could not be read. The
// trace is not changed, but the dialogue shares its strings.
func Normalise(t *arena.Trace) arena.Dialogue {
	recorded := 0
	for i := range t.Steps {
		recorded += len(t.Steps[i].Calls)
	}
	n := normaliser{
		trace: t,
		calls: make([]arena.Call, 0, recorded),
		turns: make([]arena.Turn, 0, len(t.Steps)),
		ends:  make([]int, 0, len(t.Steps)),
	}
	for i := range t.Steps {
		switch s := &t.Steps[i]; s.Role {
		case arena.RoleUser:
			n.addUser(i, s)
		case arena.RoleAgent:
			n.addAgent(i, s)
		case arena.RoleSystem:
		}
	}
	n.setUniqueIDs()
	n.assignCalls()
	return arena.Dialogue{Turns: n.turns, Faults: n.faults}
}

// normaliser converts the steps of a trace to the turns of a dialogue. It collects the calls of
// all turns in one slice, which saves allocations.
type normaliser struct {
	trace *arena.Trace
	turns []arena.Turn
	calls []arena.Call
	// ends[i] is the index in calls after the last call of turns[i].
	ends   []int
	faults []string
	// open is the index of the first call that a later result may still answer. Only the calls
	// of the last turn with calls can be answered.
	open int
}

func (n *normaliser) addFault(fault string) {
	n.faults = slicesx.AppendUnique(n.faults, fault)
}

// addUser adds a turn with the customer's message in step i. It adds nothing if the message is
// empty or repeats the request with which the trace begins. Tool results that a client sent as the
// user are removed from the text and stored with their calls.
func (n *normaliser) addUser(i int, s *arena.Step) {
	text := cmp.Or(s.Content, s.Response)
	if results := calls.Observations(text); results != nil && n.openCall("") != nil {
		n.addResults(results)
		return
	}
	if strings.Contains(text, "<") {
		if r := calls.Mended(text); len(r.Results) > 0 {
			n.addResults(r.Results)
			text = r.Text
		}
	}
	isRequest := len(n.turns) == 0 && text == n.trace.Query
	if text == "" || isRequest {
		return
	}
	n.addTurn(arena.Turn{Step: i, User: text})
}

func (n *normaliser) addAgent(i int, s *arena.Step) {
	turn := arena.Turn{
		Step:  i,
		Think: s.Think,
		Text:  s.Response,

		Masked: s.Masked,
	}
	first := len(n.calls)
	if len(s.Calls) > 0 {
		n.addRecordedCalls(&turn, s)
	} else {
		n.addTextCalls(&turn, s)
	}
	if len(n.calls) > first {
		n.open = first
	}
	n.addStepResults(&turn, s)

	isEmpty := turn.Think == "" && turn.Text == "" && len(n.calls) == first
	if !isEmpty {
		n.addTurn(turn)
		return
	}
	if last := len(n.turns) - 1; last >= 0 {
		n.turns[last].Repairs = append(n.turns[last].Repairs, turn.Repairs...)
	}
}

// addTurn appends a turn to the dialogue. The calls that were added since the previous turn
// belong to the new one.
func (n *normaliser) addTurn(t arena.Turn) {
	n.turns = append(n.turns, t)
	n.ends = append(n.ends, len(n.calls))
}

// addRecordedCalls adds the calls that the trace recorded as data instead of text to the dialogue.
// It also sets the turn's thoughts if they are empty, and its text if both are.
func (n *normaliser) addRecordedCalls(turn *arena.Turn, s *arena.Step) {
	if turn.Think == "" && turn.Text == "" {
		turn.Think = s.Reasoning
		turn.Text = s.Content
		if strings.IndexByte(s.Content, '<') >= 0 {
			turn.Think, turn.Text = calls.SplitThink(s.Content)
		}
	}
	turn.Think = cmp.Or(turn.Think, s.Reasoning)
	for i := range s.Calls {
		c := &s.Calls[i]
		if c.Name == "" {
			n.addNameless(turn, c)
			continue
		}
		args, repairs := calls.Arguments(c.Arguments)
		if args == "" {
			n.addFault(calls.FaultArguments)
			args = "{}"
		}
		for _, word := range repairs {
			if word != calls.RepairArgumentsText || !n.trace.Source.TextArguments {
				turn.Repairs = append(turn.Repairs, word)
			}
		}
		n.calls = append(n.calls, arena.Call{
			ID:        c.ID,
			Name:      evidence.ToolName(c.Name),
			Arguments: args,
			Result:    c.Result,
		})
	}
}

// addNameless handles a recorded call without a tool name. If the call has a result, the result
// is assigned to an earlier call, since some clients record results in the next step. Otherwise
// the call is a fault of the dialogue.
func (n *normaliser) addNameless(turn *arena.Turn, c *arena.ToolCall) {
	if c.Result == "" {
		n.addFault(calls.FaultName)
		return
	}
	n.addResults([]calls.Result{{
		ID:      c.ID,
		Content: c.Result,
	}})
	turn.Repairs = append(turn.Repairs, calls.RepairLaterResults)
}

// addTextCalls parses the calls that the model wrote in its text or, if there are none, in its
// reasoning. It sets the turn's thoughts and text where they are empty, and its repairs.
func (n *normaliser) addTextCalls(turn *arena.Turn, s *arena.Step) {
	r := calls.Mended(s.Content)
	if len(r.Calls) == 0 && s.Reasoning != "" {
		inner := calls.Mended(s.Reasoning)
		if len(inner.Calls) > 0 {
			text := r.Text
			r = inner
			r.Think = plaintext.Join(inner.Think, "\n", inner.Text)
			r.Text = text
			r.Repairs = append(r.Repairs, calls.RepairReasoning)
		} else if r.Think == "" {
			r.Think = s.Reasoning
		}
	}

	turn.Think = cmp.Or(turn.Think, r.Think)
	turn.Text = cmp.Or(turn.Text, r.Text)
	turn.Repairs = r.Repairs
	for _, f := range r.Faults {
		n.addFault(f)
	}
	if len(r.Results) > 0 {
		n.addResults(r.Results)
		turn.Repairs = append(turn.Repairs, calls.RepairLaterResults)
	}
	for _, c := range r.Calls {
		n.calls = append(n.calls, arena.Call{
			ID:        c.ID,
			Name:      evidence.ToolName(c.Name),
			Arguments: c.Arguments,
		})
	}
}

// observationPaths are the JSON paths of the fields in which clients store tool results within
// a step.
var observationPaths = [...]string{"completion.message.obs", "completion.obs", "message.obs", "obs"}

// addStepResults reads the tool results that a step stores in one of observationPaths and
// assigns them to the latest calls. It does nothing if there are no such calls, or the first
// one already has a result.
func (n *normaliser) addStepResults(turn *arena.Turn, s *arena.Step) {
	isWaiting := n.open < len(n.calls) && n.calls[n.open].Result == ""
	if !isWaiting || !strings.Contains(string(s.Raw), `"obs"`) {
		return
	}
	for _, path := range observationPaths {
		obs := gjson.Get(string(s.Raw), path)
		if !obs.Exists() {
			continue
		}
		r := calls.Mended("<obs>" + obs.Raw + "</obs>")
		n.addResults(r.Results)
		turn.Repairs = append(turn.Repairs, calls.RepairLaterResults)
		return
	}
}

// addResults assigns results to the open calls, which are the calls of the last turn that has
// calls. A result is assigned by its id or, if an id is missing, in order. A result without an
// open call is a fault. Calls of earlier turns are not open because ids repeat within real
// traces.
func (n *normaliser) addResults(results []calls.Result) {
	for _, r := range results {
		c := n.openCall(r.ID)
		if c == nil {
			n.addFault(calls.FaultOrphan)
			continue
		}
		c.Result = r.Content
	}
}

// openCall returns the open call with this id and without a result. If there is none, it returns
// the first open call where the call or the result has no id, or nil. Open calls are the calls
// of the last turn that has calls.
func (n *normaliser) openCall(id string) *arena.Call {
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

// setUniqueIDs sets unique ids of calls: it appends "#" and the call's index to an id that is
// empty or already used, and more "#" while the result is used too.
func (n *normaliser) setUniqueIDs() {
	used := make(map[string]bool, len(n.calls))
	for i := range n.calls {
		c := &n.calls[i]
		if c.ID == "" || used[c.ID] {
			c.ID = c.ID + "#" + strconv.Itoa(i)
		}
		for used[c.ID] {
			c.ID += "#"
		}
		used[c.ID] = true
	}
}

// assignCalls sets the Calls of each turn, which are consecutive in the slice of all calls.
func (n *normaliser) assignCalls() {
	start := 0
	for i, end := range n.ends {
		if end > start {
			n.turns[i].Calls = n.calls[start:end:end]
		}
		start = end
	}
}
