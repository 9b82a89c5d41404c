package formats

import (
	"strings"
)

// detailsEvent is the name of the event that has the messages of a call in OpenTelemetry's GenAI
// conventions.
const detailsEvent = "gen_ai.client.inference.operation.details"

// operationDetails returns the GenAI attributes of the event of a span that has the messages of the
// call.
func operationDetails(span *value) *value {
	for event := range span.get("events").elements() {
		if event.peek("name").Str == detailsEvent {
			event.get("name").raw()
			return attributesOf(event).object("gen_ai")
		}
	}
	return &value{}
}

// messageEvents are the events of older versions of the conventions, one for each message, with the
// role of the message.
var messageEvents = map[string]string{
	"gen_ai.system.message":    "system",
	"gen_ai.user.message":      "user",
	"gen_ai.assistant.message": "assistant",
	"gen_ai.tool.message":      "tool",
	"gen_ai.choice":            "assistant",
}

// readEvents sets the messages of a span from its events.
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

// eventMessage returns the message of an event as JSON, or "" if the event has none.
func eventMessage(event *value) string {
	attributes := attributesOf(event)
	name := firstIDText(event.first("name", "eventName", "event_name"), attributes.object("event").get("name"))
	role, ok := messageEvents[name]
	if !ok {
		return ""
	}
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

// otlpBody returns the body of an event in the log of OTLP.
func otlpBody(v *value) *value {
	isTyped := v.peek("kvlistValue").Exists() || v.peek("stringValue").Exists()
	if !isTyped {
		return v.unpack()
	}
	if v.parts == nil || v.parts.unpacked == nil {
		var text strings.Builder
		writeOTLPValue(&text, v.json)
		v.parts = &parts{unpacked: parse(text.String())}
	}
	return v.parts.unpacked.unpack()
}

// eventLog collects the messages of calls, of which each is an event of its own in a log.
type eventLog struct {
	calls  []*span
	byID   map[string]*span
	events map[*span][]string
}

// add adds the message of an event to the call that the event belongs to. It returns false if the
// event has no message.
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
			start:      record.id("timeUnixNano"),
			attributes: &value{},
			genAI:      &value{},
			llm:        &value{},
			output:     &value{},
		}
		l.byID[key] = s
		l.calls = append(l.calls, s)
	}
	l.events[l.byID[key]] = append(l.events[l.byID[key]], text)
	return true
}

// visit calls visit for each call, in the order in which they begin.
func (l *eventLog) visit(visit func(*span)) {
	for _, s := range l.calls {
		s.setEvents(l.events[s])
		s.top = s.input
		visit(s)
	}
}

// setEvents sets the messages of a span to those of its events.
func (s *span) setEvents(texts []string) {
	s.input = parse("[" + strings.Join(texts, ",") + "]")
	s.inputMessages = len(texts)
}
