package formats

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
)

// openHands is the format of OpenHands' events: actions and observations of versions before 1, and
// the events of its SDK. A file has an event in each line, or a list of them under "history" in a
// result of an evaluation.
var openHands = Format{
	Name:            "openhands",
	isProgramRecord: true,
	Writers:         "OpenHands events, trajectories and evaluations (output.jsonl), before and since version 1",
	Retained:        "tools, model, resolved as reward, error",
	Whole:           "one event is no attempt: join the events of the conversation, as by jq -c . events/*.json",
	matches: func(doc *value) bool {
		first := doc.get("history").firstElement()
		if first.isArray() { // a pair of an action and its observation
			first = first.firstElement()
		}
		return isOpenHandsEvent(first) || isOpenHandsEvent(doc.get("session").firstElement())
	},
	read: readOpenHands,
}

func isOpenHandsEvent(o *value) bool {
	if !o.get("source").isString() && o.string("action") != "system" {
		return false
	}
	isAction := o.get("action").isString() && o.get("args").isObject()
	isObservation := o.get("observation").isString() && o.has("content") && o.has("extras")
	isEvent := o.get("kind").isString() && o.get("id").isString() && o.has("timestamp")
	return isAction || isObservation || isEvent
}

func readOpenHands(r *reader, doc *value) {
	var events []sessionLine
	list := doc.get("session")
	if !list.exists() {
		list = doc.get("history")
	}
	for _, line := range r.sessionLines(list) {
		if line.isArray() { // a pair
			events = append(events, r.sessionLines(line.value)...)
			continue
		}
		events = append(events, line)
	}
	if len(events) == 1 {
		return
	}
	for i := range events {
		events[i].id = events[i].value.id("id")
	}
	conversations := r.openHandsConversations(events)
	r.readConversations(conversations, func(c *conversation) {
		s := openHandsSession{r: r, a: r.attempt(), calls: map[string]string{}}
		r.readLines(c.lines, func(l *sessionLine) { s.readEvent(l.value) })
		if doc.has("history") {
			s.readResult(doc, c, c == &conversations[0])
		}
	})
}

// openHandsConversations splits events into conversations. Another begins at each condensation,
// where a summary replaces events. At each delegation to another agent another begins too, which
// lasts until that agent's result.
func (r *reader) openHandsConversations(events []sessionLine) []conversation {
	conversations := []conversation{{}}
	stack := []int{0} // the conversations that have begun and not ended, the last one in front
	for _, event := range events {
		top := stack[len(stack)-1]
		if event.string("observation") == "delegate" && len(stack) > 1 {
			stack = stack[:len(stack)-1]
			top = stack[len(stack)-1]
		}
		if isCondensation(event.value) {
			r.remaining -= len(conversations[top].lines)
			if r.remaining < 0 {
				break
			}
			rest := r.condensed(conversations[top].lines, event)
			stack[len(stack)-1] = len(conversations)
			conversations = append(conversations, conversation{
				lines:       rest,
				isContinued: true,
				isDelegate:  conversations[top].isDelegate,
			})
			continue
		}
		conversations[top].lines = append(conversations[top].lines, event)
		if event.string("action") == "delegate" {
			stack = append(stack, len(conversations))
			conversations = append(conversations, conversation{isDelegate: true})
		}
	}
	return slices.DeleteFunc(conversations, func(c conversation) bool {
		return len(conversations) > 1 && len(c.lines) == 0
	})
}

func isCondensation(event *value) bool {
	return event.string("action") == "condensation" || event.string("kind") == "Condensation"
}

// condensed returns the events that the model still sees after a condensation, in which OpenHands
// replaces events by a summary: the events that it does not name as forgotten, marked as copied
// since an earlier conversation has them too, and the summary at the recorded index or at the end.
func (r *reader) condensed(events []sessionLine, condensation sessionLine) []sessionLine {
	args := condensation.value
	if args.get("args").isObject() {
		args = args.object("args")
	}
	forgotten := map[string]bool{}
	for id := range args.get("forgotten_event_ids").elements() {
		forgotten[id.idText()] = true
	}
	first := args.count("forgotten_events_start_id")
	last := args.count("forgotten_events_end_id")
	var kept []sessionLine
	for _, event := range events {
		number := event.count("id")
		isInRange := first != nil && last != nil && number != nil && *number >= *first && *number <= *last
		if !forgotten[event.id] && !isInRange {
			event.isCopied = true
			kept = append(kept, event)
		}
	}
	if text := args.get("summary"); text.isString() {
		offset := args.count("summary_offset")
		at := len(kept)
		if offset != nil {
			at = min(*offset, at)
		}
		summary := newObject(map[string]*value{"summary": text})
		summary.json = condensation.json
		kept = slices.Insert(kept, at, sessionLine{value: summary})
	}
	return kept
}

// openHandsSession reads the events of one conversation into messages of an attempt.
type openHandsSession struct {
	r       *reader
	a       *Attempt
	replies replyParts
	// reply is the JSON of the model's reply that was read last from an action.
	reply string
	// calls maps the id of an action that records no tool call of the model to the id of the call
	// that the action became.
	calls map[string]string
}

func (s *openHandsSession) readEvent(e *value) {
	switch {
	case e.has("kind"):
		s.readSDKEvent(e)
	case e.has("action"):
		s.readAction(e)
	case e.has("observation"):
		s.readObservation(e)
	case e.has("summary"):
		s.r.addText(userRole, s.r.textOf(e, "summary"))
	}
}

// readAction reads an action of OpenHands before version 1. If the action records the model's
// reply, the reply becomes a message, once for all actions from it. Otherwise an action of the
// agent becomes a call with the name of the action.
func (s *openHandsSession) readAction(e *value) {
	args := e.object("args")
	metadata := e.object("tool_call_metadata")
	kind := e.string("action")
	switch {
	case kind == "system":
		s.r.addSystem(s.r.textOf(args, "content"))
		s.a.Tools = cmp.Or(toolDefinitions(args.get("tools")), s.a.Tools)
	case !metadata.isEmpty():
		s.readReply(metadata.object("model_response"))
		metadata.markRead("function_name", "tool_call_id", "total_calls_in_response")
	case kind == "message" && e.string("source") == "user":
		s.r.addText(userRole, s.r.textOf(args, "content"))
		if images := args.get("image_urls"); images.isPresent() && !isEmptyValue(images.json) {
			s.a.hasNonText = true
		}
	case kind == "message":
		s.r.addStep(arena.Step{Content: s.r.textOf(args, "content"), Timestamp: unixMilliseconds(e.get("timestamp"))})
	case slices.Contains(openHandsStates, kind):
		s.r.leaveEvent(e)
	case e.string("source") == "user":
		s.r.addLoss(lostCommands)
		e.raw()
	case e.string("source") == "agent":
		id := "action-" + e.id("id")
		s.calls[e.id("id")] = id
		s.r.addStep(arena.Step{
			Content:   s.r.textOf(args, "thought"),
			Timestamp: unixMilliseconds(e.get("timestamp")),
			Calls:     []arena.ToolCall{{ID: id, Name: kind, Arguments: withoutThought(e.get("args"))}},
		})
	}
}

// openHandsStates are the kinds of actions and observations by which OpenHands controls its own
// run. They are no part of the conversation.
var openHandsStates = []string{
	"change_agent_state", "agent_state_changed", "null", "start", "pause", "resume", "stop", "recall",
	"condensation_request",
}

// readReply reads response, the model's reply that an action records, as a message. It does nothing
// if the last action had a reply with the same id.
func (s *openHandsSession) readReply(response *value) {
	id := response.id("id")
	if id != "" && id == s.replies.id {
		if response.json.Raw == s.reply {
			response.raw()
		}
		return
	}
	s.reply = response.json.Raw
	s.replies.id = id
	s.a.Model = cmp.Or(s.r.textOf(response, "model"), s.a.Model)
	s.r.readMessage(response.get("choices").firstElement().get("message"))
}

func (s *openHandsSession) readObservation(e *value) {
	kind := e.string("observation")
	call := cmp.Or(e.object("tool_call_metadata").id("tool_call_id"), s.calls[e.id("cause")])
	switch {
	case call != "":
		s.r.addResult(call, s.r.result(e.get("content")))
	case kind == "recall":
		s.r.addLoss(lostAttachment)
		e.raw()
	case slices.Contains(openHandsStates, kind), e.string("content") == "":
		s.r.leaveEvent(e)
	default:
		s.r.addText(userRole, s.r.textOf(e, "content"))
	}
}

// readSDKEvent reads an event of OpenHands' SDK (version 1 and later). Actions that are from the
// same reply of the model, by its id, are joined to one message.
func (s *openHandsSession) readSDKEvent(e *value) {
	r, a := s.r, s.a
	before := len(a.messages)
	switch kind := e.string("kind"); kind {
	case "SystemPromptEvent":
		r.addSystem(r.textOf(e.object("system_prompt"), "text"))
		r.addSystem(r.textOf(e.object("dynamic_context"), "text"))
		if e.peek("tools.0.function").Exists() {
			a.Tools = toolDefinitions(e.get("tools"))
		}
	case "MessageEvent":
		s.readSDKMessage(e)
	case "ActionEvent":
		r.addStep(r.sdkStep(e))
		e.markRead("tool_name", "tool_call_id") // which the call has
		s.replies.join(a, before, e.id("llm_response_id"))
	case "ObservationEvent":
		s.readSDKResult(e)
	case "AgentErrorEvent":
		r.addLoss(lostResultError)
		r.addResult(e.id("tool_call_id"), arena.Quote(r.textOf(e, "error")))
	case "UserRejectObservation":
		r.addResult(e.id("tool_call_id"), arena.Quote("Action rejected: "+r.textOf(e, "rejection_reason")))
	case "ConversationErrorEvent":
		r.setFailure(r.textOf(e, "code"), r.textOf(e, "detail"))
	case "ACPToolCallEvent":
		a.hasHiddenContext = true // the calls of another program, of which this is the display
	default:
		if slices.Contains(sdkStates, kind) {
			r.leaveEvent(e)
		}
	}
}

// sdkStep converts an action of OpenHands' SDK to a step with one call. A reply with several calls
// has an action for each call.
func (r *reader) sdkStep(action *value) arena.Step {
	step := arena.Step{
		Content:   r.content(action.get("thought")).text,
		Reasoning: r.reasoning(action.get("reasoning_content")),
		Calls:     []arena.ToolCall{r.call(action.object("tool_call"))},
		Timestamp: unixMilliseconds(action.get("timestamp")),
	}
	if step.Reasoning == "" {
		step.Reasoning = r.reasoning(action.get("thinking_blocks"))
	}
	if step.Reasoning == "" {
		step.Reasoning = r.content(action.object("responses_reasoning_item").get("summary")).text
	}
	return step
}

// sdkStates are the kinds of events by which OpenHands' SDK controls its own run. They are no part
// of the conversation.
var sdkStates = []string{
	"ConversationStateUpdateEvent", "CondensationRequest", "CondensationSummaryEvent", "PauseEvent", "TokenEvent",
	"LLMCompletionLogEvent", "StreamingDeltaEvent", "HookExecutionEvent",
}

func (s *openHandsSession) readSDKMessage(e *value) {
	m := e.object("llm_message")
	before := len(s.a.messages)
	s.r.readMessage(m)
	extended := s.r.content(e.get("extended_content")).text
	if len(s.a.messages) == before {
		return
	}
	last := &s.a.messages[len(s.a.messages)-1].step
	last.Content = strings.Trim(last.Content+"\n"+extended, "\n")
	last.Timestamp = unixMilliseconds(e.get("timestamp"))
	if m.string("role") == "assistant" && last.Reasoning == "" {
		last.Reasoning = s.r.reasoning(m.get("thinking_blocks"))
	}
}

func (s *openHandsSession) readSDKResult(e *value) {
	observation := e.object("observation")
	var result arena.Raw
	if observation.has("content") {
		result = s.r.result(observation.get("content"))
	} else {
		result = observation.raw()
	}
	if extended := s.r.content(e.get("extended_content")).text; extended != "" {
		result = arena.Quote(result.Text() + "\n" + extended)
	}
	if observation.get("is_error").isTrue() {
		s.r.addLoss(lostResultError)
	}
	s.r.addResult(e.id("tool_call_id"), result)
}

// readResult reads the ids, model, reward and error that the result of an evaluation has beside the
// history. Only the first conversation gets the problem id, because an id identifies one attempt.
// The conversation of a delegate (another agent) gets neither reward nor error.
func (s *openHandsSession) readResult(doc *value, c *conversation, isFirst bool) {
	a := s.a
	a.Session = doc.id("instance_id")
	if isFirst {
		a.ProblemID = a.Session
	}
	llm := doc.object("metadata").first("llm_config", "llm")
	a.Model = cmp.Or(a.Model, s.r.textOf(llm, "model"))
	if c.isDelegate {
		return
	}
	test := doc.object("test_result")
	for _, o := range []*value{doc.object("report"), test, test.object("report")} {
		a.Declared = cmp.Or(o.number("resolved"), a.Declared)
	}
	s.r.setFailure("", s.r.textOf(doc, "error"))
}

// withoutThought returns an object as JSON text without its members named thought. It marks all of
// o as read.
func withoutThought(o *value) arena.Raw {
	var kept []string
	for key, member := range o.json.ForEach {
		if key.Str != "thought" {
			kept = append(kept, key.Raw+":"+member.Raw)
		}
	}
	o.raw()
	return arena.Raw("{" + strings.Join(kept, ",") + "}")
}
