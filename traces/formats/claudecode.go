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
	isEntry := line.get("sessionId").isString() && line.has("type")
	return isEntry || line.string("type") == "file-history-snapshot" || line.has("leafUuid")
}

// isStreamLine reports whether a line is one of the stream that Claude Code writes to its standard
// output with --output-format stream-json.
func isStreamLine(line *value) bool {
	if !line.get("session_id").isString() {
		return false
	}
	switch line.string("type") {
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
		return session.peek("#(sessionId).sessionId").Exists() && !first.has("resourceSpans") || isStreamLine(first)
	},
	read: readClaudeCode,
}

// readClaudeCode reads a session file or a stream. The lines of a session file form a tree by the
// ids of their parents. Each root of the tree begins a conversation, as /clear, a compaction and a
// subagent do. Only the branch to the newest line of a conversation is read, since the user took
// back the other branches.
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

// claudeConversations splits the lines of a session file into conversations; those of subagents
// (lines with isSidechain) are last. It also sets the ids in the lines, by which they form a tree.
func claudeConversations(lines []sessionLine) []conversation {
	var mainLines, subagents []sessionLine
	known := map[string]bool{}
	namesParents := slices.ContainsFunc(lines, func(l sessionLine) bool { return l.has("parentUuid") })
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

// placeClaude sets the fields of l that place a line of Claude Code in the tree of lines. Since
// Claude Code writes the lines of a resumed session again, it also sets copyKey: a line with the
// message and the time of an earlier line after the same parent is a copy of that line.
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

// isClaudeMessage reports whether a line has a message of the conversation: it has the key message,
// and its type does not begin with "api-request". Lines of that type have copies of messages.
func isClaudeMessage(line *value) bool {
	return line.has("message") && !strings.HasPrefix(line.string("type"), "api-request")
}

// placeReply sets three fields of a line with a message of Anthropic's API, by which lines of one
// reply are found: reply (the id of the message), calls (the ids of its calls) and answers (the ids
// of the calls whose results it has). answers is nil if the message has anything other than
// results.
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

// streamConversations splits the lines of a stream into conversations, in the order of their first
// lines. Each session and each subagent (identified by parent_tool_use_id) is one, and after each
// compaction another begins. If there are several, those without a message are left out.
func streamConversations(lines []sessionLine) []conversation {
	var conversations []conversation
	current := map[string]int{}
	for i := range lines {
		line := &lines[i]
		key := line.value.id("session_id") + "\n" + line.value.id("parent_tool_use_id")
		index, ok := current[key]
		isBoundary := line.string("subtype") == "compact_boundary"
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

// claudeSession reads the lines of one conversation of Claude Code into messages of an attempt. A
// line has a part of a message; parts of one reply are joined.
type claudeSession struct {
	r       *reader
	attempt *Attempt
	replies replyParts
}

// syntheticModel is the model name that Claude Code records for a text that it wrote itself, such
// as an error of the API.
const syntheticModel = "<synthetic>"

func (c *claudeSession) readLine(line *value) {
	c.readIDs(line)
	switch {
	case line.string("type") == "attachment":
		c.r.addLoss(lostAttachment)
		line.raw()
	case line.string("subtype") == "compact_boundary":
		isStream := line.has("session_id") // which has no summary
		c.attempt.hasHiddenContext = c.attempt.hasHiddenContext || isStream
		c.r.addLoss(lostContext)
		line.raw()
	case line.string("type") == "result":
		c.r.readStreamResult(line)
	case !isClaudeMessage(line):
		c.r.leaveEvent(line)
	}

	if own := line.object("arena"); !own.isEmpty() {
		c.attempt.readOwnKeys(own)
	}
	m := line.object("message")
	isNote := line.get("isMeta").isTrue() && !hasToolResult(m)
	switch {
	case !isClaudeMessage(line) || m.isEmpty() || isNote:
		return
	case m.string("model") == syntheticModel:
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

// hasToolResult reports whether a message of Anthropic's API has a part of type tool_result.
func hasToolResult(m *value) bool {
	return m.peek(`content.#(type=="tool_result").type`).Exists()
}

// isClientCommand reports whether a text begins with the tag of a command to Claude Code itself, or
// of the output of such a command.
func isClientCommand(text string) bool {
	return strings.HasPrefix(text, "<command-name>") || strings.HasPrefix(text, "<local-command-")
}

// readIDs sets the session id of the attempt to that of a line. If the line is a subagent's, "-"
// and the id of the subagent are added. It does nothing if the line has no session id.
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

// readStreamResult reads the last line of a stream, the result. If the line is marked as an error,
// it becomes the error of the attempt. Otherwise its text is ignored, since it repeats the model's
// last message.
func (r *reader) readStreamResult(line *value) {
	if line.get("is_error").isTrue() {
		r.setError(&arena.AttemptError{
			Type:    line.id("subtype"),
			Message: r.textOf(line, "result"),
		})
	}
}

// replyParts joins successive messages of an attempt that are parts of the same reply of the model.
type replyParts struct {
	// id is the API's id of the current reply, first the index in messages of its first part.
	id    string
	first int
}

// join merges the message that was added last into the first part of the reply with the same API
// id, if exactly one message was added. before is the number of messages before that. A tool result
// between two parts does not end a reply, since Claude Code records results while it still records
// the reply.
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

// mergeLastMessage removes the last message of the attempt, and appends its text, reasoning and
// calls to the message at index earlier, which is another part of the same reply.
func mergeLastMessage(a *Attempt, earlier int) {
	last := len(a.messages) - 1
	dst := &a.messages[earlier].step
	src := a.messages[last].step
	dst.Content = strings.Trim(dst.Content+"\n"+src.Content, "\n")
	dst.Reasoning = strings.Trim(dst.Reasoning+"\n"+src.Reasoning, "\n")
	dst.Calls = append(dst.Calls, src.Calls...)
	a.messages = a.messages[:last]
}
