package traces

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/traces/cold"
)

// Vetoes of traces whose source holds what a Trace cannot.
const (
	vetoNonText   = "non_text_content"      // a message holds images or other content that is no text
	vetoUnmatched = "unmatched_tool_result" // a tool result answers no call
	vetoRole      = "unknown_role"          // a message has a role that is not known
	vetoOpenTurn  = "agent_before_user"     // the agent speaks before the customer
	vetoCopied    = "copied_context"        // steps repeat the context of an earlier trajectory
)

// vetoForeign stands for a word that a file brings and no reader here gives.
const vetoForeign = "foreign_veto" // the file says that the attempt is not to be trained on, in a word of its own

// vetoes are the words that a reader may give a trace: no file makes up another.
var vetoes = []string{vetoNonText, vetoUnmatched, vetoRole, vetoOpenTurn, vetoCopied, vetoEnvironment, vetoVerifier, vetoWorld,
	vetoDefect, vetoLeakage, vetoExploit, vetoLedger, vetoContent, repairUTF8, repairSurrogate, repairNUL}

// conversation builds the steps of a trace from messages in their order.
type conversation struct {
	t *arena.Trace
	// asked is set once the customer has spoken.
	asked bool
	// prompt gathers the system prompt of several messages.
	prompt strings.Builder
}

// system is a system prompt if nobody has spoken yet, else a step.
func (v *conversation) system(text string) {
	switch {
	case v.asked || len(v.t.Steps) > 0:
		v.step(arena.Step{Role: arena.RoleSystem, Content: text})
	case v.t.System == "":
		v.t.System = text
	default:
		if v.prompt.Len() == 0 {
			v.prompt.WriteString(v.t.System)
		}
		v.prompt.WriteString("\n\n")
		v.prompt.WriteString(text)
		v.t.System = v.prompt.String()
	}
}

// user is the request itself the first time, then a step.
func (v *conversation) user(text string) {
	if v.asked {
		v.step(arena.Step{Role: arena.RoleUser, Content: text})
		return
	}
	if v.asked, v.t.Query = true, text; len(v.t.Steps) > 0 {
		addVeto(v.t, vetoOpenTurn)
	}
}

func (v *conversation) agent(s arena.Step) {
	s.Role = arena.RoleAgent
	v.t.HasDialogue = true
	v.step(s)
}

func (v *conversation) step(s arena.Step) {
	if s.Number < 1 {
		s.Number = len(v.t.Steps) + 1
	}
	if s.Role != arena.RoleAgent {
		s.LLMCalls = nil
	}
	v.t.Steps = append(v.t.Steps, s)
}

// result gives a tool's answer to the nearest call before it that has none:
// the last one of that id, for ids repeat within one conversation; without an
// id the first unanswered call of the nearest turn, of that name if it has one.
// Where the turn before wrote its calls as text, the answer stays beside it, in
// the tags that such text has for answers; where it wrote none that are known, as
// agents on a terminal do, it is what the environment said.
func (v *conversation) result(id, name string, result arena.Raw) {
	if call := v.asking(id, name); call != nil {
		call.Result = result
		return
	}
	said := v.wroteText()
	if said == nil {
		addVeto(v.t, vetoUnmatched)
		return
	}
	text := result.Text()
	if wrapped := strings.HasPrefix(strings.TrimSpace(text), "<tool_response>"); !wrapped && holdsCalls(said) {
		text = "<tool_response>\n" + text + "\n</tool_response>"
	}
	v.step(arena.Step{Role: arena.RoleUser, Content: text})
}

// observed gives one observation to the calls of the turn before it: as a list with
// one element for each of several calls, else as it is. The turn may be nothing but
// a list of calls as text, as in ToolACE.
func (v *conversation) observed(m *cold.Message) {
	if s := v.wroteText(); s != nil {
		if all := calls.Listed(strings.TrimSpace(s.Content)); len(all) > 0 {
			s.Content, s.Calls = "", all
		}
	}
	if waiting, text := v.waiting(), m.Result.Text(); waiting > 1 && arena.Raw(text).Kind() == arena.Array && cursor.Valid(text) {
		if each := gjson.Parse(text).Array(); len(each) == waiting {
			for _, value := range each {
				v.result("", "", arena.Raw(value.Raw))
			}
			return
		}
	}
	v.result(m.CallID, m.Name, m.Result)
}

func holdsCalls(s *arena.Step) bool {
	return len(calls.Mended(s.Content).Calls) > 0 || s.Reasoning != "" && len(calls.Mended(s.Reasoning).Calls) > 0
}

func (v *conversation) waiting() (n int) {
	if len(v.t.Steps) == 0 {
		return 0
	}
	calls := v.t.Steps[len(v.t.Steps)-1].Calls
	for _, call := range calls[:min(len(calls), farBack)] {
		if call.Result == "" {
			n++
		}
	}
	return n
}

// wroteText is the last turn of the model if it may have its calls in its text: it
// lists none, and says something. Else it is nil.
func (v *conversation) wroteText() *arena.Step {
	near := v.t.Steps[max(0, len(v.t.Steps)-farBack):]
	for i := range slices.Backward(near) {
		if s := &near[i]; s.Role == arena.RoleAgent {
			if len(s.Calls) == 0 && s.Content+s.Reasoning != "" {
				return s
			}
			return nil
		}
	}
	return nil
}

// farBack is how many steps and calls are looked through for what a result
// answers: far more than real conversations have, and a bound on the time that
// a hostile one can take.
const farBack = 500

// asking is the call that a result of that id or name answers; nil if none.
func (v *conversation) asking(id, name string) *arena.ToolCall {
	looks := farBack
	for i := range slices.Backward(v.t.Steps) {
		if looks--; looks < 0 {
			return nil
		}
		calls := v.t.Steps[i].Calls
		for j := range calls[:min(len(calls), looks)] {
			if call := &calls[j]; call.Result == "" && answers(id, name, call) {
				return call
			}
		}
		looks -= len(calls)
	}
	return nil
}

func answers(id, name string, call *arena.ToolCall) bool {
	if id != "" {
		return call.ID == id
	}
	return name == "" || call.Name == name
}
