package formats

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
)

// Attempt is one attempt of a document. Its trace has no ids and no source line yet.
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
	// callTurn is the step whose text was last searched for calls, and mayCall the answer. Many results
	// of no call may follow one step.
	callTurn *arena.Step
	mayCall  bool
	// own are the values of the document that belong to this attempt alone. Parts of them that no
	// reader reads are losses of this attempt.
	own []*value
	// prompt has the texts of the system messages at the start, which form the system prompt.
	prompt []string
	// hasRequest is set if the next user message is not the customer's request, because there
	// was one before or the document has the request elsewhere.
	hasRequest bool
	// request is the customer's request if the messages do not have it, otherwise empty.
	request string
	// hasDialogue overrides HasDialogue of the trace unless it is nil.
	hasDialogue *bool
	// hasNonText reports whether images or other parts without text were left out.
	hasNonText bool
	// hasUnreadPart reports whether a call, a result or a part of a kind that is not read was left
	// out.
	hasUnreadPart bool
	// hasCopiedContext reports whether steps repeat an earlier trajectory.
	hasCopiedContext bool
	// hasHiddenContext reports whether the model saw something that the source does not hold.
	hasHiddenContext bool
	// ledgerMismatch reports whether the verdict names another task, environment pack or checksum
	// than the ledger (log of an episode) in the document has.
	ledgerMismatch bool
	verdict        verdict
}

// NewTrace returns a trace without content, with the status success and unknown counts.
func NewTrace(source arena.Source) arena.Trace {
	return arena.Trace{
		Source:            source,
		Status:            arena.StatusSuccess,
		Seconds:           math.NaN(),
		InferenceTotal:    -1,
		InferenceFailures: -1,
	}
}

// Vetoes (reasons not to train on a trace) for messages that a Trace cannot represent exactly.
const (
	vetoNonText   = "non_text_content"      // a message holds images or other content that is no text
	vetoUnread    = "unread_part"           // a call, a result or a part of a message is of a kind that is not read
	vetoUnmatched = "unmatched_tool_result" // a tool result answers no call
	vetoRole      = "unknown_role"          // a message has a role that is not known
	vetoOpenTurn  = "agent_before_user"     // the agent speaks before the customer
	vetoCopied    = "copied_context"        // all steps of the agent repeat an earlier trajectory
	vetoHidden    = "hidden_context"        // the model saw a summary or calls that the source does not hold
)

// Vetoes lists the vetoes that the readers of this package set.
var Vetoes = []string{
	vetoNonText, vetoUnread, vetoUnmatched, vetoRole, vetoOpenTurn, vetoCopied, vetoHidden, vetoEnvironment, vetoVerifier,
	vetoWorld,
	vetoDefect, vetoLeakage, vetoExploit, vetoLedger,
}

// addLoss adds a code to a.Lost, unless it is there. The code names content of the source document
// that is lost because a trace has no field for it.
func (a *Attempt) addLoss(reason string) {
	if !slices.Contains(a.Lost, reason) {
		a.Lost = append(a.Lost, reason)
	}
}

// finish converts the collected messages to the trace: it sets the source, system prompt, request
// and steps, then adds the vetoes (reasons not to train) and applies the verdict, if the attempt is
// an episode that has one.
func (a *Attempt) finish(source arena.Source) {
	a.Source = source
	a.removeGreeting()
	a.markOnlyResults()
	for i := range a.messages {
		splitLoneThinking(&a.messages[i].step)
		splitHarmony(&a.messages[i].step)
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
	if a.hasUnreadPart {
		a.Veto(vetoUnread)
	}
	if a.hasCopiedContext && !slices.ContainsFunc(a.Steps, isOwnStep) {
		a.Veto(vetoCopied)
	}
	if a.hasHiddenContext {
		a.Veto(vetoHidden)
	}
	if a.ledgerMismatch {
		a.Veto(vetoLedger)
	}
	a.applyVerdict()
}

// isOwnStep reports whether a step is the agent's and is to be trained on. Steps that repeat an
// earlier trajectory are masked (left out of training).
func isOwnStep(s arena.Step) bool { return s.Role == arena.RoleAgent && !s.Masked }

// removeGreeting removes texts of the agent before the customer's first message, since no request
// led to them, and records that they are lost. It removes nothing if there is no such message, if
// the request is known from elsewhere, or if calls, results or messages of unknown role precede
// that message.
func (a *Attempt) removeGreeting() {
	first := slices.IndexFunc(a.messages, func(m message) bool { return m.role == userRole })
	if first < 0 || a.request != "" || a.Query != "" {
		return
	}
	isGreeting := func(m message) bool { return m.role == agentRole && len(m.step.Calls) == 0 }
	before := a.messages[:first]
	if !slices.ContainsFunc(before, isGreeting) || slices.ContainsFunc(before, func(m message) bool {
		return m.role != systemRole && !isGreeting(m)
	}) {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(before), isGreeting)
	a.messages = append(kept, a.messages[first:]...)
	a.addLoss(lostGreeting)
}

// appendMessage adds a message to the trace. System messages before all others form the system
// prompt, and the first user message becomes the customer's request if that is not yet known. Any
// other message becomes a step, or the result of a call.
func (a *Attempt) appendMessage(m *message) {
	text := m.step.Content
	step := arena.Step{Content: text, Timestamp: m.step.Timestamp}
	switch m.role {
	case systemRole:
		if a.hasRequest || len(a.Steps) > 0 {
			step.Role = arena.RoleSystem
			a.appendStep(step)
		} else if text != "" || a.prompt != nil {
			a.prompt = append(a.prompt, text)
		}
	case userRole:
		if a.hasRequest {
			step.Role = arena.RoleUser
			a.appendStep(step)
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
		if m.isOnly && a.countUnanswered() > 1 {
			a.appendObservation(m)
			return
		}
		a.appendResult(m)
	case observationRole:
		a.appendObservation(m)
	case otherRole:
		a.Veto(vetoRole)
		step.Role = arena.RoleSystem
		a.appendStep(step)
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
