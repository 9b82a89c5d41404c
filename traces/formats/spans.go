package formats

import (
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
	isOTLP := first.has("resourceSpans") || first.has("resourceLogs")
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

// spanTrace has all spans with one trace id. longest is the span with the most input messages, nil
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

// eachSpan calls visit for each span of a document. The document is one span or a list of spans, or
// has spans nested as in OTLP. Log events with messages are joined to one span for each model call,
// and visited last.
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
		isOTLP := v.has("resourceSpans") || v.has("resourceLogs")
		if !isOTLP {
			visitRecord(v)
			return
		}
		r.eachNested(v, []string{"resourceSpans", "scopeSpans", "spans"}, visitSpan)
		r.eachNested(v, []string{"resourceLogs", "scopeLogs", "logRecords"}, visitRecord)
	})
	log.visit(visit)
}

// eachNested calls visit for each element of the innermost lists in v. names are the keys of the
// nested lists, the outermost first.
func (r *reader) eachNested(v *value, names []string, visit func(*value)) {
	r.each(v.get(names[0]), func(element *value) {
		if len(names) == 1 {
			visit(element)
			return
		}
		r.eachNested(element, names[1:], visit)
	})
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
	case isResponse(unpacked) && !unpacked.has("role"):
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
	if unpacked.has("role") || unpacked.get("kwargs").isObject() {
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
