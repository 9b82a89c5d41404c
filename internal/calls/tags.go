package calls

import (
	"strings"

	"github.com/trajectory-arena/arena/internal/text"
)

type kind uint8

const (
	words kind = iota
	thinking
	calling
	speaking
	answering
)

// kinds maps the names of tags, in the spellings that models use, to the kind of their content.
// All other tags are ordinary text.
var kinds = map[string]kind{
	properCall: calling, "tool_calls": calling, "toolcall": calling, "function_call": calling,
	"think": thinking, "thinking": thinking, "thought": thinking,
	"response": speaking, "answer": speaking,
	"obs": answering, "tool_response": answering, "observation": answering,
}

// properCall is the name of the tag that should enclose a call. Calls in tags of other names are
// read too, and reported as repaired (RepairTag).
const properCall = "tool_call"

func (r *Reader) message(text string) {
	if _, _, k, _ := nextTag(text); k == words && r.untagged(text) {
		return
	}
	onlyThought := true
	for remaining := text; remaining != ""; {
		before, tag, k, after := nextTag(remaining)
		r.say(before)
		if k == words {
			break
		}
		onlyThought = onlyThought && k == thinking
		remaining = r.element(tag, k, after)
	}
	if message := r.Text; onlyThought && r.Think != "" && len(r.Calls) == 0 {
		if r.Text = ""; !r.untagged(message) {
			r.Text = message
		}
	}
}

// untagged reads the calls of a text that are outside of tags: ReAct lines, fenced blocks, or
// bare JSON. Models that think in tags may write such calls after their thinking. It reports
// whether there are any.
func (r *Reader) untagged(text string) bool {
	return !r.skipCalls && (r.react(text) || r.fences(text) || r.bare(text))
}

// element adds the content of a tag that was just opened to the thinking, calls, results or text of
// the message, by the kind k of the tag. after is the text after the opening tag. It returns the
// text after the element. cutClose defines where an unclosed element ends.
func (r *Reader) element(tag string, k kind, after string) string {
	body, remaining, closed := cutClose(after, tag, k)
	switch k {
	case thinking:
		if !closed {
			r.repair(RepairThink)
		}
		r.thinkBlock(body)
	case calling:
		if !closed || tag != properCall {
			r.repair(RepairTag)
		}
		r.callBlock(body, closed)
	case answering:
		r.resultBlock(body)
	case speaking, words:
		r.say(body)
	}
	return remaining
}

// thinkBlock adds the content of a thinking tag to the thinking. Calls in the content are added
// to the calls of the message, thinking in tags of its own to the thinking.
func (r *Reader) thinkBlock(body string) {
	if !r.skipCalls && containsTag(body, calling) {
		if r.level == maxBlocks {
			r.fault(FaultDeep)
			return
		}
		r.repair(RepairThinkCall)
		inner := Reader{level: r.level + 1}
		inner.message(body)
		thought := text.Join(inner.Text, "\n", inner.Think)
		r.Think = text.Join(r.Think, "\n", thought)
		r.Calls = append(r.Calls, inner.Calls...)
		for _, w := range inner.Repairs {
			r.repair(w)
		}
		for _, w := range inner.Faults {
			r.fault(w)
		}
		return
	}
	r.Think = text.Join(r.Think, "\n", strings.TrimSpace(body))
}

func (r *Reader) say(words string) { r.Text = text.Join(r.Text, "\n", strings.TrimSpace(words)) }

// nextTag finds the first opening tag in s whose name is known, such as <tool_call>. It returns the
// text before the tag, the name and kind of the tag, and the text after it. Closing tags are
// skipped. Without such a tag it returns all of s as before, the kind words (ordinary text), and
// empty strings.
func nextTag(s string) (before, tag string, k kind, after string) {
	for start := 0; ; {
		i := strings.IndexByte(s[start:], '<')
		if i < 0 {
			return s, "", words, ""
		}
		i += start
		name, end := tagName(s[i:])
		if k := kinds[name]; k != words {
			return s[:i], name, k, s[i+end:]
		}
		start = i + 1
	}
}

// tagName reads `<name>` or `</name>` at the start of s, in any case and with blanks around the
// name. It returns the name in lower case, with the slash, and the length of the tag in bytes.
// It returns "" and 0 if there is no tag of at most 24 bytes.
func tagName(s string) (name string, end int) {
	const longest = 24
	stop := strings.IndexByte(s[:min(len(s), longest)], '>')
	if stop < 0 {
		return "", 0
	}
	name = strings.ToLower(strings.TrimSpace(s[1:stop]))
	if strings.HasPrefix(name, "/ ") {
		name = "/" + strings.TrimSpace(name[1:])
	}
	return name, stop + 1
}

func containsTag(s string, want kind) bool {
	for s != "" {
		_, _, k, after := nextTag(s)
		if k == want {
			return true
		}
		s = after // empty after the last tag
	}
	return false
}

// cutClose splits s, the text after an opening tag, at the tag that closes it. closed is false
// if there is no closing tag. An unclosed call then ends before the next known opening tag, and
// any other element before the next one of another kind, or else at the end of s.
func cutClose(s, tag string, k kind) (body, remaining string, closed bool) {
	if i, n := closing(s, tag, k); i >= 0 {
		return s[:i], s[i+n:], true
	}
	for start := 0; start < len(s); {
		before, _, next, after := nextTag(s[start:])
		i := start + len(before)
		if next == words {
			break
		}
		if next != k || k == calling {
			return s[:i], s[i:], false
		}
		start = len(s) - len(after)
	}
	return s, "", false
}

// closing returns the index in s and the length of the tag that closes an element, -1 and 0 if
// there is none. Any call tag may close a call, but only before the next call opens.
func closing(s, tag string, k kind) (i, length int) {
	for start := 0; ; {
		i := strings.Index(s[start:], "<")
		if i < 0 {
			return -1, 0
		}
		i += start
		name, n := tagName(s[i:])
		closesCall := k == calling && strings.HasPrefix(name, "/") && kinds[name[1:]] == calling
		if name == "/"+tag || closesCall {
			return i, n
		}
		if k == calling && kinds[name] == calling {
			return -1, 0
		}
		start = i + 1
	}
}
