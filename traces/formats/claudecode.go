package formats

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
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
	case isStreamLine(top):
		return "stream"
	case isCodexLine(top):
		return "codex"
	case isPiLine(top):
		return "pi"
	case isGeminiLine(top):
		return "gemini"
	case isOpenHandsEvent(top):
		return "openhands"
	}
	return ""
}

func isClaudeCodeLine(line *value) bool {
	isEntry := line.get("sessionId").isString() && line.get("type").exists()
	return isEntry || line.get("type").str() == "file-history-snapshot" || line.get("leafUuid").exists()
}

// isStreamLine reports whether a line is one of the stream that Claude Code writes to its output.
func isStreamLine(line *value) bool {
	if !line.get("session_id").isString() {
		return false
	}
	switch line.get("type").str() {
	case "assistant", "user":
		return line.get("message").isObject()
	case "system", "result":
		return line.get("subtype").isString()
	}
	return line.get("uuid").isString() && line.get("type").isString()
}

// claudeCode is the format of a session of Claude Code, which has a line for each part of a
// message.
var claudeCode = Format{
	Name:            "claude_code",
	isProgramRecord: true,
	Writers:         "Claude Code sessions (~/.claude/projects, .jsonl) and its output (--output-format stream-json)",
	Retained:        "model, session",
	matches: func(doc *value) bool {
		session := doc.get("session")
		first := session.firstElement()
		return session.peek("#(sessionId).sessionId").Exists() && !first.get("resourceSpans").exists() || isStreamLine(first)
	},
	read: readClaudeCode,
}

// readClaudeCode reads a session as a tree of lines. Each root begins a conversation, since /clear
// and a compaction begin anew, and a subagent has lines of its own. Of a conversation the branch is
// read that ends in its newest line: other branches were taken back.
func readClaudeCode(r *reader, doc *value) {
	lines := r.sessionLines(doc.get("session"))
	var conversations []conversation
	if len(lines) > 0 && isStreamLine(lines[0].value) {
		conversations = streamConversations(lines)
	} else {
		conversations = claudeConversations(lines)
	}
	r.readConversations(conversations, func(c *conversation) {
		s := claudeSession{r: r, attempt: r.attempt()}
		for i := range c.lines {
			s.readLine(c.lines[i].value)
		}
	})
}

// claudeConversations returns the conversations of a session, those of subagents last.
func claudeConversations(lines []sessionLine) []conversation {
	var mainLines, subagents []sessionLine
	known := map[string]bool{}
	namesParents := slices.ContainsFunc(lines, func(l sessionLine) bool { return l.get("parentUuid").exists() })
	for i := range lines {
		line := &lines[i]
		line.placeClaude()
		line.isReply = line.isReply || !namesParents
		if !line.value.get("isSidechain").isTrue() {
			mainLines = append(mainLines, *line)
			continue
		}
		// The first line of a subagent may name a line of the main conversation as its parent.
		if !known[line.parentID] {
			line.parentID = ""
		}
		known[line.id] = true
		subagents = append(subagents, *line)
	}
	if !slices.ContainsFunc(mainLines, func(l sessionLine) bool { return l.isTurn }) && len(subagents) > 0 {
		return branches(subagents)
	}
	return append(branches(mainLines), branches(subagents)...)
}

// placeClaude sets the place of a line of Claude Code in the tree. A line that repeats an earlier
// one, after the same parent and at the same time, is a copy: a resumed session is written again.
func (l *sessionLine) placeClaude() {
	l.id = l.value.id("uuid")
	l.parentID = l.value.id("parentUuid")
	l.isTurn = isClaudeMessage(l.value)
	if !l.isTurn {
		return
	}
	l.isReply = l.peek("message.role").Str == "assistant" || hasToolResult(l.get("message"))
	if time := l.value.id("timestamp"); time != "" {
		l.copyKey = time + "\n" + l.peek("message").Raw
	}
	l.placeReply()
}

// isClaudeMessage reports whether a line has a message of the conversation. Lines about requests have
// copies of messages.
func isClaudeMessage(line *value) bool {
	return line.get("message").exists() && !strings.HasPrefix(line.get("type").str(), "api-request")
}

// placeReply sets the ids of the reply, calls and answers of a line with a message of Anthropic's API.
func (l *sessionLine) placeReply() {
	l.reply = l.peek("message.id").Str
	hasOther := false
	for _, part := range l.peek("message.content").ForEach {
		switch part.Get("type").Str {
		case "tool_use":
			l.calls = append(l.calls, part.Get("id").Str)
		case "tool_result":
			l.answers = append(l.answers, part.Get("tool_use_id").Str)
			continue
		}
		hasOther = true
	}
	if hasOther {
		l.answers = nil
	}
}

// streamConversations splits the lines of a stream: each subagent, which the id of the call names
// that began it, has a conversation, and each session and each compaction begins another.
func streamConversations(lines []sessionLine) []conversation {
	var conversations []conversation
	current := map[string]int{}
	for i := range lines {
		line := &lines[i]
		key := line.value.id("session_id") + "\n" + line.value.id("parent_tool_use_id")
		index, ok := current[key]
		isBoundary := line.value.get("subtype").str() == "compact_boundary"
		if !ok || isBoundary {
			index = len(conversations)
			current[key] = index
			conversations = append(conversations, conversation{isContinued: isBoundary})
		}
		conversations[index].lines = append(conversations[index].lines, *line)
	}
	return slices.DeleteFunc(conversations, func(c conversation) bool {
		isMessage := func(l sessionLine) bool { return l.value.get("message").isObject() }
		return len(conversations) > 1 && !slices.ContainsFunc(c.lines, isMessage)
	})
}

// claudeSession joins the lines of a conversation of Claude Code, each a part of a message, into
// messages.
type claudeSession struct {
	r       *reader
	attempt *Attempt
	replies replyParts
}

// syntheticModel is the model of texts that the program itself wrote, such as an error of the API.
const syntheticModel = "<synthetic>"

func (c *claudeSession) readLine(line *value) {
	c.readIDs(line)
	switch {
	case line.get("type").str() == "attachment":
		c.r.addLoss(lostAttachment)
		line.raw()
	case line.get("subtype").str() == "compact_boundary":
		isStream := line.get("session_id").exists() // which has no summary
		c.attempt.hasHiddenContext = c.attempt.hasHiddenContext || isStream
		c.r.addLoss(lostContext)
		line.raw()
	case line.get("type").str() == "result":
		c.r.readStreamResult(line)
	case !isClaudeMessage(line):
		c.r.leaveEvent(line)
	}

	if own := line.object("arena"); !own.isEmpty() {
		c.attempt.readOwnKeys(own)
	}
	m := line.object("message")
	switch {
	case !isClaudeMessage(line) || m.isEmpty() || line.get("isMeta").isTrue() && !hasToolResult(m):
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

	before := len(c.attempt.messages)
	c.r.readMessage(m)
	c.attempt.Model = cmp.Or(m.id("model"), c.attempt.Model)
	c.replies.join(c.attempt, before, m.id("id"))
}

// hasToolResult reports whether a message of Anthropic's API answers a call.
func hasToolResult(m *value) bool {
	return m.peek(`content.#(type=="tool_result").type`).Exists()
}

// isClientCommand reports whether a text is a command to the client, or the output of one.
func isClientCommand(text string) bool {
	return strings.HasPrefix(text, "<command-name>") || strings.HasPrefix(text, "<local-command-")
}

// readIDs sets the session id of the attempt. That of a subagent names the subagent too.
func (c *claudeSession) readIDs(line *value) {
	session := line.id("sessionId", "session_id")
	if session == "" {
		return
	}
	agent := line.id("parent_tool_use_id")
	if line.get("isSidechain").isTrue() {
		agent = line.id("agentId")
	}
	if agent != "" {
		session += "-" + agent
	}
	c.attempt.Session = session
}

// readStreamResult reads the last line of a stream, which repeats the model's last text and says
// whether the session ended with an error.
func (r *reader) readStreamResult(line *value) {
	if line.get("is_error").isTrue() {
		r.setError(&arena.AttemptError{
			Type:    line.id("subtype"),
			Message: r.text(line.get("result")),
		})
	}
}

// replyParts joins messages that are parts of one reply of the model.
type replyParts struct {
	// id is the id of the model's last message, first the index of the message with its first
	// part.
	id    string
	first int
}

// join appends the newest message of an attempt to the earlier part of the reply with the same id, if
// there is one. before is the number of messages that the attempt had when the newest one was read. A
// result of a tool between two parts does not end a reply, since Claude Code records results while it
// still records the reply.
func (p *replyParts) join(a *Attempt, before int, id string) {
	added := a.messages[before:]
	if id != "" && id == p.id && len(added) == 1 {
		mergeLastMessage(a, p.first)
		return
	}
	isNotResult := func(m message) bool { return m.role != toolRole }
	if slices.ContainsFunc(added, isNotResult) {
		p.id = id
		p.first = before
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
