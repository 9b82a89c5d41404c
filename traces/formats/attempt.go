package formats

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// role is the kind of a message, by its author. A role that no reader knows becomes otherRole.
type role uint8

const (
	otherRole role = iota
	systemRole
	userRole
	agentRole
	toolRole
	// observationRole is the role of a message with the results of all calls in the agent
	// message before it: one result, or a list with a result for each call.
	observationRole
)

// message is one message of a document, in a form common to all formats.
type message struct {
	role role
	// step is an agent's message with its calls. For other roles only its Content is set.
	step arena.Step
	// callID, name and result are those of a tool's result: the id of the call, the name of the
	// tool (both empty if unknown), and the value.
	callID, name string
	result       arena.Raw
	// isOnly reports whether a result directly after an agent's message names no call, and is the
	// only result there. It may then answer all calls of that message.
	isOnly bool
}

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

// addLoss adds a code to Lost unless Lost has it. The code names content of the source that the
// trace has no field for.
func (a *Attempt) addLoss(reason string) {
	if !slices.Contains(a.Lost, reason) {
		a.Lost = append(a.Lost, reason)
	}
}

// finish converts the collected messages to the trace: it sets the source, system prompt, request
// and steps, then adds the vetoes (reasons not to train) and applies the verdict of an episode.
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

// isOwnStep reports whether a step is the agent's and not masked. Steps that repeat an earlier
// trajectory are masked.
func isOwnStep(s arena.Step) bool { return s.Role == arena.RoleAgent && !s.Masked }

// removeGreeting removes texts of the agent before the customer's first message and records them as
// a loss, since no request led to them. It removes nothing if there is no such message, if the
// request is known from elsewhere, or if calls, results or messages of unknown role precede it.
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

// markOnlyResults sets isOnly of each result that directly follows an agent's message, names
// neither call nor tool, and precedes no other result. A result at the end of the conversation is
// marked only if its role is observationRole, since other results may be missing.
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

// shareResult sets result at the last unanswered call of the last step, and an empty result at the
// unanswered calls before it: a terminal shows one screen after a batch of commands. It records a
// loss. The step must have an unanswered call.
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

// splitLoneThinking moves the text before the first </think> of a step to its reasoning, if no
// <think> precedes it: chat templates write the opening tag into the prompt. It changes nothing if
// the step has reasoning.
func splitLoneThinking(s *arena.Step) {
	const closing = "</think>"
	thinking, text, found := strings.Cut(s.Content, closing)
	if !found || s.Reasoning != "" || s.Think != "" || strings.Contains(thinking, "<think") {
		return
	}
	s.Reasoning = strings.TrimSpace(thinking)
	s.Content = strings.TrimSpace(text)
}

// Parts of a message in the format of gpt-oss (harmony): its header, which may name the tool that the
// message calls, and its text up to the token that ends it.
var (
	// harmonyMessage matches the first message of a text in the format of gpt-oss. Group 1 is its
	// header, group 2 its text up to the token that ends it.
	harmonyMessage = regexp.MustCompile(`(?s)^\s*((?:<\|start\|>)?[^<]*<\|channel\|>[^<]*(?:<\|constrain\|>[^<]*)?)<\|message\|>(.*?)(?:<\|(?:end|call|return)\|>|$)`)
	// harmonyTool matches the name of the tool, group 1, in the header of a message that calls one.
	harmonyTool = regexp.MustCompile(`\bto=(?:functions\.)?([A-Za-z0-9_.-]+)`)
)

// splitHarmony splits the text of a step that consists of messages in the format of gpt-oss
// (harmony): those of the channel analysis become the reasoning, those to a tool become calls, all
// others the text. It changes nothing if the text has anything else, or the step has reasoning or
// calls.
func splitHarmony(s *arena.Step) {
	if !strings.Contains(s.Content, "<|channel|>") || s.Reasoning != "" || len(s.Calls) > 0 {
		return
	}
	split := *s
	var thoughts, texts []string
	for rest := s.Content; strings.TrimSpace(rest) != ""; {
		parts := harmonyMessage.FindStringSubmatch(rest)
		if parts == nil {
			return
		}
		rest = rest[len(parts[0]):]
		tool := harmonyTool.FindStringSubmatch(parts[1])
		switch {
		case tool != nil:
			split.Calls = append(split.Calls, arena.ToolCall{Name: tool[1], Arguments: arena.Quote(parts[2])})
		case strings.Contains(parts[1], "<|channel|>analysis"):
			thoughts = append(thoughts, parts[2])
		default:
			texts = append(texts, parts[2])
		}
	}
	split.Reasoning = strings.Join(thoughts, "\n")
	split.Content = strings.Join(texts, "\n")
	*s = split
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
		a.appendResult(m.callID, m.name, m.result)
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

// appendResult sets the result of the first unanswered call that it belongs to: the call with this
// id, else a call without an id of the tool with this name. If id is empty, any call of the tool
// counts; an empty name is that of every tool.
//
// If there is no such call and calls may be written in the text of the last agent step, the result
// becomes a user step. The step has <tool_response> tags if that text does have calls, and is plain
// text like the output of a terminal if not. Without such an agent step the result is dropped, and
// the trace gets a veto.
func (a *Attempt) appendResult(id, name string, result arena.Raw) {
	hasName := func(call *arena.ToolCall) bool { return name == "" || call.Name == name }
	call := a.unansweredCall(func(call *arena.ToolCall) bool {
		return call.ID == id && id != "" || id == "" && hasName(call)
	})
	if call == nil && id != "" { // calls in text have no ids
		call = a.unansweredCall(func(call *arena.ToolCall) bool { return call.ID == "" && hasName(call) })
	}
	if call != nil {
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

// appendObservation assigns m, the result of all calls in the last agent step, to these calls: a
// JSON list with as many elements as calls by index, a single result by shareResult, any other by
// appendResult. Calls that the step has as a list in its text, as in ToolACE, become calls first.
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
	if m.isOnly && unanswered > 1 {
		a.shareResult(m.result)
		return
	}
	a.appendResult(m.callID, m.name, m.result)
}

// hasCallsInText reports whether tool calls are written in the content or reasoning of a step.
func hasCallsInText(s *arena.Step) bool {
	if len(calls.Mended(s.Content).Calls) > 0 {
		return true
	}
	return s.Reasoning != "" && len(calls.Mended(s.Reasoning).Calls) > 0
}

// countUnanswered counts the calls of the last step that have no result yet, among the first
// maxLookback calls.
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

// lastTextTurn returns the agent's last step if it has text and no list of calls, so that calls
// may be written in the text. Otherwise, and if there is no agent step among the last
// maxLookback steps, it returns nil.
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

// maxLookback is the maximum number of steps and calls that are searched for the call of a
// result. Conversations have far fewer; the limit bounds the time for a malicious file.
const maxLookback = 500

// unansweredCall returns the first call without a result for which matches returns true, nil if
// there is none. It searches the last step first, because ids repeat within a conversation, and at
// most maxLookback steps and calls.
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
