package formats

import (
	"strings"

	"github.com/trajectory-arena/arena"
)

// span is the record of one operation by a tracing tool. If the operation is a model call, the span
// has the messages of its input and output. Other operations, such as tool calls, have no messages
// in their input.
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

// isLongerThan reports whether s has more input messages than other, or as many and a later start.
// The starts are compared as texts.
func (s *span) isLongerThan(other *span) bool {
	if s.inputMessages != other.inputMessages {
		return s.inputMessages > other.inputMessages
	}
	return s.start > other.start
}

// firstUserMessage returns the JSON of the first user message in the input of a span, by which
// conversations are told apart. If there is none, it returns the last message.
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

// isSpan reports whether an object is a span, the record of one operation, or a run, as one of the
// supported tracing tools writes it.
func isSpan(o *value) bool {
	o = o.expandDots()
	attributes := o.object("attributes").expandDots()
	hasCall := attributes.has("gen_ai") || attributes.has("llm")
	hasID := traceID(o) != ""
	isObservation := o.has("traceId") && o.get("type").isString() && o.has("startTime")
	isRun := hasID && o.has("inputs") && (o.has("run_type") || o.has("op_name"))
	return isObservation || isRun || hasCall || hasID && !attributes.isEmpty()
}

// traceID returns the id that all calls of an attempt have in common: the trace id of the span, or
// ROLLOUT/ATTEMPT for agent-lightning, which may record an attempt in several traces. It returns ""
// if the span has none.
func traceID(span *value) string {
	span = span.expandDots()
	if rollout := span.id("rollout_id"); rollout != "" {
		return rollout + "/" + span.id("attempt_id")
	}
	return firstIDText(span.object("context").get("trace_id"), span.first("traceId", "trace_id"))
}

// newSpan reads v as a span. It searches the messages under the keys of OpenTelemetry's GenAI
// conventions, of their older versions, of OpenInference, and of the tools with formats of their
// own.
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

// firstPresent returns the first value that exists and is not null. If there is none, it returns a
// value that does not exist.
func firstPresent(values ...*value) *value {
	for _, v := range values {
		if v.isPresent() {
			return v
		}
	}
	return &value{}
}

// messagesIn returns the list of messages in the input of a span, which is the list itself or a
// request to a model. If the input has a list of lists, as LangChain writes it, it returns the
// first of them.
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

// reward returns the reward that a span of agent-lightning records, which has one of three forms.
// It returns nil if there is none.
func (s *span) reward() *float64 {
	rewards := s.attributes.object("agentlightning").object("reward")
	if reward := rewards.object("0").number("value"); reward != nil {
		return reward
	}
	task := s.attributes.object("agentops").object("task").object("output")
	if task.string("type") == "reward" {
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
