package formats

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

// attributesOf returns the attributes of a span or an event as one object, in which dotted names
// are nested objects.
func attributesOf(span *value) *value {
	if list := span.get("attributes"); list.isArray() {
		return otlpAttributes(list).expandDots()
	}
	return span.object("attributes").expandDots()
}

// otlpAttributes converts the attributes of a span in OTLP, a list of keys with typed values, to an
// object, which the caller reads instead of the list.
func otlpAttributes(list *value) *value {
	return unpackedOTLP(list, writeOTLPMembers)
}

// unpackedOTLP returns a value of OTLP as plain JSON, which write writes at the first call.
func unpackedOTLP(v *value, write func(*strings.Builder, gjson.Result)) *value {
	if v.parts == nil || v.parts.unpacked == nil {
		var text strings.Builder
		write(&text, v.json)
		v.parts = &parts{unpacked: parse(text.String())}
	}
	return v.parts.unpacked
}

// writeOTLPMembers writes a list of keys with typed values as a JSON object.
func writeOTLPMembers(text *strings.Builder, list gjson.Result) {
	separator := "{"
	write := func(key string, v gjson.Result) {
		text.WriteString(separator + key + ":")
		writeOTLPValue(text, v)
		separator = ","
	}
	for _, attribute := range list.ForEach {
		for name, v := range attribute.ForEach {
			switch name.Str {
			case "key":
			case "value":
				write(cmp.Or(attribute.Get("key").Raw, `""`), v)
			default:
				write(name.Raw, v)
			}
		}
	}
	text.WriteString(strings.TrimPrefix(separator, ",") + "}")
}

// writeOTLPValue writes a value of OTLP, an object that names its type, as plain JSON. It writes
// any other value unchanged.
func writeOTLPValue(text *strings.Builder, typed gjson.Result) {
	kind, v := onlyMember(typed)
	name, values := onlyMember(v)
	switch {
	case kind == "kvlistValue" && name == "values":
		writeOTLPMembers(text, values)
	case kind == "arrayValue" && name == "values":
		separator := "["
		for _, element := range values.ForEach {
			text.WriteString(separator)
			writeOTLPValue(text, element)
			separator = ","
		}
		text.WriteString(strings.TrimPrefix(separator, ",") + "]")
	case kind == "arrayValue" && v.Raw == "{}":
		text.WriteString("[]")
	case kind == "intValue" && intText.MatchString(v.Str):
		text.WriteString(v.Str)
	case strings.HasSuffix(kind, "Value"):
		text.WriteString(v.Raw)
	default:
		text.WriteString(typed.Raw)
	}
}

// intText matches an integer, which OTLP writes as a string.
var intText = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// onlyMember returns the name and the value of the member of an object that has one member. The name
// is "" for any other value.
func onlyMember(v gjson.Result) (name string, value gjson.Result) {
	n := 0
	if v.IsObject() {
		for key, member := range v.ForEach {
			name = key.Str
			value = member
			n++
		}
	}
	if n != 1 {
		return "", gjson.Result{}
	}
	return name, value
}

// detailsEvent is the name of the event of a span that has the messages of the model call, in
// OpenTelemetry's GenAI conventions.
const detailsEvent = "gen_ai.client.inference.operation.details"

// operationDetails returns the object gen_ai of the span's event detailsEvent, which has the
// messages of the model call. The result does not exist if the span has no such event.
func operationDetails(span *value) *value {
	details := &value{}
	for event := range span.get("events").elements() {
		if event.peek("name").Str == detailsEvent {
			event.get("name").raw()
			details = attributesOf(event).object("gen_ai")
		}
	}
	return details
}

// messageEvents maps the names of events in older versions of the GenAI conventions, which write
// one event for each message, to the role of the message.
var messageEvents = map[string]string{
	"gen_ai.system.message":    "system",
	"gen_ai.user.message":      "user",
	"gen_ai.assistant.message": "assistant",
	"gen_ai.tool.message":      "tool",
	"gen_ai.choice":            "assistant",
}

// readEvents sets the input of a span to the messages in its events. It changes nothing if no event
// has a message.
func (s *span) readEvents(events *value) {
	var texts []string
	for event := range events.elements() {
		if text := eventMessage(event); text != "" {
			texts = append(texts, text)
		}
	}
	if texts != nil {
		s.setEvents(texts)
	}
}

// eventMessage returns the message of an event as a JSON object with its role, or "" if the event
// has none.
func eventMessage(event *value) string {
	attributes := attributesOf(event)
	name := firstPresent(event.first("name", "eventName", "event_name"), attributes.object("event").get("name"))
	role, ok := messageEvents[name.json.Str]
	if !ok {
		return ""
	}
	name.raw()
	body := attributes.object("gen_ai").object("event").object("content")
	if logged := event.get("body"); logged.isPresent() {
		body = otlpBody(logged)
	}
	if body.isEmpty() {
		body = attributes
	}
	if message := body.object("message"); !message.isEmpty() {
		body = message
	}
	if body.isEmpty() {
		return ""
	}
	return `{"role":"` + role + `",` + strings.TrimPrefix(string(body.raw()), "{")
}

// otlpBody returns the body of a log event as plain JSON. In OTLP, the body is an object that names
// its type.
func otlpBody(v *value) *value {
	isTyped := v.peek("kvlistValue").Exists() || v.peek("stringValue").Exists()
	if !isTyped {
		return v.unpack()
	}
	return unpackedOTLP(v, writeOTLPValue).unpack()
}

// eventLog collects the messages of model calls from a log in which each message is an event of its
// own. calls lists the calls in the order of their first events, byID finds them by TRACE/SPAN, and
// events has the messages of each call as JSON.
type eventLog struct {
	calls  []*span
	byID   map[string]*span
	events map[*span][]string
}

// add adds the message of a log event (record) to the model call with the same trace and span id.
// It returns false if the event has no message.
func (l *eventLog) add(record *value) bool {
	text := eventMessage(record)
	if text == "" {
		return false
	}
	id := traceID(record)
	key := id + "/" + record.id("spanId", "span_id")
	if l.byID[key] == nil {
		s := &span{
			traceID:    id,
			start:      record.id("timeUnixNano", "observedTimeUnixNano", "timestamp", "observed_timestamp"),
			attributes: &value{},
			genAI:      &value{},
			details:    &value{},
			llm:        &value{},
			output:     &value{},
		}
		l.byID[key] = s
		l.calls = append(l.calls, s)
	}
	s := l.byID[key]
	s.sources = append(s.sources, record)
	l.events[s] = append(l.events[s], text)
	return true
}

// visit calls visit for each model call with its messages, in the order of the first events in the
// log.
func (l *eventLog) visit(visit func(*span)) {
	for _, s := range l.calls {
		s.setEvents(l.events[s])
		s.top = s.input
		visit(s)
	}
}

// setEvents sets the input of a span to these messages, each of which is a JSON object.
func (s *span) setEvents(texts []string) {
	s.input = parse("[" + strings.Join(texts, ",") + "]")
	s.inputMessages = len(texts)
	s.sources = append(s.sources, s.input)
}
