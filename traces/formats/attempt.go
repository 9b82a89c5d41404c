package formats

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// role is the role of a message. A message with an unknown role has otherRole.
type role uint8

const (
	otherRole role = iota
	systemRole
	userRole
	agentRole
	toolRole
	// observationRole is the role of a message with the results of all calls of the turn
	// before it: one result, or a list with one element for each call.
	observationRole
)

// message is one message of a document.
type message struct {
	role role
	// step is the turn of an agent. For other roles only Content is set.
	step arena.Step
	// callID, name and result belong to a tool's result: the id of its call and the name
	// of the tool, both empty if unknown.
	callID, name string
	result       arena.Raw
}

// Attempt is one attempt of a document. The trace has no place in a file yet.
type Attempt struct {
	arena.Trace
	// Part is the attempt's part of the document, empty if it has no other attempt.
	Part string
	// Session and Trial identify the attempt if its run and problem do not.
	Session, Trial string
	// HasLoneSurrogate reports whether a string had half of a surrogate pair.
	HasLoneSurrogate bool
	// Transcript is the list of inference calls in an episode of an environment pack.
	Transcript arena.Raw
	// DeclaredVetoes are the reasons that the document gives for not training on the
	// attempt.
	DeclaredVetoes []string

	messages []message
	// prompt has the messages that form the system prompt.
	prompt []string
	// hasRequest is set after the first user message, or if no message is the request.
	hasRequest bool
	// request replaces the request in the messages if it is not empty.
	request string
	// hasDialogue replaces HasDialogue of the trace if it is not nil.
	hasDialogue *bool
	// hasNonText reports whether images or other parts without text were left out.
	hasNonText bool
	// hasCopiedContext reports whether steps repeat an earlier trajectory.
	hasCopiedContext bool
	// ledgerMismatch reports whether the verdict names another ledger.
	ledgerMismatch bool
	verdict        verdict
}

// NewTrace returns a trace without any content.
func NewTrace(source arena.Source) arena.Trace {
	return arena.Trace{
		Source:            source,
		Status:            arena.StatusSuccess,
		Seconds:           math.NaN(),
		InferenceTotal:    -1,
		InferenceFailures: -1,
	}
}

// Vetoes of traces whose source holds what a Trace cannot.
const (
	vetoNonText   = "non_text_content"      // a message holds images or other content that is no text
	vetoUnmatched = "unmatched_tool_result" // a tool result answers no call
	vetoRole      = "unknown_role"          // a message has a role that is not known
	vetoOpenTurn  = "agent_before_user"     // the agent speaks before the customer
	vetoCopied    = "copied_context"        // steps repeat the context of an earlier trajectory
)

// Vetoes lists the vetoes that the readers of this package set.
var Vetoes = []string{
	vetoNonText, vetoUnmatched, vetoRole, vetoOpenTurn, vetoCopied, vetoEnvironment, vetoVerifier, vetoWorld,
	vetoDefect, vetoLeakage, vetoExploit, vetoLedger,
}

// finish builds the trace from the messages.
func (a *Attempt) finish(source arena.Source) {
	a.Source = source
	for i := range a.messages {
		a.appendMessage(&a.messages[i])
	}
	a.System = cmp.Or(strings.Join(a.prompt, "\n\n"), a.System)
	a.Query = cmp.Or(a.request, a.Query)
	setIfPresent(&a.HasDialogue, a.hasDialogue)

	// Numbers beyond a float64, such as 1e400, cannot be written as JSON again.
	if a.Declared != nil && (math.IsInf(*a.Declared, 0) || math.IsNaN(*a.Declared)) {
		a.Declared = nil
		a.Lost = append(a.Lost, lostScore)
	}
	if math.IsInf(a.Seconds, 0) {
		a.Seconds = math.NaN()
	}

	if a.hasNonText {
		a.Veto(vetoNonText)
	}
	if a.hasCopiedContext {
		a.Veto(vetoCopied)
	}
	if a.ledgerMismatch {
		a.Veto(vetoLedger)
	}
	a.applyVerdict()
}

// appendMessage adds a message to the steps. System messages before all others form the
// system prompt and the first user message is the request; neither becomes a step.
func (a *Attempt) appendMessage(m *message) {
	text := m.step.Content
	switch m.role {
	case systemRole:
		if a.hasRequest || len(a.Steps) > 0 {
			a.appendStep(arena.Step{Role: arena.RoleSystem, Content: text})
		} else if text != "" || a.prompt != nil {
			a.prompt = append(a.prompt, text)
		}
	case userRole:
		if a.hasRequest {
			a.appendStep(arena.Step{Role: arena.RoleUser, Content: text})
			return
		}
		a.hasRequest = true
		a.Query = cmp.Or(text, a.Query)
		if len(a.Steps) > 0 {
			a.Veto(vetoOpenTurn)
		}
	case agentRole:
		a.HasDialogue = true
		m.step.Role = arena.RoleAgent
		a.appendStep(m.step)
	case toolRole:
		a.appendResult(m.callID, m.name, m.result)
	case observationRole:
		a.appendObservation(m)
	case otherRole:
		a.Veto(vetoRole)
		a.appendStep(arena.Step{Role: arena.RoleSystem, Content: text})
	}
}

func (a *Attempt) appendStep(s arena.Step) {
	if s.Number < 1 {
		s.Number = len(a.Steps) + 1
	}
	if s.Role != arena.RoleAgent {
		s.LLMCalls = nil
	}
	a.Steps = append(a.Steps, s)
}

// appendResult sets the result of a call that has none yet: of the last call with the id,
// because ids repeat within one conversation, or without an id of the first call of the
// nearest turn, with the name if it is not empty.
//
// Without such a call the result becomes a user step if the turn before it has no list of
// calls. If that turn has calls in its text, the step has the tags in which such text
// writes results. Otherwise it is output of the environment, as for agents on a terminal.
func (a *Attempt) appendResult(id, name string, result arena.Raw) {
	if call := a.unansweredCall(id, name); call != nil {
		call.Result = result
		return
	}
	turn := a.lastTextTurn()
	if turn == nil {
		a.Veto(vetoUnmatched)
		return
	}
	text := result.Text()
	isTagged := strings.HasPrefix(strings.TrimSpace(text), "<tool_response>")
	if !isTagged && hasCallsInText(turn) {
		text = "<tool_response>\n" + text + "\n</tool_response>"
	}
	a.appendStep(arena.Step{Role: arena.RoleUser, Content: text})
}

// appendObservation sets the results of the calls of the turn before it. The turn may
// consist of a list of calls as text, as in ToolACE.
func (a *Attempt) appendObservation(m *message) {
	if turn := a.lastTextTurn(); turn != nil {
		if listed := calls.Listed(strings.TrimSpace(turn.Content)); len(listed) > 0 {
			turn.Content = ""
			turn.Calls = listed
		}
	}

	unanswered := a.countUnanswered()
	text := m.result.Text()
	if unanswered > 1 && arena.Raw(text).Kind() == arena.Array && cursor.Valid(text) {
		if results := gjson.Parse(text).Array(); len(results) == unanswered {
			for _, result := range results {
				a.appendResult("", "", arena.Raw(result.Raw))
			}
			return
		}
	}
	a.appendResult(m.callID, m.name, m.result)
}

// hasCallsInText reports whether the content or the reasoning of a turn has calls.
func hasCallsInText(s *arena.Step) bool {
	if len(calls.Mended(s.Content).Calls) > 0 {
		return true
	}
	return s.Reasoning != "" && len(calls.Mended(s.Reasoning).Calls) > 0
}

// countUnanswered returns the number of calls of the last step that have no result.
func (a *Attempt) countUnanswered() int {
	if len(a.Steps) == 0 {
		return 0
	}
	calls := a.Steps[len(a.Steps)-1].Calls
	calls = calls[:min(len(calls), maxLookback)]
	return slicesx.CountFunc(calls, func(c *arena.ToolCall) bool {
		return c.Result == ""
	})
}

// lastTextTurn returns the last turn of the agent if it has text but no list of calls, so
// that its calls may be in the text. Otherwise it returns nil.
func (a *Attempt) lastTextTurn() *arena.Step {
	recent := a.Steps[max(0, len(a.Steps)-maxLookback):]
	for i := range slices.Backward(recent) {
		s := &recent[i]
		if s.Role != arena.RoleAgent {
			continue
		}
		if len(s.Calls) > 0 || s.Content+s.Reasoning == "" {
			return nil
		}
		return s
	}
	return nil
}

// maxLookback is the number of steps and calls that are searched for the call of a result.
// Conversations have far fewer; the limit bounds the time that a hostile one can take.
const maxLookback = 500

// unansweredCall returns the call to which a result with this id or name belongs, or nil
// if there is none.
func (a *Attempt) unansweredCall(id, name string) *arena.ToolCall {
	matches := func(call *arena.ToolCall) bool {
		if id != "" {
			return call.ID == id
		}
		return name == "" || call.Name == name
	}
	remaining := maxLookback
	for i := range slices.Backward(a.Steps) {
		remaining--
		if remaining < 0 {
			return nil
		}
		calls := a.Steps[i].Calls
		for j := range calls[:min(len(calls), remaining)] {
			call := &calls[j]
			if call.Result == "" && matches(call) {
				return call
			}
		}
		remaining -= len(calls)
	}
	return nil
}
