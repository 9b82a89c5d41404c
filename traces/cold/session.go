package cold

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Part is the key of the session that a document is one line of; empty where it is
// none. A file's lines of one key are one document, {"session":[line, …]}.
func Part(doc string) string {
	top := fields(gjson.Parse(doc))
	switch {
	case top["resourceSpans"].IsArray():
		return "otlp"
	case isSpan(top):
		return "span " + spanTrace(top)
	case top["sessionId"].Type == gjson.String && top["type"].Exists(), top["type"].Str == "file-history-snapshot", top["leafUuid"].Exists():
		return "claude"
	}
	return ""
}

// claudeCode is a session of Claude Code: a line for each part of a message. A subagent's
// lines are left out, save in a file of its own.
var claudeCode = Format{
	Name: "claude_code", Writers: "Claude Code sessions (~/.claude/projects, .jsonl)", Kept: "model, session",
	is: func(top object) bool {
		return top["session"].Get("#(sessionId).sessionId").Exists() && !top["session"].Get("0.resourceSpans").Exists()
	},
	read: func(r *reader, top object) {
		a, ownFile := r.begin(""), !top["session"].Get("#(isSidechain==false)").Exists()
		reply, at := "", 0 // the model's message whose parts are being joined, and where it stands
		r.each(top["session"], func(v gjson.Result) {
			line := fields(v)
			m := line.within("message")
			a.Session = line.id("sessionId")
			if agent := line.id("agentId"); ownFile && agent != "" {
				a.Session += "-" + agent
			}
			switch {
			case len(m) == 0 || line["isMeta"].Bool():
				return
			case line["isSidechain"].Bool() && !ownFile:
				r.lose(lostBranches, true)
				return
			}
			before := len(a.messages)
			r.message(m)
			a.Model = cmp.Or(m.id("model"), a.Model)
			id, added := m.id("id"), a.messages[before:]
			switch {
			case id != "" && id == reply && len(added) == 1:
				joinLast(a, at)
			case slices.ContainsFunc(added, func(m message) bool { return m.role != Tool }):
				reply, at = id, before // results do not end a reply: they come while it is still being written
			}
		})
	},
}

// joinLast makes one turn of the last message and an earlier one, which are parts of one reply.
func joinLast(a *Attempt, earlier int) {
	n := len(a.messages)
	to, from := &a.messages[earlier].step, a.messages[n-1].step
	to.Content = strings.Trim(to.Content+"\n"+from.Content, "\n")
	to.Reasoning = strings.Trim(to.Reasoning+"\n"+from.Reasoning, "\n")
	to.Calls = append(to.Calls, from.Calls...)
	a.messages = a.messages[:n-1]
}
