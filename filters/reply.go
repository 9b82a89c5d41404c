package filters

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/dialect"
)

// reply is one answer of a model as the proxy logged it.
type reply struct {
	call *arena.ProxyCall
	span
	// readable is false where the log cut the answer or kept nothing of it.
	readable bool
	// copied marks an answer whose id the log already had: the same inference
	// is evidence once.
	copied bool
	id     uint64
	// named are the calls in this answer, each once.
	named []act
	// queue is the tools named, in order and with repeats, as richness v1
	// counts them.
	queue []tool
	// shell is the length of the answer around its content and calls.
	shell int
}

// readReply reads an OpenAI chat completion.
func readReply(c *arena.ProxyCall, at span, p *pad) reply {
	r := reply{call: c, span: at}
	body := string(c.Response)
	if c.Response.Kind() == arena.String {
		body = gjson.Parse(body).Str // a log that keeps the body as text
	}
	if !strings.HasPrefix(body, "{") {
		body = streamed(body)
	}
	id, message := answer(body)
	if message == "" {
		return r
	}
	r.readable = true
	r.id = hashText(p.text(id))
	var content, calls, single, reasoning string
	members(message, func(key, raw string) bool {
		switch key {
		case "content":
			content = raw
		case "tool_calls":
			calls = raw
		case "function_call":
			single = raw
		case "reasoning_content", "reasoning":
			if len(reasoning) <= len(`""`) {
				reasoning = raw
			}
		}
		return true
	})
	r.shell = len(body) - len(content) - len(calls) - len(single) - len(reasoning)
	first, queued := len(p.acts), len(p.tools)
	p.native(calls, first)
	if strings.HasPrefix(single, "{") {
		p.function(single, first)
	}
	if len(p.acts) == first && mayCall(content) {
		p.inText(p.said(content), first)
	}
	if len(p.acts) == first && mayCall(reasoning) {
		p.inText(p.text(reasoning), first)
	}
	if len(p.acts) == first && strings.Contains(content, toolMark) {
		p.spelled(p.said(content), first)
	}
	r.named = p.acts[first:len(p.acts):len(p.acts)]
	r.queue = p.tools[queued:len(p.tools):len(p.tools)]
	return r
}

// answer finds the id and the first choice's message in a chat completion, both
// as JSON and empty where there are none.
func answer(completion string) (id, message string) {
	members(completion, func(key, raw string) bool {
		switch {
		case key == "id":
			id = raw
		case key == "choices" && raw[0] == '[':
			at := skipBlank(raw, 1)
			members(raw[at:skipValue(raw, at)], func(key, raw string) bool {
				if key == "message" && raw[0] == '{' {
					message = raw
				}
				return true
			})
		}
		return true
	})
	return id, message
}

// said is the text of a reply's content: a string, or a list of parts.
func (p *pad) said(content string) string {
	if !strings.HasPrefix(content, "[") {
		return p.text(content)
	}
	var b strings.Builder
	gjson.Parse(content).ForEach(func(_, part gjson.Result) bool {
		b.WriteString(part.Get("text").Str)
		return true
	})
	return b.String()
}

// mayCall says that a text, with or without escapes, holds what every dialect
// of calls holds: an opened bracket or an action line.
func mayCall(s string) bool {
	return strings.IndexByte(s, '{') >= 0 || strings.Contains(s, "ction")
}

// native reads the list of OpenAI tool calls of the answer whose first named
// call is at first.
func (p *pad) native(calls string, first int) {
	gjson.Parse(calls).ForEach(func(_, c gjson.Result) bool {
		p.function(c.Get("function").Raw, first)
		return len(p.acts) < first+maxNamed
	})
}

func (p *pad) function(f string, first int) {
	var name, arguments string
	members(f, func(key, raw string) bool {
		switch key {
		case "name":
			name = p.text(raw)
		case "arguments":
			arguments = raw
		}
		return true
	})
	if strings.HasPrefix(arguments, `"`) {
		p.name(name, dialect.ArgumentsIn(p.text(arguments)), first)
		return
	}
	args, _ := dialect.Arguments(arena.Raw(arguments))
	p.name(name, args, first)
}

func (p *pad) inText(text string, first int) {
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
func (p *pad) name(name string, args arena.Raw, first int) {
	if !p.room() {
		return
	}
	t := toolOf(toolName(name))
	p.tools = append(p.tools, t)
	var a act
	a.read(p, t, args, false)
	for i := range p.acts[first:] {
		if p.acts[first+i].sameRequest(&a) && t != toolOther {
			return
		}
	}
	p.acts = append(p.acts, a)
}
