package model

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/asjson"
)

// Returned selects the fields of a reply that are sent back with the conversation.
type Returned int32

// AsItCame selects all fields, also unknown ones, as some servers require. WithoutReasoning
// leaves out the fields with reasoning. OnlyStandard leaves out all fields that are not in
// OpenAI's format. Other servers refuse such fields.
const (
	AsItCame Returned = iota
	WithoutReasoning
	OnlyStandard
)

// String returns a description of what is left out.
func (r Returned) String() string {
	return []string{"nothing is left out", "the fields of reasoning are left out", "all but role, content and calls is left out"}[r]
}

// standardFields are the fields of messages and calls that appendReply writes itself, or that only
// make sense in replies.
var standardFields = []string{"role", "content", "tool_calls", "function_call", "id", "type", "index", "function", "name", "arguments"}

// returns reports whether a field of the model's message or call, beyond standardFields, is sent
// back to the server with the next request.
func (r Returned) returns(name string, value gjson.Result) bool {
	isEmpty := value.Type == gjson.Null || slices.Contains([]string{`""`, "[]", "{}"}, value.Raw)
	isReasoning := strings.HasPrefix(name, "reasoning") || strings.HasPrefix(name, "thinking")
	switch {
	case isEmpty, slices.Contains(standardFields, name), r == OnlyStandard:
		return false
	}
	return r == AsItCame || !isReasoning
}

// appendFields appends those fields of an object to b, as JSON, that are sent back in addition to
// standardFields, each preceded by a comma.
func (r Returned) appendFields(b []byte, object gjson.Result) []byte {
	if !object.IsObject() {
		return b
	}
	for key, value := range object.ForEach {
		if r.returns(key.Str, value) {
			b = append(append(append(b, ','), key.Raw...), ':')
			b = append(b, value.Raw...)
		}
	}
	return b
}

// appendReply appends the message of a model's reply to b, in the form in which it is sent back to
// the server. calls are written in place of the message's own calls.
func appendReply(b []byte, message gjson.Result, calls []Call, returned Returned) []byte {
	start := len(b)
	content := message.Get("content")
	hasOwnForm := content.IsArray() || content.Type == gjson.Null && len(calls) > 0
	b = append(b, `{"role":"assistant","content":`...)
	switch {
	case !hasOwnForm || returned == OnlyStandard:
		b = append(b, asjson.Bytes(strings.ToValidUTF8(JoinText(content), "\ufffd"))...)
	case content.IsArray():
		b = append(b, content.Raw...)
	default:
		b = append(b, "null"...)
	}
	b = returned.appendFields(b, message)
	own := message.Get("tool_calls").Array()
	for i, c := range calls {
		separator := ","
		if i == 0 {
			separator = `,"tool_calls":[`
		}
		b = append(b, separator...)
		var call gjson.Result
		if i < len(own) {
			call = own[i]
		}
		b = appendCall(b, c, call, returned)
	}
	if len(calls) > 0 {
		b = append(b, ']')
	}
	b = append(b, '}')
	return append(b[:start], bytes.ToValidUTF8(b[start:], []byte("\ufffd"))...)
}

// appendCall appends the call c to b, in the form in which it is sent back to the server. own is
// the call as the reply had it.
func appendCall(b []byte, c Call, own gjson.Result, returned Returned) []byte {
	function := asjson.Bytes(c.Function)
	b = append(b, `{"id":`...)
	b = append(b, asjson.Bytes(c.ID)...)
	b = append(b, `,"type":"function","function":`...)
	b = append(b, function[:len(function)-1]...)
	b = append(returned.appendFields(b, own.Get("function")), '}')
	return append(returned.appendFields(b, own), '}')
}
