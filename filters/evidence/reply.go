package evidence

import (
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Reply is one answer of a model in the log of the proxy.
type Reply struct {
	// Call is the log entry of the answer.
	Call *arena.ProxyCall
	span
	// readable is false if the log truncated the answer or does not contain its text.
	readable bool
	// Copied reports whether an earlier reply in the log has the same id. A copy is no further
	// evidence.
	Copied bool
	// id is the hash of the id that the server gave the answer, 0 if it gave none.
	id uint64
	// Named are the distinct calls in this answer.
	Named []Act
	// queue are the tools of all calls in order, repeated calls included, as RichnessV1 counts
	// them.
	queue []Tool
	// size is the length of the content and calls in bytes. streamed reports whether the log
	// recorded the answer as a stream.
	size     int
	streamed bool
	// overfull reports whether the answer has more characters than its counted tokens can
	// encode. tokens is that count, 0 if there is none.
	overfull bool
	tokens   int64
	// MultipleChoices reports whether the answer has several alternatives (several "choices").
	MultipleChoices bool
	content         arena.Raw
	reasoning       arena.Raw
	toolCalls       arena.Raw
	// model is the hash of the requested model's name.
	model uint64
}

func readReply(c *arena.ProxyCall, times span, s *scratch) Reply {
	r := Reply{
		Call:  c,
		span:  times,
		model: HashText(gjson.Get(string(c.Body), "model").Str),
	}
	var body string
	body, r.streamed = r.Body()
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
	r.tokens = m.tokens
	return r
}

// Body returns the completion as JSON, and reports whether the log recorded it as a stream.
func (r *Reply) Body() (body string, isStream bool) {
	body = r.Call.Response.Text() // some logs have the body as text
	if strings.HasPrefix(body, "{") {
		return body, false
	}
	return joinStream(body), true
}

// HasWholeReplies reports whether the log has at least one reply, all replies that the sandbox
// counted, and all of them readable and not truncated.
func (a *Attempt) HasWholeReplies() bool {
	if len(a.Log.Replies) == 0 || a.Lost > 0 || a.Readable < len(a.Log.Replies) {
		return false
	}
	if len(a.scratch.entries) >= MaxCalls {
		return false // further entries are not read
	}
	return !slices.ContainsFunc(a.Log.Replies, func(r Reply) bool { return r.Call.Truncated })
}

// readCalls reads the calls of one message into s.acts. It reads native tool calls or, if there
// are none, calls in the message's text or else in its reasoning. The calls of the current reply
// start at s.acts[first].
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

// replyLimits are the limits for reading JSON in replies. They accept every reply that the
// readers of traces accept.
var replyLimits = cursor.Limits{
	Depth:       512,
	StringBytes: math.MaxInt,
	Elements:    math.MaxInt,
}

// completion has those fields of a chat completion, and of the message of one of its choices,
// that are evidence, as raw JSON.
type completion struct {
	id           string
	content      arena.Raw
	toolCalls    arena.Raw
	functionCall arena.Raw
	reasoning    arena.Raw
	// tokens is the number of completion tokens that the server counted, 0 if it did not count
	// them.
	tokens int64
}

// readCompletion reads the JSON of a chat completion. ok is false if the text is truncated or
// has no message. The messages of all further choices are stored in s.choices, since clients may
// vote among them.
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
			// These keys hold the replies of Anthropic's messages, OpenAI's responses and
			// Gemini.
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

// readMember reads the field of a message with this key into m. It skips fields that are no
// evidence.
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

// contentText returns the text of a message's content, which is a JSON string or a list of parts,
// whose texts it joins.
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

// maxPartDepth is the maximum nesting depth of parts in a message's content. Gemini nests parts
// in the content of a candidate.
const maxPartDepth = 3

// eachPart calls do for each part of a message's content. It includes parts that are nested in
// the messages of a list of outputs and in Gemini's candidates.
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

// mayContainCall reports whether a text, escaped or not, can contain a tool call: it has an opening
// brace, or "ction" as in the line "Action:". Calls in every notation that is read have one of
// these.
func mayContainCall(text arena.Raw) bool {
	return strings.IndexByte(string(text), '{') >= 0 ||
		strings.Contains(string(text), "ction")
}

const emptyObject = arena.Raw("{}")

// maxNamed is the maximum number of calls that are read from one answer. Harnesses allow at most
// sixteen.
const maxNamed = 128

// readToolCalls reads a list of tool calls in OpenAI's form into s.acts. The calls of the
// current reply start at s.acts[first].
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

// readContentBlocks reads the calls that are parts of a message's content: tool_use of
// Anthropic's messages, function_call of OpenAI's responses, functionCall of Gemini. The calls
// of the current reply start at s.acts[first].
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
		v := call.Get(arguments)
		args, _ := calls.Arguments(arena.Raw(v.Raw))
		if v.Type == gjson.String {
			args = calls.ArgumentsIn(v.Str) // the client may have closed it
		}
		if args != "" && len(s.acts) < first+maxNamed {
			s.addCall(call.Get("name").Str, args, first)
		}
	})
}

// readFunction reads the object with the name and arguments of a call from s.json. args is {} if
// the call has no arguments, and "" if they cannot be read.
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

// readTextCalls reads the calls that a model wrote as text into s.acts. The calls of the current
// reply start at s.acts[first]. If the calls of a reply have values without the name of an
// argument, none is read, since learnForms and linkByWords compare those values with requests under
// any name.
func (s *scratch) readTextCalls(text string, first int) {
	reading := s.textCalls.Read(text)
	if slices.Contains(reading.Repairs, calls.RepairWords) {
		return
	}
	for _, c := range reading.Calls {
		if len(s.acts) < first+maxNamed {
			s.addCall(c.Name, c.Arguments, first)
		}
	}
}

// addCall appends a call to s.acts and its tool to s.tools. The calls of the current reply start at
// s.acts[first]. A call of a known tool that the reply already has is not appended to s.acts again,
// since a repeated call is one decision. Nothing is appended beyond the limits of s.
func (s *scratch) addCall(name string, args arena.Raw, first int) {
	if !s.hasRoom() {
		return
	}
	r := s.roleFor(ToolName(name))
	s.tools = append(s.tools, r.Tool)
	var a Act
	a.read(s, r, args, false)
	lacksQuery := a.Tool == ToolFind && len(a.Words) == 0
	if lacksQuery || a.Tool.TakesIDs() && len(a.IDs) == 0 {
		a.readCustomKeys(s, args)
	}
	for i := range s.acts[first:] {
		if s.acts[first+i].SameRequest(&a) && r.Tool != ToolOther {
			return
		}
	}
	s.acts = append(s.acts, a)
}
