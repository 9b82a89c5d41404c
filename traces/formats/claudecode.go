package formats

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// SessionKey returns the key of the session of which a document is one line, or "" if the
// document is not a line of a session. The lines of a file with one key form the document
// {"session":[line, …]}.
func SessionKey(doc string) string {
	top := parse(doc)
	switch {
	case top.get("resourceSpans").isArray(), top.get("resourceLogs").isArray():
		return "otlp"
	case isSpan(top) && traceID(top) != "":
		return "span " + traceID(top)
	case isClaudeCodeLine(top):
		return "claude"
	}
	return ""
}

func isClaudeCodeLine(line *value) bool {
	isEntry := line.get("sessionId").isString() && line.get("type").exists()
	return isEntry || line.get("type").str() == "file-history-snapshot" || line.get("leafUuid").exists()
}

// claudeCode is the format of a session of Claude Code, which has a line for each part of a
// message. The lines of a subagent are read only if the file has no others.
var claudeCode = Format{
	Name:     "claude_code",
	Writers:  "Claude Code sessions (~/.claude/projects, .jsonl)",
	Retained: "model, session",
	matches: func(doc *value) bool {
		session := doc.get("session")
		return session.peek("#(sessionId).sessionId").Exists() && !session.peek("0.resourceSpans").Exists()
	},
	read: readClaudeCode,
}

// readClaudeCode reads a session as a tree of lines. Each root begins a conversation, since /clear
// and a compaction begin anew. Of a conversation the branch is read that ends in its newest line:
// other branches were taken back.
func readClaudeCode(r *reader, doc *value) {
	session := doc.get("session")
	isSubagent := !session.peek("#(isSidechain==false)").Exists()
	var lines []claudeLine
	skipsBranch := false
	r.each(session, func(v *value) {
		if v.get("isSidechain").isTrue() && !isSubagent {
			skipsBranch = true
			v.raw()
			return
		}
		lines = append(lines, claudeLine{value: v})
	})

	conversations := claudeConversations(lines)
	for i, conversation := range conversations {
		part := ""
		if len(conversations) > 1 {
			part = conversation.text()
		}
		c := claudeSession{
			r:          r,
			attempt:    r.begin(part, conversation.values()...),
			isSubagent: isSubagent,
		}
		if skipsBranch || conversation.hasOthers {
			r.addLoss(lostBranches)
		}
		if conversation.hasRepeated {
			r.addLoss(lostRepeated)
		}
		for _, line := range conversation.lines {
			c.readLine(line.value)
		}
		if i > 0 {
			c.attempt.Session += "-" + strconv.Itoa(i+1)
		}
	}
}

// claudeSession joins the lines of a conversation of Claude Code, each a part of a message, into
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

// syntheticModel is the model of texts that the program itself wrote, such as an error of the API.
const syntheticModel = "<synthetic>"

func (c *claudeSession) readLine(line *value) {
	a := c.attempt
	if id := line.id("sessionId"); id != "" {
		a.Session = id
	}
	if agent := line.id("agentId"); c.isSubagent && agent != "" {
		a.Session = line.id("sessionId") + "-" + agent
	}
	if line.get("type").str() == "attachment" {
		c.r.addLoss(lostAttachment)
		line.raw()
	}

	m := line.object("message")
	switch {
	case m.isEmpty() || line.get("isMeta").isTrue():
		return
	case m.get("model").str() == syntheticModel:
		c.r.addLoss(lostSynthetic)
		m.raw()
		return
	case isClientCommand(m.get("content").json.Str):
		c.r.addLoss(lostCommands)
		m.raw()
		return
	case line.get("isCompactSummary").isTrue():
		c.r.addLoss(lostContext)
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

// isClientCommand reports whether a text is a command to the client, or the output of one.
func isClientCommand(text string) bool {
	return strings.HasPrefix(text, "<command-name>") || strings.HasPrefix(text, "<local-command-")
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
