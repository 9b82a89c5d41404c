package formats

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// spans is the format of lists of spans: records of model calls by tracing tools. All calls with
// one trace id are one attempt. Each call repeats the conversation before it, so only the
// longest call is read.
var spans = Format{
	Name:     "spans",
	Retained: "tools, model, error",
	Writers:  "OpenTelemetry GenAI spans (OTLP/JSON), OpenInference (Phoenix exports), Langfuse's SDK and exports",
	matches:  hasSpans,
	read:     readSpans,
}

func hasSpans(doc object) bool {
	first := doc["session"].Get("0")
	if doc["observations"].IsArray() || first.Get("resourceSpans").Exists() {
		return true
	}
	return isSpan(members(first)) || isSpan(members(doc["data"].Get("0")))
}

func readSpans(r *reader, doc object) {
	var ids []string // in the order of the first calls
	longest := map[string]*span{}
	r.eachSpan(doc, func(s *span) {
		previous := longest[s.traceID]
		if previous == nil {
			ids = append(ids, s.traceID)
			longest[s.traceID] = s
			return
		}
		hasOthers := previous.hasOtherConversation || s.firstUserMessage() != previous.firstUserMessage()
		if !previous.isLongerThan(s) {
			longest[s.traceID] = s
		}
		longest[s.traceID].hasOtherConversation = hasOthers
	})
	for _, id := range ids {
		r.readSpan(longest[id])
	}
}

// span is the record of one model call, with the messages of its input and output.
type span struct {
	traceID, start string
	raw            string
	top            object
	// genAI has the attributes of OpenTelemetry's GenAI conventions, llm those of OpenInference.
	genAI, llm    object
	input, output gjson.Result
	// inputMessages is the number of messages in input.
	inputMessages int
	// hasOtherConversation reports whether a call with the same trace id has another first
	// user message.
	hasOtherConversation bool
}

// isLongerThan reports whether s has more input messages than other, or as many and a later
// start.
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
	visitList(s.input, func(m gjson.Result) bool {
		if inner := m.Get("message"); inner.IsObject() {
			m = inner
		}
		text = m.Raw
		return rolesByName[m.Get("role").Str] != userRole
	})
	return text
}

func isSpan(o object) bool {
	o = expandDots(o)
	isObservation := o["traceId"].Exists() && o["type"].Type == gjson.String && o["startTime"].Exists()
	return isObservation || len(o.object("attributes")) > 0 && traceID(o) != ""
}

func traceID(span object) string {
	span = expandDots(span)
	if id := span.object("context").id("trace_id"); id != "" {
		return id
	}
	return span.id("traceId", "trace_id")
}

// eachSpan calls visit for each model call in a document, which is a list of spans or has them
// nested as in OTLP. It skips spans without input messages.
func (r *reader) eachSpan(doc object, visit func(*span)) {
	visitSpan := func(v gjson.Result) {
		s := newSpan(expandDots(members(v)))
		if s.inputMessages > 0 {
			s.raw = v.Raw
			visit(s)
		}
	}
	r.each(doc.first("observations", "session", "data"), func(v gjson.Result) {
		resources := v.Get("resourceSpans")
		if !resources.Exists() {
			visitSpan(v)
			return
		}
		r.each(resources, func(resource gjson.Result) {
			r.each(resource.Get("scopeSpans"), func(scope gjson.Result) {
				r.each(scope.Get("spans"), visitSpan)
			})
		})
	})
}

// newSpan finds the messages of a span, which have different keys in OpenTelemetry's GenAI
// conventions, their older versions, OpenInference and Langfuse.
func newSpan(top object) *span {
	s := &span{
		traceID: traceID(top),
		start:   top.id("startTimeUnixNano", "start_time", "startTime"),
		top:     top,
	}
	attributes := expandDots(top.object("attributes"))
	if list := top["attributes"]; list.IsArray() {
		attributes = expandDots(otlpAttributes(list))
	}
	// Langfuse's SDK records under attributes what its server exports at the top.
	if observation := attributes.object("langfuse").object("observation"); len(observation) > 0 {
		top["input"] = observation["input"]
		top["output"] = observation["output"]
		top["model"] = observation.object("model")["name"]
	}
	s.genAI = attributes.object("gen_ai")
	s.llm = attributes.object("llm")
	s.input = firstPresent(
		s.genAI.object("input")["messages"],
		s.genAI["prompt"],
		s.llm["input_messages"],
		top.object("input")["messages"],
		unpack(top["input"]),
	)
	s.output = firstPresent(
		s.genAI.object("output")["messages"],
		s.genAI["completion"],
		s.llm["output_messages"],
		unpack(top["output"]),
	)
	s.inputMessages = countMessages(s.input)
	return s
}

// firstPresent returns the first value that exists and is not null. If there is none, Exists of
// the result is false.
func firstPresent(values ...gjson.Result) gjson.Result {
	for _, v := range values {
		if v.Exists() && v.Type != gjson.Null {
			return v
		}
	}
	return gjson.Result{}
}

// countMessages counts the messages in a list. It returns 0 if an element has no role, because
// the list is then no list of messages.
func countMessages(list gjson.Result) int {
	n := 0
	visitList(list, func(m gjson.Result) bool {
		hasRole := m.Get("role").Exists() || m.Get("message.role").Exists() || m.Get(`message\.role`).Exists()
		if !hasRole {
			n = 0
			return false
		}
		n++
		return true
	})
	return n
}

// otlpAttributes converts the attributes of a span in OTLP, a list of keys with typed values, to
// an object.
func otlpAttributes(list gjson.Result) object {
	attributes := object{}
	for _, v := range list.ForEach {
		v.Get("value").ForEach(func(_, value gjson.Result) bool {
			attributes[v.Get("key").Str] = value
			return false
		})
	}
	return attributes
}

func (r *reader) readSpan(s *span) {
	a := r.begin(s.raw)
	a.Session = s.traceID
	a.Model = s.model()
	if s.hasOtherConversation {
		r.addLoss(lostBranches)
	}

	if text := r.content(unpack(s.genAI["system_instructions"])).text; text != "" {
		r.addText(systemRole, text)
	}
	r.readSpanMessages(s.input)
	r.readSpanMessages(s.output)

	a.Tools = s.tools()
	status := s.top.id("status_message", "statusMessage")
	status = cmp.Or(status, s.top.object("status").id("message", "description"))
	if status != "" {
		r.setError(&arena.AttemptError{Message: status})
	}
}

func (s *span) model() string {
	if model := s.genAI.object("request").id("model"); model != "" {
		return model
	}
	if model := s.llm.id("model_name"); model != "" {
		return model
	}
	return s.top.id("model")
}

func (s *span) tools() arena.Raw {
	if tools := toolDefinitions(s.genAI.object("tool")["definitions"]); tools != "" {
		return tools
	}
	if tools := openInferenceTools(s.llm["tools"]); tools != "" {
		return tools
	}
	return toolDefinitions(s.top.object("input")["tools"])
}

// readSpanMessages reads the input or output of a span: a list of messages, one message, or a
// text, which the model wrote. An element of the list may have its message under "message".
func (r *reader) readSpanMessages(v gjson.Result) {
	unpacked := unpack(v)
	if m := members(unpacked); m["role"].Exists() {
		r.readMessage(m)
		return
	}
	if text := r.text(v); text != "" && !unpacked.IsArray() {
		r.addText(agentRole, text)
		return
	}
	r.each(v, func(element gjson.Result) {
		m := expandDots(members(element))
		if inner := expandDots(m.object("message")); len(inner) > 0 {
			m = inner
		}
		r.readMessage(m)
	})
}

// openInferenceTools returns OpenInference's tool definitions, each of which is JSON in a
// string, as a JSON array. It returns "" if there are none.
func openInferenceTools(list gjson.Result) arena.Raw {
	var definitions []string
	visitList(list, func(v gjson.Result) bool {
		definition := unpack(expandDots(members(v)).object("tool")["json_schema"])
		if definition.IsObject() {
			definitions = append(definitions, definition.Raw)
		}
		return true
	})
	if definitions == nil {
		return ""
	}
	return arena.Raw("[" + strings.Join(definitions, ",") + "]")
}
