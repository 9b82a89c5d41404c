package formats

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// SessionKey returns the key of the session of which a document is one line, or "" if the
// document is not a line of a session. The lines of a file with one key form the document
// {"session":[line, …]}.
func SessionKey(doc string) string {
	top := members(gjson.Parse(doc))
	switch {
	case top["resourceSpans"].IsArray():
		return "otlp"
	case isSpan(top):
		return "span " + traceID(top)
	case isClaudeCodeLine(top):
		return "claude"
	}
	return ""
}

func isClaudeCodeLine(line object) bool {
	isEntry := line["sessionId"].Type == gjson.String && line["type"].Exists()
	return isEntry || line["type"].Str == "file-history-snapshot" || line["leafUuid"].Exists()
}

// claudeCode is the format of a session of Claude Code, which has a line for each part of a
// message. The lines of a subagent are read only if the file has no others.
var claudeCode = Format{
	Name:     "claude_code",
	Writers:  "Claude Code sessions (~/.claude/projects, .jsonl)",
	Retained: "model, session",
	matches: func(doc object) bool {
		session := doc["session"]
		return session.Get("#(sessionId).sessionId").Exists() && !session.Get("0.resourceSpans").Exists()
	},
	read: readClaudeCode,
}

func readClaudeCode(r *reader, doc object) {
	session := doc["session"]
	c := claudeSession{
		r:          r,
		attempt:    r.begin(""),
		isSubagent: !session.Get("#(isSidechain==false)").Exists(),
	}
	r.each(session, func(v gjson.Result) {
		c.readLine(members(v))
	})
}

// claudeSession joins the lines of a session of Claude Code, each a part of a message, into
// messages.
type claudeSession struct {
	r       *reader
	attempt *Attempt
	// isSubagent reports whether the file has only lines of a subagent.
	isSubagent bool
	// replyID is the id of the model's last message, reply the index of the message with its
	// first part.
	replyID string
	reply   int
}

func (c *claudeSession) readLine(line object) {
	a := c.attempt
	a.Session = line.id("sessionId")
	if agent := line.id("agentId"); c.isSubagent && agent != "" {
		a.Session += "-" + agent
	}

	m := line.object("message")
	if len(m) == 0 || line["isMeta"].Bool() {
		return
	}
	if line["isSidechain"].Bool() && !c.isSubagent {
		c.r.addLoss(lostBranches)
		return
	}

	before := len(a.messages)
	c.r.readMessage(m)
	a.Model = cmp.Or(m.id("model"), a.Model)

	id := m.id("id")
	added := a.messages[before:]
	if id != "" && id == c.replyID && len(added) == 1 {
		mergeLastMessage(a, c.reply)
		return
	}
	// Results do not end a reply: they are recorded while it is still being written.
	isNotResult := func(m message) bool { return m.role != toolRole }
	if slices.ContainsFunc(added, isNotResult) {
		c.replyID = id
		c.reply = before
	}
}

// mergeLastMessage moves the text, reasoning and calls of the last message to the end of the
// message at index earlier, which is another part of the same reply.
func mergeLastMessage(a *Attempt, earlier int) {
	last := len(a.messages) - 1
	dst := &a.messages[earlier].step
	src := a.messages[last].step
	dst.Content = strings.Trim(dst.Content+"\n"+src.Content, "\n")
	dst.Reasoning = strings.Trim(dst.Reasoning+"\n"+src.Reasoning, "\n")
	dst.Calls = append(dst.Calls, src.Calls...)
	a.messages = a.messages[:last]
}
