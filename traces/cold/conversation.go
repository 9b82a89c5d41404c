package cold

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

// Role is who speaks in a message.
type Role uint8

// The roles. A message of an unknown role is Other.
const (
	Other Role = iota
	System
	User
	Agent
	Tool
	// Observed is what a tool answered, or several: as a list with one element for
	// each call.
	Observed
)

type message struct {
	role Role
	// step is what an agent says and calls; of other roles it has Content alone.
	step arena.Step
	// callID, name and result are those of an answer of tools.
	callID, name string
	result       arena.Raw
}

// Attempt is one attempt as a document tells of it: a trace without its place.
type Attempt struct {
	arena.Trace
	// Text is the part of the document that the attempt is, where it holds several.
	Text string
	// Session and Trial name the attempt where its run and problem do not.
	Session, Trial string
	// Surrogate reports whether a text held half of a surrogate pair.
	Surrogate bool
	// Transcript is the list of the agent's inference calls, of an episode of an
	// environment pack.
	Transcript arena.Raw
	// Given are the file's own words for why the attempt is not to be trained on.
	Given []string

	messages []message
	// prompt gathers the system prompt of several messages.
	prompt []string
	// asked is set once the customer has spoken, or if no message is the request.
	asked bool
	// request is the request whatever messages say, dialogue whether there is one.
	request  string
	dialogue *bool
	// nonText reports whether images or other parts were left out, copied whether steps
	// repeat the context of an earlier trajectory, forged whether the ledger is another
	// than the verdict names.
	nonText, copied, forged bool
	verdict                 verdict
}

// NewTrace is a trace of which nothing is known but what its format says.
func NewTrace(source arena.Source) arena.Trace {
	return arena.Trace{Source: source, Status: arena.StatusSuccess, Seconds: math.NaN(), InferenceTotal: -1, InferenceFailures: -1}
}

// Vetoes of traces whose source holds what a Trace cannot.
const (
	vetoNonText   = "non_text_content"      // a message holds images or other content that is no text
	vetoUnmatched = "unmatched_tool_result" // a tool result answers no call
	vetoRole      = "unknown_role"          // a message has a role that is not known
	vetoOpenTurn  = "agent_before_user"     // the agent speaks before the customer
	vetoCopied    = "copied_context"        // steps repeat the context of an earlier trajectory
)

// Vetoes are the words that a reader of this package may give a trace.
var Vetoes = []string{vetoNonText, vetoUnmatched, vetoRole, vetoOpenTurn, vetoCopied, vetoEnvironment, vetoVerifier, vetoWorld,
	vetoDefect, vetoLeakage, vetoExploit, vetoLedger}

// finish makes the trace of what was read. Numbers beyond a float64, such as 1e400, which
// no JSON can hold, are left out.
func (a *Attempt) finish(source arena.Source) {
	a.Source = source
	for i := range a.messages {
		a.hear(&a.messages[i])
	}
	a.System, a.Query = cmp.Or(strings.Join(a.prompt, "\n\n"), a.System), cmp.Or(a.request, a.Query)
	set(&a.HasDialogue, a.dialogue)
	if a.Declared != nil && (math.IsInf(*a.Declared, 0) || math.IsNaN(*a.Declared)) {
		a.Declared, a.Lost = nil, append(a.Lost, lostScore)
	}
	if math.IsInf(a.Seconds, 0) {
		a.Seconds = math.NaN()
	}
	for _, veto := range []struct {
		word string
		is   bool
	}{{vetoNonText, a.nonText}, {vetoCopied, a.copied}, {vetoLedger, a.forged}} {
		if veto.is {
			a.Veto(veto.word)
		}
	}
	a.rule()
}

// hear adds a message to the steps. The system prompt is none: it is what a system says
// before anybody has spoken; nor is the request, which is what the customer says first.
func (a *Attempt) hear(m *message) {
	text := m.step.Content
	switch m.role {
	case System:
		if a.asked || len(a.Steps) > 0 {
			a.step(arena.Step{Role: arena.RoleSystem, Content: text})
		} else if text != "" || a.prompt != nil {
			a.prompt = append(a.prompt, text)
		}
	case User:
		if a.asked {
			a.step(arena.Step{Role: arena.RoleUser, Content: text})
		} else if a.asked, a.Query = true, cmp.Or(text, a.Query); len(a.Steps) > 0 {
			a.Veto(vetoOpenTurn)
		}
	case Agent:
		m.step.Role, a.HasDialogue = arena.RoleAgent, true
		a.step(m.step)
	case Tool:
		a.result(m.callID, m.name, m.result)
	case Observed:
		a.observed(m)
	case Other:
		a.Veto(vetoRole)
		a.step(arena.Step{Role: arena.RoleSystem, Content: text})
	}
}

func (a *Attempt) step(s arena.Step) {
	if s.Number < 1 {
		s.Number = len(a.Steps) + 1
	}
	if s.Role != arena.RoleAgent {
		s.LLMCalls = nil
	}
	a.Steps = append(a.Steps, s)
}

// result gives a tool's answer to the nearest call before it that has none:
// the last one of that id, for ids repeat within one conversation; without an
// id the first unanswered call of the nearest turn, of that name if it has one.
// Where the turn before wrote its calls as text, the answer stays beside it, in
// the tags that such text has for answers; where it wrote none that are known, as
// agents on a terminal do, it is what the environment said.
func (a *Attempt) result(id, name string, result arena.Raw) {
	if call := a.asking(id, name); call != nil {
		call.Result = result
		return
	}
	said := a.wroteText()
	if said == nil {
		a.Veto(vetoUnmatched)
		return
	}
	text := result.Text()
	if wrapped := strings.HasPrefix(strings.TrimSpace(text), "<tool_response>"); !wrapped && holdsCalls(said) {
		text = "<tool_response>\n" + text + "\n</tool_response>"
	}
	a.step(arena.Step{Role: arena.RoleUser, Content: text})
}

// observed gives one observation to the calls of the turn before it: as a list with
// one element for each of several calls, else as it is. The turn may be nothing but
// a list of calls as text, as in ToolACE.
func (a *Attempt) observed(m *message) {
	if s := a.wroteText(); s != nil {
		if all := calls.Listed(strings.TrimSpace(s.Content)); len(all) > 0 {
			s.Content, s.Calls = "", all
		}
	}
	if waiting, text := a.waiting(), m.result.Text(); waiting > 1 && arena.Raw(text).Kind() == arena.Array && cursor.Valid(text) {
		if each := gjson.Parse(text).Array(); len(each) == waiting {
			for _, value := range each {
				a.result("", "", arena.Raw(value.Raw))
			}
			return
		}
	}
	a.result(m.callID, m.name, m.result)
}

func holdsCalls(s *arena.Step) bool {
	return len(calls.Mended(s.Content).Calls) > 0 || s.Reasoning != "" && len(calls.Mended(s.Reasoning).Calls) > 0
}

func (a *Attempt) waiting() int {
	if len(a.Steps) == 0 {
		return 0
	}
	calls := a.Steps[len(a.Steps)-1].Calls
	return slicesx.CountFunc(calls[:min(len(calls), farBack)], func(c *arena.ToolCall) bool { return c.Result == "" })
}

// wroteText is the last turn of the model if it may have its calls in its text: it
// lists none, and says something. Else it is nil.
func (a *Attempt) wroteText() *arena.Step {
	near := a.Steps[max(0, len(a.Steps)-farBack):]
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
func (a *Attempt) asking(id, name string) *arena.ToolCall {
	looks := farBack
	for i := range slices.Backward(a.Steps) {
		if looks--; looks < 0 {
			return nil
		}
		calls := a.Steps[i].Calls
		for j := range calls[:min(len(calls), looks)] {
			call := &calls[j]
			if meant := id != "" && call.ID == id || id == "" && (name == "" || call.Name == name); meant && call.Result == "" {
				return call
			}
		}
		looks -= len(calls)
	}
	return nil
}
