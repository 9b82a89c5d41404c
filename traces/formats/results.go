package formats

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// markOnlyResults sets isOnly of each result that directly follows an agent's message, names
// neither a call nor a tool, and is not followed by another result. A result at the end of the
// conversation is marked only if its role is observationRole, since further results may be missing
// there.
func (a *Attempt) markOnlyResults() {
	for i := 0; i+1 < len(a.messages); i++ {
		result := &a.messages[i+1]
		if a.messages[i].role != agentRole || !result.isResult() || result.callID != "" || result.name != "" {
			continue
		}
		isLast := i+2 == len(a.messages)
		isFollowed := !isLast && a.messages[i+2].isResult()
		result.isOnly = !isFollowed && (!isLast || result.role == observationRole)
	}
}

func (m *message) isResult() bool { return m.role == toolRole || m.role == observationRole }

// shareResult assigns one result to all unanswered calls of the last step, as a terminal shows one
// screen after a batch of commands. The last of these calls gets the result, the others an empty
// one, and the loss is recorded. The step must have an unanswered call.
func (a *Attempt) shareResult(result arena.Raw) {
	var last *arena.ToolCall
	calls := a.Steps[len(a.Steps)-1].Calls
	for i := range calls {
		if calls[i].Result == "" {
			calls[i].Result = `""`
			last = &calls[i]
		}
	}
	last.Result = result
	a.addLoss(lostShared)
}

// appendResult sets the result m of the first unanswered call that it belongs to: the call with its
// id, else a call without an id of the tool with its name. If m has no id, any call of the tool
// counts; an empty name is that of every tool.
//
// Without such a call, the result becomes a user step if the last agent step has its calls in its
// text: in <tool_response> tags if they can be read there, otherwise as plain text like the output
// of a terminal. In all other cases the result is dropped, and the trace gets a veto (reason not to
// train): as a user step it would be words that the user did not write.
func (a *Attempt) appendResult(m *message) {
	hasName := func(call *arena.ToolCall) bool { return m.name == "" || call.Name == m.name }
	call := a.unansweredCall(func(call *arena.ToolCall) bool {
		return call.ID == m.callID && m.callID != "" || m.callID == "" && hasName(call)
	})
	if call == nil && m.callID != "" { // calls in text have no ids
		call = a.unansweredCall(func(call *arena.ToolCall) bool { return call.ID == "" && hasName(call) })
	}
	if call != nil {
		call.Result = m.result
		return
	}
	turn := a.lastTextTurn()
	if turn == nil || !m.isOfStep && !a.mayCallInText(turn) {
		a.Veto(vetoUnmatched)
		return
	}
	text := m.result.Text()
	isTagged := strings.HasPrefix(strings.TrimSpace(text), "<tool_response>")
	if !isTagged && hasCallsInText(turn) {
		text = "<tool_response>\n" + text + "\n</tool_response>"
	}
	a.appendStep(arena.Step{Role: arena.RoleUser, Content: text})
}

// appendObservation assigns m, the result of all calls in the last agent step, to these calls. A
// JSON list with as many elements as calls is assigned by position, a single result by shareResult,
// and any other by appendResult. If the step has its calls as a list in its text, as in ToolACE,
// they first become calls of the step.
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
				a.appendResult(&message{result: arena.Raw(result.Raw)})
			}
			return
		}
	}
	if m.isOnly && unanswered > 1 {
		a.shareResult(m.result)
		return
	}
	a.appendResult(m)
}

// hasCallsInText reports whether the content or the reasoning of a step has tool calls that are
// written as text.
func hasCallsInText(s *arena.Step) bool {
	return len(calls.Mended(s.Content).Calls) > 0 || len(calls.Mended(s.Reasoning).Calls) > 0
}

// mayCallInText reports whether the text of a step has tool calls, or text that is written as a call
// and cannot be read.
func (a *Attempt) mayCallInText(s *arena.Step) bool {
	if a.callTurn != s {
		isCall := func(fault string) bool { return fault != calls.FaultOrphan && fault != calls.FaultLong }
		a.callTurn = s
		a.mayCall = hasCallsInText(s) || len(calls.Listed(strings.TrimSpace(s.Content))) > 0 ||
			slices.ContainsFunc(calls.Mended(s.Content).Faults, isCall)
	}
	return a.mayCall
}

// countUnanswered returns how many calls of the last step have no result yet. It examines only the
// first maxLookback calls.
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

// lastTextTurn returns the agent's last step if its calls may be written in its text: it has text
// and no list of calls. Otherwise, and if none of the last maxLookback steps is the agent's, it
// returns nil.
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

// maxLookback is the maximum number of steps and calls that are searched for the call to which a
// result belongs. Conversations have far fewer; the limit bounds the time for a malicious file.
const maxLookback = 500

// unansweredCall returns the first call without a result for which matches returns true. It returns
// nil if there is none. It searches the last step first, because ids repeat within a conversation,
// and at most maxLookback steps and calls.
func (a *Attempt) unansweredCall(matches func(call *arena.ToolCall) bool) *arena.ToolCall {
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
