package traces

import (
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/traces/cold"
)

// message is one message of a conversation, in any of the dialects that call
// it a message: OpenAI's, ShareGPT's, ShoppingBench's.
type message struct {
	role    string
	text    string
	content arena.Raw
	step    arena.Step
	callID  string
	name    string
	results []result
	nonText bool
}

// result is an answer with the id of its call.
type result struct {
	callID string
	value  arena.Raw
}

// messages takes a list of messages, and nothing of a value that is none.
func (d *decoder) messages(v *conversation) {
	v.restart()
	v.asked, v.t.Query = false, ""
	d.unpacked(func(list *decoder) {
		isList := list.c.Array(func() {
			list.unpacked(func(one *decoder) {
				m := one.chatMessage()
				one.say(v, &m)
			})
		})
		d.notJSON = d.notJSON || list.notJSON || !isList
	})
}

// unpacked takes a value, or the JSON that a string holds: columns keep messages of
// many forms as text.
func (d *decoder) unpacked(take func(*decoder)) {
	if d.c.Kind() != arena.String {
		take(d)
		return
	}
	text, _ := d.c.String()
	inner := d.within(text)
	take(inner)
	d.notJSON = d.leave(inner) != nil || d.notJSON
}

func (d *decoder) chatMessage() (m message) {
	c := d.c
	c.Object(func(key string) {
		switch key {
		case "role", "from":
			m.role, _ = c.String()
		case "content", "value":
			mark := c.Mark()
			m.text, m.nonText = d.content()
			m.content = c.Since(mark)
		case "text", "system_prompt": // of SWE-agent's data sets, in place of content
			if text, ok := c.String(); ok {
				m.text = text
			}
		case "reasoning_content", "reasoning", "thinking":
			if text, ok := c.String(); ok {
				m.step.Reasoning = text
			}
		case "think":
			m.step.Think, _ = c.String()
		case "response":
			m.step.Response, _ = c.String()
		case "tool_calls", "tool_call":
			m.step.Calls = d.chatCalls(m.step.Calls)
		case "function_call":
			m.step.Calls = d.functionCall(m.step.Calls)
		case "tool_call_id":
			m.callID, _ = c.ID()
		case "name":
			m.name, _ = c.String()
		case "obs":
			m.results = d.observations()
		default:
			if text, _ := c.String(); text != "" {
				d.lost = append(d.lost, cold.Unread(key)...)
			}
		}
	})
	return m
}

// say adds a message to its conversation, by who speaks.
func (d *decoder) say(v *conversation, m *message) {
	if m.nonText {
		addVeto(v.t, vetoNonText)
	}
	switch m.role {
	case "system", "developer":
		v.system(m.text)
	case "user", "human":
		v.user(m.text)
	case "assistant", "gpt", "model", "ai":
		m.step.Content = m.text
		v.agent(m.step)
	case "function_call":
		m.step.Content, m.step.Calls = d.sharedCalls(m.text)
		v.agent(m.step)
	case "observation":
		d.observed(v, m)
	case "tool", "function", "tool_response":
		if m.callID == "" && v.t.Source.Shape == shareGPT.Shape {
			d.observed(v, m)
			return
		}
		v.result(m.callID, m.name, partsText(m.content))
	default:
		addVeto(v.t, vetoRole)
		v.step(arena.Step{Role: arena.RoleSystem, Content: m.text})
	}
	for _, r := range m.results {
		v.result(r.callID, "", r.value)
	}
}

// observed gives ShareGPT's one observation to the calls of the turn before it:
// as a list with one element for each of several calls, else as it is. The turn may
// be nothing but a list of calls as text, as in ToolACE.
func (d *decoder) observed(v *conversation, m *message) {
	if s := v.wroteText(); s != nil {
		if all := calls.Listed(strings.TrimSpace(s.Content)); len(all) > 0 {
			s.Content, s.Calls = "", all
		}
	}
	waiting := v.waiting()
	inner := d.within(m.text)
	var each []arena.Raw
	isList := inner.c.Array(func() { each = append(each, inner.c.Raw()) })
	if err := d.leave(inner); err != nil || waiting < 2 || !isList || len(each) != waiting {
		v.result(m.callID, m.name, m.content)
		return
	}
	for _, value := range each {
		v.result("", "", value)
	}
}

// content takes a message's text: a string, or the text of a list of parts.
// nonText tells that something else was there.
func (d *decoder) content() (text string, nonText bool) {
	c := d.c
	switch c.Kind() {
	case arena.String:
		text, _ = c.String()
		return text, false
	case arena.Array:
		var texts []string
		c.Array(func() {
			part, ok := d.textPart()
			if ok {
				texts = append(texts, part)
			}
			nonText = nonText || !ok
		})
		return strings.Join(texts, "\n"), nonText
	default:
		kind := c.Kind()
		c.Skip()
		return "", kind != arena.Null
	}
}

// textPart takes one part of a message; false if it is no text.
func (d *decoder) textPart() (text string, ok bool) {
	c := d.c
	if c.Kind() != arena.Object {
		return c.String()
	}
	c.Fields(cursor.Fields{"text": func() { text, ok = c.String() }})
	return text, ok
}

// chatCalls takes a list of calls, or one call alone.
func (d *decoder) chatCalls(calls []arena.ToolCall) []arena.ToolCall {
	if d.c.Kind() != arena.Array {
		return d.functionCall(calls)
	}
	d.c.Array(func() { calls = d.functionCall(calls) })
	return calls
}

// functionCall takes one call: OpenAI's with a function in it, or the bare
// name and arguments. Anything else is no call.
func (d *decoder) functionCall(calls []arena.ToolCall) []arena.ToolCall {
	var call arena.ToolCall
	if readCall(d.c, &call) {
		calls = append(calls, call)
	}
	return calls
}

func readCall(c *cursor.Cursor, call *arena.ToolCall) bool {
	return c.Object(func(key string) {
		switch key {
		case "function":
			readCall(c, call)
		case "id", "tool_call_id":
			call.ID, _ = c.ID()
		case "name":
			call.Name, _ = c.String()
		case "arguments", "parameters":
			call.Arguments = c.Raw()
		case "result":
			call.Result = c.Raw()
		default:
			c.Skip()
		}
	})
}

// observations takes ShoppingBench's list of results.
func (d *decoder) observations() (all []result) {
	d.c.Array(func() {
		var r result
		d.c.Fields(cursor.Fields{"tool_call_id": cursor.AsID(&r.callID), "results": &r.value, "result": &r.value})
		all = append(all, r)
	})
	return all
}

// sharedCalls reads ShareGPT's turn of calls: thinking and text, then one call
// or a list of them as JSON. What does not read so is text.
func (d *decoder) sharedCalls(text string) (said string, calls []arena.ToolCall) {
	at := strings.LastIndex(text, "</think>") + 1
	if at > 0 {
		at += len("</think>") - 1
	}
	start := strings.IndexAny(text[at:], "{[")
	if start < 0 {
		return text, nil
	}
	at += start
	inner := d.within(text[at:])
	calls = inner.chatCalls(nil)
	if d.leave(inner) != nil {
		return text, nil
	}
	return strings.TrimRight(text[:at], "\r\n"), calls
}
