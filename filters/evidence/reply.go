package evidence

import (
	"math"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Reply is one answer of a model as the proxy logged it.
type Reply struct {
	// Call is the entry of the log that holds the answer.
	Call *arena.ProxyCall
	span
	// readable is false where the log cut the answer or kept nothing of it.
	readable bool
	// Copied marks an answer whose id the log already had: the same inference
	// is evidence once.
	Copied bool
	id     uint64
	// Named are the calls in this answer, each once.
	Named []Act
	// queue is the tools named, in order and with repeats, as richness v1
	// counts them.
	queue []Tool
	// written is the length of its content and calls; streamed says that the log keeps
	// its pieces.
	written  int
	streamed bool
	// overfull reports whether it holds more signs than the tokens that were counted.
	overfull bool
	// Voted reports whether the answer holds several choices.
	Voted   bool
	content arena.Raw
}

func readReply(c *arena.ProxyCall, at span, p *Pad) Reply {
	r := Reply{Call: c, span: at}
	body := c.Response.Text() // some logs keep the body as text
	if !strings.HasPrefix(body, "{") {
		body, r.streamed = streamed(body), true
	}
	m, whole := p.completion(body)
	if !whole {
		return r
	}
	r.readable, r.id, r.content = true, HashText(m.id), m.content
	r.written = len(m.content) + len(m.calls) + len(m.single) + len(m.reasoning)
	first, queued := len(p.acts), len(p.tools)
	p.argued = 0
	p.callsOf(&m, first)
	r.queue = p.tools[queued:len(p.tools):len(p.tools)]
	r.Voted = len(p.others) > 0
	for i := range p.others {
		p.callsOf(&p.others[i], first)
	}
	r.Named = p.acts[first:len(p.acts):len(p.acts)]
	r.overfull = !r.streamed && p.overfull(&m)
	return r
}

// callsOf takes the calls of one message: native ones, else those in its text.
func (p *Pad) callsOf(m *completion, first int) {
	before := len(p.acts)
	if m.calls.Kind() == arena.Array {
		p.native(m.calls, first)
	}
	if m.single.Kind() == arena.Object {
		p.json.Next(string(m.single))
		name, args := p.function()
		p.name(name, args, first)
	}
	if m.content.Kind() == arena.Array {
		p.inBlocks(m.content, first)
	}
	if len(p.acts) == before && mayCall(m.content) {
		p.inText(p.said(m.content), first)
	}
	if len(p.acts) == before && mayCall(m.reasoning) {
		p.inText(p.said(m.reasoning), first)
	}
}

// replyLimits let any reply pass that the reader of traces let pass.
var replyLimits = cursor.Limits{Depth: 512, StringBytes: math.MaxInt, Elements: math.MaxInt}

// completion is a chat completion as far as it is read: the message of its first
// choice, in the text of the log.
type completion struct {
	id                                string
	content, calls, single, reasoning arena.Raw
	// tokens is what the server counts of it, 0 where it counts nothing.
	tokens int64
}

// completion reads a reply. whole is false where the text ends too early or
// holds no message. The messages of further choices, among which a client
// votes, are left in others.
func (p *Pad) completion(body string) (m completion, whole bool) {
	c, answered := p.json, false
	p.others = p.others[:0]
	choice := func(key string) {
		switch {
		case key != "message":
			c.Skip()
		case !answered:
			answered = c.Object(func(key string) { m.member(c, key) })
		default:
			p.others = append(p.others, completion{})
			c.Object(func(key string) { p.others[len(p.others)-1].member(c, key) })
		}
	}
	usage := func(key string) {
		if key != "completion_tokens" {
			c.Skip()
			return
		}
		m.tokens, _ = c.Int()
	}
	c.Next(body)
	c.Object(func(key string) {
		switch key {
		case "id":
			m.id, _ = c.String()
		case "choices":
			c.Array(func() { c.Object(choice) })
		case "usage":
			c.Object(usage)
		default:
			c.Skip()
		}
	})
	return m, answered && c.Err() == nil
}

func (m *completion) member(c *cursor.Cursor, key string) {
	switch key {
	case "content":
		m.content = c.Raw()
	case "tool_calls":
		m.calls = c.Raw()
	case "function_call":
		m.single = c.Raw()
	case "reasoning_content", "reasoning":
		if raw := c.Raw(); len(m.reasoning) <= len(`""`) {
			m.reasoning = raw
		}
	default:
		c.Skip()
	}
}

// said is the text of a message's content: a string, or a list of parts.
func (p *Pad) said(content arena.Raw) string {
	if content.Kind() != arena.Array {
		p.json.Next(string(content))
		text, _ := p.json.String()
		return text
	}
	var b strings.Builder
	for _, part := range gjson.Parse(string(content)).ForEach {
		b.WriteString(part.Get("text").Str)
	}
	return b.String()
}

// mayCall reports whether a text, with or without escapes, holds what every dialect
// of calls holds: an opened bracket or an action line.
func mayCall(text arena.Raw) bool {
	return strings.IndexByte(string(text), '{') >= 0 || strings.Contains(string(text), "ction")
}

// native reads the list of OpenAI tool calls of the answer whose first named
// call is at first.
func (p *Pad) native(calls arena.Raw, first int) {
	c := p.json
	c.Next(string(calls))
	c.Array(func() {
		if len(p.acts) >= first+maxNamed {
			c.Skip()
			return
		}
		name, args := "", emptyObject
		c.Object(func(key string) {
			if key == "function" {
				name, args = p.function()
			} else {
				c.Skip()
			}
		})
		p.name(name, args, first)
	})
}

const emptyObject = arena.Raw("{}")

// inBlocks takes the calls that stand as blocks of their own among the parts of
// a content.
func (p *Pad) inBlocks(content arena.Raw, first int) {
	gjson.Parse(string(content)).ForEach(func(_, part gjson.Result) bool {
		if part.Get("type").Str != "tool_use" {
			return true
		}
		if args, _ := calls.Arguments(arena.Raw(part.Get("input").Raw)); args != "" {
			p.name(part.Get("name").Str, args, first)
		}
		return len(p.acts) < first+maxNamed
	})
}

// function takes the function that a call names, with its arguments.
func (p *Pad) function() (name string, args arena.Raw) {
	c := p.json
	args = emptyObject
	c.Object(func(key string) {
		switch {
		case key == "name":
			name, _ = c.String()
		case key != "arguments":
			c.Skip()
		case c.Kind() == arena.String:
			text, _ := c.String()
			p.argued += len(text)
			args = calls.ArgumentsIn(text)
		default:
			args, _ = calls.Arguments(c.Raw())
		}
	})
	return name, args
}

func (p *Pad) inText(text string, first int) {
	for _, c := range p.written.Read(text).Calls {
		if len(p.acts) < first+maxNamed {
			p.name(c.Name, c.Arguments, first)
		}
	}
}

// maxNamed bounds the calls of one answer; harnesses allow at most sixteen.
const maxNamed = 128

// name adds a named call, unless this answer already named the very same: text
// that stands twice in an answer is one decision.
func (p *Pad) name(name string, args arena.Raw, first int) {
	if !p.room() {
		return
	}
	r := p.role(ToolName(name))
	p.tools = append(p.tools, r.Tool)
	var a Act
	a.Read(p, r, args, false)
	if a.Tool == ToolFind && len(a.Words) == 0 || a.Tool.TakesProducts() && len(a.IDs) == 0 {
		a.ownKeys(p, args)
	}
	for i := range p.acts[first:] {
		if p.acts[first+i].SameRequest(&a) && r.Tool != ToolOther {
			return
		}
	}
	p.acts = append(p.acts, a)
}
