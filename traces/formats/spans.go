package formats

import (
	"strings"

	"github.com/trajectory-arena/arena"
)

// spans is the format of lists of spans: records of model calls by tracing tools. All calls with
// one trace id are one attempt. Each call repeats the conversation before it, so only the call with
// the most messages is read.
var spans = Format{
	Name:            "spans",
	isProgramRecord: true,
	Retained:        "tools, model, error, reward",
	Writers: "OpenTelemetry GenAI spans and events (OTLP/JSON, console), OpenInference (Phoenix exports), Langfuse's SDK and " +
		"exports, LangSmith runs, MLflow traces, Weave calls, agent-lightning spans",
	matches: hasSpans,
	read:    readSpans,
}

func hasSpans(doc *value) bool {
	first := doc.get("session").firstElement()
	isOTLP := first.get("resourceSpans").exists() || first.get("resourceLogs").exists()
	if doc.get("observations").isArray() || isOTLP || isSpan(first) || isSpan(doc) {
		return true
	}
	data := doc.get("data")
	return isSpan(data.firstElement()) || isSpan(data.get("spans").firstElement())
}

func readSpans(r *reader, doc *value) {
	var ids []string // in the order of the first calls
	traces := map[string]*spanTrace{}
	r.eachSpan(doc, func(s *span) {
		if traces[s.traceID] == nil {
			ids = append(ids, s.traceID)
			traces[s.traceID] = &spanTrace{}
		}
		traces[s.traceID].add(s)
	})
	for _, id := range ids {
		if t := traces[id]; t.longest != nil {
			r.readSpanTrace(t)
		}
	}
}

// spanTrace has the spans with one trace id. longest is the one with the most input messages, nil
// if no span has any.
type spanTrace struct {
	spans   []*span
	longest *span
	// hasOtherConversation reports whether the spans have input of several conversations, which
	// differ in their first user message.
	hasOtherConversation bool
}

func (t *spanTrace) add(s *span) {
	t.spans = append(t.spans, s)
	if s.inputMessages == 0 {
		return
	}
	if t.longest != nil && s.firstUserMessage() != t.longest.firstUserMessage() {
		t.hasOtherConversation = true
	}
	if t.longest == nil || !t.longest.isLongerThan(s) {
		t.longest = s
	}
}

// span is the record of one model call, with the messages of its input and output, or of another
// operation, such as a tool call, without messages in its input.
type span struct {
	traceID, start string
	top            *value
	attributes     *value
	// genAI has the attributes of OpenTelemetry's GenAI conventions, details those of the event
	// with the messages, llm those of OpenInference.
	genAI, details, llm *value
	input, output       *value
	// sources are the values of the document from which the span was read.
	sources []*value
	// inputMessages is the number of messages in input.
	inputMessages int
}

// isLongerThan reports whether s has more input messages than other, or as many and a start that is
// later as text.
func (s *span) isLongerThan(other *span) bool {
	if s.inputMessages != other.inputMessages {
		return s.inputMessages > other.inputMessages
	}
	return s.start > other.start
}

// firstUserMessage returns the JSON of the first user message in the input, which identifies the
// conversation. If there is none, it returns the last message.
func (s *span) firstUserMessage() string {
	text := ""
	for m := range messagesIn(s.input).elements() {
		if inner := m.first("message", "kwargs"); inner.isObject() {
			m = inner
		}
		text = m.json.Raw
		if rolesByName[m.first("role", "type").json.Str] == userRole {
			break
		}
	}
	return text
}

// isSpan reports whether an object is a span or a run of one of the tracing tools in Writers of
// spans.
func isSpan(o *value) bool {
	o = o.expandDots()
	attributes := o.object("attributes").expandDots()
	hasCall := attributes.get("gen_ai").exists() || attributes.get("llm").exists()
	hasID := traceID(o) != ""
	isObservation := o.get("traceId").exists() && o.get("type").isString() && o.get("startTime").exists()
	isRun := hasID && o.get("inputs").exists() && (o.get("run_type").exists() || o.get("op_name").exists())
	return isObservation || isRun || hasCall || hasID && !attributes.isEmpty()
}

// traceID returns the id that all calls of an attempt share: that of the trace, or ROLLOUT/ATTEMPT
// for agent-lightning, which may record an attempt in several traces. It returns "" if the span has
// none.
func traceID(span *value) string {
	span = span.expandDots()
	if rollout := span.id("rollout_id"); rollout != "" {
		return rollout + "/" + span.id("attempt_id")
	}
	return firstIDText(span.object("context").get("trace_id"), span.first("traceId", "trace_id"))
}

// eachSpan calls visit for each span of a document, which is one span, a list of spans, or has them
// nested as in OTLP. Events with messages are joined to one span for each call and visited last.
func (r *reader) eachSpan(doc *value, visit func(*span)) {
	visitSpan := func(v *value) { visit(newSpan(v)) }
	list := doc.first("observations", "session", "data")
	if spans := list.get("spans"); spans.exists() {
		list = spans
	}
	if !list.exists() {
		visitSpan(doc)
	}
	log := eventLog{byID: map[string]*span{}, events: map[*span][]string{}}
	visitRecord := func(v *value) {
		if !log.add(v) {
			visitSpan(v)
		}
	}
	r.each(list, func(v *value) {
		isOTLP := v.get("resourceSpans").exists() || v.get("resourceLogs").exists()
		if !isOTLP {
			visitRecord(v)
			return
		}
		r.eachNested(v, []string{"resourceSpans", "scopeSpans", "spans"}, visitSpan)
		r.eachNested(v, []string{"resourceLogs", "scopeLogs", "logRecords"}, visitRecord)
	})
	log.visit(visit)
}

// eachNested calls visit for each element of the innermost of nested lists. names are the keys of
// the lists, the outermost first.
func (r *reader) eachNested(v *value, names []string, visit func(*value)) {
	r.each(v.get(names[0]), func(element *value) {
		if len(names) == 1 {
			visit(element)
			return
		}
		r.eachNested(element, names[1:], visit)
	})
}

// newSpan returns the span that v is. It searches the messages under the keys of OpenTelemetry's
// GenAI conventions, of their older versions, of OpenInference, and of the tools with formats of
// their own.
func newSpan(v *value) *span {
	top := v.expandDots()
	s := &span{
		traceID: traceID(top),
		start:   top.id("startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime", "started_at", "sequence_id"),
		top:     v,
		sources: []*value{v},
	}
	s.attributes = attributesOf(top)
	s.details = operationDetails(top)
	mlflow := s.attributes.object("mlflow")
	s.genAI = s.attributes.object("gen_ai")
	s.llm = s.attributes.object("llm")
	// Langfuse's SDK records under attributes what its server exports at the top.
	observation := s.attributes.object("langfuse").object("observation")
	s.input = firstPresent(
		s.genAI.object("input").get("messages"),
		s.details.object("input").get("messages"),
		s.genAI.get("prompt"),
		s.llm.get("input_messages"),
		mlflow.get("spanInputs"),
		observation.get("input"),
		top.get("inputs"),
		top.get("input"),
	).unpack()
	s.output = firstPresent(
		s.genAI.object("output").get("messages"),
		s.details.object("output").get("messages"),
		s.genAI.get("completion"),
		s.llm.get("output_messages"),
		mlflow.get("spanOutputs"),
		observation.get("output"),
		top.get("outputs"),
		top.get("output"),
	)
	s.inputMessages = countMessages(messagesIn(s.input))
	if s.inputMessages == 0 {
		s.readEvents(top.get("events"))
	}
	return s
}

// firstPresent returns the first value that exists and is not null. If there is none, exists of
// the result is false.
func firstPresent(values ...*value) *value {
	for _, v := range values {
		if v.isPresent() {
			return v
		}
	}
	return &value{}
}

// messagesIn returns the list of messages in the input of a span, which is the list itself or a
// request to a model. Of a list of lists, as LangChain writes it, the first list is returned.
func messagesIn(input *value) *value {
	list := input
	if messages := input.first("messages", "contents", "input"); messages.isPresent() {
		list = messages.unpack()
	}
	if list.peek("0").IsArray() {
		return list.firstElement()
	}
	return list
}

// countMessages counts the messages in a list. It returns 0 if an element has no role, because
// the list is then no list of messages.
func countMessages(list *value) int {
	n := 0
	for m := range list.elements() {
		kind := m.peek("type").Str
		hasRole := m.peek("role").Exists() || m.peek("message.role").Exists() || m.peek(`message\.role`).Exists()
		if !hasRole && !m.peek("kwargs").IsObject() && !isItemKind(kind) && rolesByName[kind] == otherRole {
			return 0
		}
		n++
	}
	return n
}

func (r *reader) readSpanTrace(t *spanTrace) {
	s := t.longest
	var own []*value
	for _, other := range t.spans {
		own = append(own, other.sources...)
	}
	a := r.begin(s.top.json.Raw, own...)
	a.Session = s.traceID
	if t.hasOtherConversation {
		r.addLoss(lostBranches)
	}
	for _, other := range t.spans {
		if reward := other.reward(); reward != nil {
			if a.Declared != nil {
				r.addLoss(lostScores)
			}
			a.Declared = reward
		}
		if other != s {
			r.addLoss(lostSpans)
			for _, source := range other.sources {
				source.raw()
			}
		}
	}
	r.readSpan(s)
}

func (r *reader) readSpan(s *span) {
	a := r.attempt()
	top := s.top.expandDots()
	a.Model = s.model()
	system := firstPresent(s.genAI.get("system_instructions"), s.details.get("system_instructions"))
	if text := r.content(system.unpack()).text; text != "" {
		r.addText(systemRole, text)
	}
	if messages := messagesIn(s.input); isRequest(s.input) {
		r.readRequest(s.input)
	} else {
		r.readSpanMessages(messages)
	}
	r.readSpanOutput(s.output)

	a.Tools = s.tools()
	status := firstIDText(
		top.first("status_message", "statusMessage", "error", "exception"),
		top.object("status").first("message", "description"),
	)
	if status != "" {
		r.setError(&arena.AttemptError{Message: status})
	}
}

// reward returns the reward that a span of agent-lightning records, in one of three forms, or nil
// if there is none.
func (s *span) reward() *float64 {
	rewards := s.attributes.object("agentlightning").object("reward")
	if reward := rewards.object("0").number("value"); reward != nil {
		return reward
	}
	task := s.attributes.object("agentops").object("task").object("output")
	if task.get("type").str() == "reward" {
		return task.number("value")
	}
	return s.attributes.number("reward")
}

func (s *span) model() string {
	extra := s.top.object("extra")
	return firstIDText(
		s.genAI.object("request").get("model"),
		s.details.object("request").get("model"),
		s.llm.get("model_name"),
		s.attributes.object("langfuse").object("observation").object("model").get("name"),
		s.top.expandDots().get("model"),
		s.input.get("model"),
		extra.object("metadata").get("ls_model_name"),
		extra.object("invocation_params").get("model"),
	)
}

func (s *span) tools() arena.Raw {
	if tools := openInferenceTools(s.llm.get("tools")); tools != "" {
		return tools
	}
	for _, list := range []*value{
		s.genAI.object("tool").get("definitions"),
		s.details.object("tool").get("definitions"),
		s.attributes.object("mlflow").object("chat").get("tools"),
		s.llm.object("request").get("functions"),
		s.input.get("tools"),
		s.top.object("extra").object("invocation_params").get("tools"),
	} {
		if tools := toolDefinitions(list); tools != "" {
			return tools
		}
	}
	return ""
}

// readSpanOutput reads the output of a span: a response of a model's API, LangChain's generations,
// or messages.
func (r *reader) readSpanOutput(output *value) {
	unpacked := output.unpack()
	generation := unpacked.get("generations").firstElement()
	switch {
	case generation.isArray():
		r.readFirst(generation, "message")
	case generation.exists():
		r.readFirst(unpacked.get("generations"), "message")
	case isResponse(unpacked) && !unpacked.get("role").exists():
		r.readResponse(unpacked)
	default:
		r.readSpanMessages(output)
	}
}

// readSpanMessages reads the input or output of a span: a list of messages, one message, or a
// string, which becomes a message of the agent. An element of the list may have its message under
// the key message.
func (r *reader) readSpanMessages(v *value) {
	unpacked := v.unpack()
	if unpacked.get("role").exists() || unpacked.get("kwargs").isObject() {
		r.readMessage(unpacked)
		return
	}
	if unpacked.isString() {
		if text := r.text(v); text != "" {
			r.addText(agentRole, text)
		}
		return
	}
	r.each(v, func(element *value) {
		m := element.expandDots()
		if inner := m.object("message").expandDots(); !inner.isEmpty() {
			m = inner
		}
		r.readMessage(m)
	})
}

// openInferenceTools returns OpenInference's tool definitions, each of which is JSON in a
// string, as a JSON array. It returns "" if there are none.
func openInferenceTools(list *value) arena.Raw {
	var definitions []string
	for v := range list.elements() {
		definition := v.expandDots().object("tool").object("json_schema")
		if definition.isObject() {
			definitions = append(definitions, string(definition.raw()))
		}
	}
	if definitions == nil {
		return ""
	}
	return arena.Raw("[" + strings.Join(definitions, ",") + "]")
}
