package cold

import (
	"cmp"
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

// claudeCode is a session of Claude Code: a line for each part of a message. Lines
// of its subagents are left out.
var claudeCode = Format{
	Name: "claude_code", Writers: "Claude Code sessions (~/.claude/projects, .jsonl)", Kept: "model, session", Unseen: true,
	is: func(top object) bool {
		return top["session"].Get("#(sessionId).sessionId").Exists() && !top["session"].Get("0.resourceSpans").Exists()
	},
	read: func(r *reader, top object) {
		a := r.begin("")
		said := "" // the message whose parts are being joined
		r.each(top["session"], func(v gjson.Result) {
			line := fields(v)
			m := line.within("message")
			a.Session = line.id("sessionId")
			switch {
			case len(m) == 0 || line["isMeta"].Bool():
				return
			case line["isSidechain"].Bool():
				r.lose(lostBranches, true)
				return
			}
			before := len(a.Messages)
			r.message(m)
			a.Model = cmp.Or(m.id("model"), a.Model)
			if id := m.id("id"); id != "" && id == said && before > 0 && len(a.Messages) == before+1 {
				joinLast(a)
			}
			said = m.id("id")
		})
	},
}

// joinLast makes one turn of the last two, which are parts of one message.
func joinLast(a *Attempt) {
	n := len(a.Messages)
	to, from := &a.Messages[n-2].Step, a.Messages[n-1].Step
	to.Content = strings.Trim(to.Content+"\n"+from.Content, "\n")
	to.Reasoning = strings.Trim(to.Reasoning+"\n"+from.Reasoning, "\n")
	to.Calls = append(to.Calls, from.Calls...)
	a.Messages = a.Messages[:n-1]
}
