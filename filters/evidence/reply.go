package evidence

import (
	"math"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Reply is one answer of a model in the log of the proxy.
type Reply struct {
	// Call is the entry of the log that contains the answer.
	Call *arena.ProxyCall
	span
	// readable is false if the log truncated the answer or has nothing of it.
	readable bool
	// Copied reports whether an earlier reply of the log has the same id: one inference is
	// evidence once.
	Copied bool
	// id is the hash of the id that the server gave the answer, 0 if none.
	id uint64
	// Named are the calls in this answer, without repeats.
	Named []Act
	// queue are the named tools, in order and with repeats, as RichnessV1 counts them.
	queue []Tool
	// size is the length of its content and calls in bytes. streamed reports whether the
	// log has the pieces of its stream.
	size     int
	streamed bool
	// overfull reports whether it has more characters than its counted tokens can encode.
	overfull bool
	// MultipleChoices reports whether the answer has several choices.
	MultipleChoices bool
	content         arena.Raw
	reasoning       arena.Raw
	toolCalls       arena.Raw
	// model is the hash of the name of the model that answered, as it was requested.
	model uint64
}

func readReply(c *arena.ProxyCall, times span, s *scratch) Reply {
	r := Reply{
		Call:  c,
		span:  times,
		model: HashText(gjson.Get(string(c.Body), "model").Str),
	}
	body := c.Response.Text() // some logs have the body as text
	if !strings.HasPrefix(body, "{") {
		body = joinStream(body)
		r.streamed = true
	}
	m, ok := s.readCompletion(body)
	if !ok {
		return r
	}

	r.readable = true
	r.id = HashText(m.id)
	r.content = m.content
	r.reasoning = m.reasoning
	r.toolCalls = m.toolCalls
	r.size = len(m.content) + len(m.toolCalls) + len(m.functionCall) + len(m.reasoning)

	firstAct := len(s.acts)
	firstTool := len(s.tools)
	s.argumentBytes = 0
	s.readCalls(&m, firstAct)
	r.queue = s.tools[firstTool:len(s.tools):len(s.tools)]
	r.MultipleChoices = len(s.choices) > 0
	for i := range s.choices {
		s.readCalls(&s.choices[i], firstAct)
	}
	r.Named = s.acts[firstAct:len(s.acts):len(s.acts)]
	r.overfull = !r.streamed && s.exceedsTokens(&m)
	return r
}

// readCalls reads the calls of one message of the reply whose first call is s.acts[first]:
// native calls, else calls in its text.
func (s *scratch) readCalls(m *completion, first int) {
	before := len(s.acts)
	if m.toolCalls.Kind() == arena.Array {
		s.readToolCalls(m.toolCalls, first)
	}
	if m.functionCall.Kind() == arena.Object {
		s.json.Next(string(m.functionCall))
		name, args := s.readFunction()
		s.addCall(name, args, first)
	}
	if m.content.Kind() == arena.Array {
		s.readContentBlocks(m.content, first)
	}
	if len(s.acts) == before && mayContainCall(m.content) {
		s.readTextCalls(s.contentText(m.content), first)
	}
	if len(s.acts) == before && mayContainCall(m.reasoning) {
		s.readTextCalls(s.contentText(m.reasoning), first)
	}
}

// replyLimits accept every reply that the reader of traces accepts.
var replyLimits = cursor.Limits{
	Depth:       512,
	StringBytes: math.MaxInt,
	Elements:    math.MaxInt,
}

// completion contains the fields of a chat completion and of its first choice's message
// that are evidence, as JSON of the log.
type completion struct {
	id           string
	content      arena.Raw
	toolCalls    arena.Raw
	functionCall arena.Raw
	reasoning    arena.Raw
	// tokens is the server's count of completion tokens, 0 if it does not count.
	tokens int64
}

// readCompletion reads a reply. It reports false if the text is truncated or has no
// message. It stores the messages of further choices, among which a client votes, in
// s.choices.
func (s *scratch) readCompletion(body string) (m completion, ok bool) {
	c := s.json
	hasMessage := false
	s.choices = s.choices[:0]
	readChoice := func(key string) {
		switch {
		case key != "message":
			c.Skip()
		case !hasMessage:
			hasMessage = c.Object(func(key string) {
				m.readMember(c, key)
			})
		default:
			s.choices = append(s.choices, completion{})
			c.Object(func(key string) {
				s.choices[len(s.choices)-1].readMember(c, key)
			})
		}
	}
	readUsage := func(key string) {
		switch key {
		case "completion_tokens", "output_tokens":
			m.tokens, _ = c.Int()
		default:
			c.Skip()
		}
	}

	c.Next(body)
	c.Object(func(key string) {
		switch key {
		case "id":
			m.id, _ = c.String()
		case "choices":
			c.Array(func() { c.Object(readChoice) })
		case "content", "output", "candidates":
			// The replies of Anthropic's messages, OpenAI's responses and Gemini.
			if blocks := c.Raw(); blocks.Kind() == arena.Array && !hasMessage {
				m.content = blocks
				hasMessage = true
			}
		case "usage":
			c.Object(readUsage)
		default:
			c.Skip()
		}
	})
	return m, hasMessage && c.Err() == nil
}

// readMember reads one member of a message.
func (m *completion) readMember(c *cursor.Cursor, key string) {
	switch key {
	case "content":
		m.content = c.Raw()
	case "tool_calls":
		m.toolCalls = c.Raw()
	case "function_call":
		m.functionCall = c.Raw()
	case "reasoning_content", "reasoning":
		if raw := c.Raw(); len(m.reasoning) <= len(`""`) {
			m.reasoning = raw
		}
	default:
		c.Skip()
	}
}

// contentText returns the text of a message's content: a string, or a list of parts.
func (s *scratch) contentText(content arena.Raw) string {
	if content.Kind() != arena.Array {
		s.json.Next(string(content))
		text, _ := s.json.String()
		return text
	}
	var b strings.Builder
	eachPart(gjson.Parse(string(content)), 0, func(part gjson.Result) {
		b.WriteString(part.Get("text").Str)
	})
	return b.String()
}

// maxPartDepth is how deep parts are nested: Gemini's are in the content of a candidate.
const maxPartDepth = 3

// eachPart calls do for each part of a message's content, of the messages in a list of
// outputs, and of the candidates of Gemini.
func eachPart(list gjson.Result, depth int, do func(part gjson.Result)) {
	list.ForEach(func(_, part gjson.Result) bool {
		do(part)
		for _, key := range [...]string{"content", "parts", "content.parts"} {
			if inner := part.Get(key); inner.IsArray() && depth < maxPartDepth {
				eachPart(inner, depth+1, do)
			}
		}
		return true
	})
}

// mayContainCall reports whether a text, escaped or not, contains what every dialect of
// calls has: an opening brace or an action line.
func mayContainCall(text arena.Raw) bool {
	return strings.IndexByte(string(text), '{') >= 0 ||
		strings.Contains(string(text), "ction")
}

const emptyObject = arena.Raw("{}")

// maxNamed is the limit of the calls of one answer; harnesses allow at most sixteen.
const maxNamed = 128

// readToolCalls reads the list of OpenAI tool calls of the reply whose first call is
// s.acts[first].
func (s *scratch) readToolCalls(toolCalls arena.Raw, first int) {
	c := s.json
	c.Next(string(toolCalls))
	c.Array(func() {
		if len(s.acts) >= first+maxNamed {
			c.Skip()
			return
		}
		name := ""
		args := emptyObject
		c.Object(func(key string) {
			if key == "function" {
				name, args = s.readFunction()
			} else {
				c.Skip()
			}
		})
		s.addCall(name, args, first)
	})
}

// readContentBlocks reads the calls that are parts of their own in a content: tool_use of
// Anthropic's messages, function_call of OpenAI's responses, functionCall of Gemini.
func (s *scratch) readContentBlocks(content arena.Raw, first int) {
	eachPart(gjson.Parse(string(content)), 0, func(part gjson.Result) {
		call := part
		arguments := "input"
		switch {
		case part.Get("type").Str == "tool_use":
		case part.Get("type").Str == "function_call":
			arguments = "arguments"
		case part.Get("functionCall").IsObject():
			call = part.Get("functionCall")
			arguments = "args"
		default:
			return
		}
		args, _ := calls.Arguments(arena.Raw(call.Get(arguments).Raw))
		if args != "" && len(s.acts) < first+maxNamed {
			s.addCall(call.Get("name").Str, args, first)
		}
	})
}

// readFunction reads the function object of a call.
func (s *scratch) readFunction() (name string, args arena.Raw) {
	c := s.json
	args = emptyObject
	c.Object(func(key string) {
		switch {
		case key == "name":
			name, _ = c.String()
		case key != "arguments":
			c.Skip()
		case c.Kind() == arena.String:
			text, _ := c.String()
			s.argumentBytes += len(text)
			args = calls.ArgumentsIn(text)
		default:
			args, _ = calls.Arguments(c.Raw())
		}
	})
	return name, args
}

// readTextCalls reads the calls in a text.
func (s *scratch) readTextCalls(text string, first int) {
	for _, c := range s.textCalls.Read(text).Calls {
		if len(s.acts) < first+maxNamed {
			s.addCall(c.Name, c.Arguments, first)
		}
	}
}

// addCall adds a named call to the reply whose first call is s.acts[first]. It skips a call
// that the reply already names: a repeated text is one decision.
func (s *scratch) addCall(name string, args arena.Raw, first int) {
	if !s.hasRoom() {
		return
	}
	r := s.roleFor(ToolName(name))
	s.tools = append(s.tools, r.Tool)
	var a Act
	a.read(s, r, args, false)
	lacksQuery := a.Tool == ToolFind && len(a.Words) == 0
	if lacksQuery || a.Tool.TakesProducts() && len(a.IDs) == 0 {
		a.readCustomKeys(s, args)
	}
	for i := range s.acts[first:] {
		if s.acts[first+i].SameRequest(&a) && r.Tool != ToolOther {
			return
		}
	}
	s.acts = append(s.acts, a)
}
