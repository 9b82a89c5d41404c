package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// eventStream matches the start of a stream of server-sent events: the first field of an event,
// or a comment.
var eventStream = regexp.MustCompile(`^[ \r\n]*(?:data|event|id|retry)?:`)

// JoinStream joins a stream of server-sent events to one completion, since some servers stream
// although the request forbids it. Any other body is returned unchanged, and so is a stream
// without an end.
func JoinStream(body []byte) []byte {
	if !eventStream.Match(body) {
		return body
	}
	var sum chunkSum
	for line := range bytes.Lines(body) {
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		data = bytes.TrimSpace(data)
		switch {
		case !ok || len(data) == 0:
		case string(data) == "[DONE]":
			sum.done = true
		case !sum.add(string(data)):
			return body
		}
	}
	if !sum.done && sum.finish == "" {
		return body
	}
	completion, err := sum.completion()
	if err != nil {
		return body
	}
	return completion
}

// chunkSum is the state of joining the chunks of a streamed reply.
type chunkSum struct {
	content, refusal strings.Builder
	calls            []*streamedCall
	// byIndex maps an index to the last call with that index.
	byIndex           map[int64]*streamedCall
	id, model, finish string
	usage, prompt     json.RawMessage
	// others has the other fields of the message, such as the reasoning.
	others fields
	// logprobs and tokens have the elements of these lists, each preceded by a comma.
	logprobs, tokens bytes.Buffer
	done             bool
}

// fields has the joined values of fields that are sent in pieces, in the order of their first
// pieces.
type fields struct {
	names  []string
	values map[string]*field
}

// field is the joined value of a field: a text, the elements of a list (each preceded by a
// comma), or any other value.
type field struct {
	text  strings.Builder
	list  bytes.Buffer
	other json.RawMessage
}

// add adds a piece to the named field. Texts and lists are appended to the earlier pieces, and any
// other value replaces them.
func (f *fields) add(name string, piece gjson.Result) {
	v := f.values[name]
	if v == nil {
		if f.values == nil {
			f.values = map[string]*field{}
		}
		v = &field{}
		f.names = append(f.names, name)
		f.values[name] = v
	}
	switch {
	case piece.Type == gjson.String:
		v.text.WriteString(piece.Str)
	case piece.IsArray():
		appendElements(&v.list, piece)
	default:
		v.other = json.RawMessage(piece.Raw)
	}
}

// json returns the value of the field, joined from its pieces, as JSON.
func (v *field) json() json.RawMessage {
	switch {
	case v.list.Len() > 0:
		return json.RawMessage("[" + string(v.list.Bytes()[1:]) + "]")
	case v.other != nil:
		return v.other
	}
	return asjson.Bytes(v.text.String())
}

// addAll adds those fields of object, a piece of a streamed message or call, that appendReply does
// not write itself.
func (f *fields) addAll(object gjson.Result) {
	for key, value := range object.ForEach {
		if AsItCame.returns(key.Str, value) && key.Str != "refusal" {
			f.add(key.Str, value)
		}
	}
}

// into sets the joined fields in an object, by their names.
func (f *fields) into(object map[string]any) {
	for _, name := range f.names {
		object[name] = f.values[name].json()
	}
}

type streamedCall struct {
	id, name         string
	arguments        strings.Builder
	others, function fields
}

// add adds one chunk of the reply, as JSON. It returns false if the chunk is invalid or an error
// message.
func (s *chunkSum) add(data string) bool {
	event := gjson.Parse(data)
	if !cursor.Valid(data) || event.Get("error").Type != gjson.Null {
		return false
	}
	s.id = cmp.Or(s.id, event.Get("id").String())
	s.model = cmp.Or(event.Get("model").String(), s.model)
	if usage := event.Get("usage"); usage.IsObject() {
		s.usage = json.RawMessage(usage.Raw)
	}
	if prompt := event.Get("prompt_token_ids"); prompt.IsArray() {
		s.prompt = json.RawMessage(prompt.Raw)
	}
	choice := event.Get("choices.0")
	appendElements(&s.logprobs, choice.Get("logprobs.content"))
	appendElements(&s.tokens, choice.Get("token_ids"))
	delta := choice.Get("delta")
	s.content.WriteString(delta.Get("content").String())
	s.others.addAll(delta)
	s.refusal.WriteString(delta.Get("refusal").String())
	s.finish = cmp.Or(choice.Get("finish_reason").String(), s.finish)
	if single := delta.Get("function_call"); single.IsObject() {
		s.addPiece(gjson.Parse(`{"function":` + single.Raw + "}"))
	}
	for _, piece := range delta.Get("tool_calls").Array() {
		s.addPiece(piece)
	}
	return true
}

// appendElements writes the elements of a JSON list to b, each preceded by a comma.
func appendElements(b *bytes.Buffer, list gjson.Result) {
	for _, v := range list.Array() {
		b.WriteString("," + v.Raw)
	}
}

// addPiece adds a piece of a tool call to the call to which it belongs.
func (s *chunkSum) addPiece(piece gjson.Result) {
	c := s.callOf(piece)
	c.id = cmp.Or(c.id, piece.Get("id").String())
	c.addName(piece.Get("function.name").String())
	c.arguments.WriteString(piece.Get("function.arguments").String())
	c.others.addAll(piece)
	c.function.addAll(piece.Get("function"))
}

// callOf returns the call to which a piece of a streamed reply belongs, which may be a new one. The
// id decides, since some servers give several calls the same index, count from 1, or give no index.
// A piece without an id belongs to the last call of its index or, without an index, to the last
// call. But if it names a tool and that call already has complete arguments, it starts a new call.
func (s *chunkSum) callOf(piece gjson.Result) *streamedCall {
	index := piece.Get("index")
	id := piece.Get("id").String()
	var c *streamedCall
	switch {
	case index.Exists():
		c = s.byIndex[index.Int()]
	case len(s.calls) > 0:
		c = s.calls[len(s.calls)-1]
	}
	for _, known := range s.calls {
		if id != "" && known.id == id {
			c = known
		}
	}
	isOther := c == nil || id != "" && c.id != "" && c.id != id
	if !isOther && id == "" && piece.Get("function.name").String() != "" {
		isOther = piece.Get("function.arguments").String() != "" && gjson.Parse(c.arguments.String()).IsObject() && gjson.Valid(c.arguments.String())
	}
	if isOther {
		c = &streamedCall{}
	}
	if isOther && len(s.calls) <= MaxCalls { // one more shows that there are too many
		s.calls = append(s.calls, c)
	}
	if s.byIndex == nil {
		s.byIndex = map[int64]*streamedCall{}
	}
	s.byIndex[index.Int()] = c
	return c
}

// addName adds a piece of the tool's name. Some servers send the name in parts, others repeat
// the whole name with each piece.
func (c *streamedCall) addName(piece string) {
	if strings.HasPrefix(piece, c.name) {
		c.name = piece
		return
	}
	c.name += piece
}

// completion returns the joined chunks of a streamed reply as the JSON of one chat completion.
func (s *chunkSum) completion() ([]byte, error) {
	message := map[string]any{
		"role":    "assistant",
		"content": s.content.String(),
	}
	if s.refusal.Len() > 0 {
		message["refusal"] = s.refusal.String()
	}
	s.others.into(message)
	if len(s.calls) > 0 {
		message["tool_calls"] = slicesx.Map(s.calls, (*streamedCall).object)
	}
	choice := map[string]any{"message": message, "finish_reason": s.finish}
	if b := s.logprobs.Bytes(); len(b) > 0 {
		choice["logprobs"] = json.RawMessage(`{"content":[` + string(b[1:]) + `]}`)
	}
	if b := s.tokens.Bytes(); len(b) > 0 {
		choice["token_ids"] = json.RawMessage("[" + string(b[1:]) + "]")
	}
	completion := map[string]any{
		"id":      s.id,
		"model":   s.model,
		"choices": []any{choice},
	}
	if s.prompt != nil {
		completion["prompt_token_ids"] = s.prompt
	}
	if s.usage != nil {
		completion["usage"] = s.usage
	}
	return json.Marshal(completion)
}

// object returns the joined call as an object in OpenAI's format.
func (c *streamedCall) object() map[string]any {
	function := map[string]any{
		"name":      c.name,
		"arguments": c.arguments.String(),
	}
	c.function.into(function)
	call := map[string]any{
		"id":       c.id,
		"type":     "function",
		"function": function,
	}
	c.others.into(call)
	return call
}
