package formats

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
)

// codex is the format of a session of Codex, which has a line for each item of the Responses API
// and for each event of the program. Before version 0.44 a line is an item itself, and sessions of
// the first versions, in TypeScript, are one document.
var codex = Format{
	Name:            "codex",
	isProgramRecord: true,
	Writers:         "Codex sessions (~/.codex/sessions, rollout-*.jsonl)",
	Retained:        "model, session",
	Whole:           "it may be of a version that is not read, or only a part of a session",
	matches: func(doc *value) bool {
		return isCodexLine(doc.get("session").firstElement()) || doc.get("session").isObject() && doc.get("items").isArray()
	},
	read: readCodex,
}

func isCodexLine(line *value) bool {
	if line.get("payload").isObject() {
		kind := line.get("type")
		return kind.str() == "session_meta" || kind.str() == "response_item" || kind.isString() && line.has("timestamp")
	}
	isHeader := line.has("instructions") && line.has("timestamp") && line.has("id") && len(line.names()) <= 4
	return isHeader || line.string("record_type") == "state" || isResponsesItem(line)
}

// isResponsesItem reports whether a line is itself an item of the Responses API, as in sessions
// before version 0.44.
func isResponsesItem(line *value) bool {
	switch line.string("type") {
	case "message":
		return line.has("role") && line.get("content").isArray()
	case "reasoning":
		return line.get("summary").isArray()
	case "function_call", "function_call_output", "local_shell_call", "custom_tool_call", "custom_tool_call_output":
		return line.has("call_id")
	}
	return line.string("type") == "web_search_call" && line.get("action").isObject()
}

func readCodex(r *reader, doc *value) {
	list := doc.get("session")
	var lines []sessionLine
	if list.isObject() {
		lines = append(lines, sessionLine{value: list})
		list = doc.get("items")
	}
	lines = append(lines, r.sessionLines(list)...)
	s := codexSession{conversations: []conversation{{}}}
	for i := range lines {
		lines[i].unwrapCodex()
		s.add(lines[i])
	}
	if !s.isKnown {
		return // of a version that is not read
	}
	r.readConversations(s.conversations, r.readCodexLines)
}

// unwrapCodex sets the kind of a line. For a line with a payload, it is the type of the line; for
// any other line with a type, which is an item of the conversation itself, "response_item"; for a
// header of older sessions "session_meta". The kind of a line that records the program's state
// stays empty.
func (l *sessionLine) unwrapCodex() {
	switch {
	case l.get("payload").isObject():
		l.kind = l.string("type")
	case l.has("type"):
		l.kind = "response_item"
	case !l.has("record_type"):
		l.kind = "session_meta"
	}
}

// payload returns the object under the key payload of a line, or the line itself if it has none, as
// in older sessions.
func (l *sessionLine) payload() *value {
	if payload := l.get("payload"); payload.isObject() {
		return payload
	}
	return l.value
}

// codexSession splits the lines of a file of Codex into conversations.
type codexSession struct {
	conversations []conversation
	// header has the line with the session's header, then that with the newest settings of a turn.
	// A line that was not read has no kind.
	header [2]sessionLine
	// turns are the indices of those lines in the last conversation that have the user's messages.
	turns    []int
	hasItems bool
	// isKnown is set once a line is a header or an item, so that the version of the file can be
	// read.
	isKnown bool
}

// add adds a line to the last conversation, with these exceptions: a header after items begins
// another session; a compaction begins another conversation, since a summary replaces the earlier
// messages; a rollback removes the last turns from the conversation.
func (s *codexSession) add(line sessionLine) {
	c := &s.conversations[len(s.conversations)-1]
	switch line.kind {
	case "session_meta":
		if s.hasItems {
			s.begin(conversation{})
			s.hasItems = false
		}
		if !s.hasItems && s.header[0].kind == "" {
			s.header[0] = line
		}
	case "turn_context":
		s.header[1] = line
	case "compacted":
		isUnknown := func(l sessionLine) bool { return l.kind == "" }
		header := slices.DeleteFunc(slices.Clone(s.header[:]), isUnknown)
		s.begin(conversation{isContinued: true, lines: header})
	case "event_msg":
		if payload := line.payload(); payload.peek("type").Str == "thread_rolled_back" {
			n := int(min(max(payload.peek("num_turns").Float(), 0), float64(len(s.turns))))
			s.rollBack(c, n)
		}
	case "response_item":
		s.hasItems = true
		if payload := line.payload(); payload.peek("role").Str == "user" && !isCodexContext(payload) {
			s.turns = append(s.turns, len(c.lines))
		}
	}
	s.isKnown = s.isKnown || s.hasItems || s.header[0].kind != ""
	c = &s.conversations[len(s.conversations)-1]
	c.lines = append(c.lines, line)
}

func (s *codexSession) begin(c conversation) {
	s.conversations = append(s.conversations, c)
	s.turns = nil
	if !c.isContinued {
		s.header = [2]sessionLine{}
	}
}

// rollBack removes the last n turns from c, the last conversation. A turn has all lines from a
// message of the user to the next one.
func (s *codexSession) rollBack(c *conversation, n int) {
	if n == 0 {
		return
	}
	first := len(s.turns) - n
	for i := range c.lines[s.turns[first]:] {
		c.lines[s.turns[first]+i].leaveOut()
	}
	c.lines = c.lines[:s.turns[first]]
	c.hasOthers = true
	s.turns = s.turns[:first]
}

// codexContexts are the beginnings of messages that Codex itself wrote in the user's name.
var codexContexts = []string{
	"<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>",
	"<subagent_notification>", "<INSTRUCTIONS>",
}

// isCodexContext reports whether the text of an item begins with one of codexContexts: Codex wrote
// it and not the user, for example to name the working folder.
func isCodexContext(item *value) bool {
	text := item.peek("content.0.text").Str
	return slices.ContainsFunc(codexContexts, func(beginning string) bool {
		return strings.HasPrefix(strings.TrimSpace(text), beginning)
	})
}

// readCodexLines reads the lines of a conversation into the current attempt. What the program wrote
// in the user's name becomes a system message. Lines of kind event_msg, and of
// unknown kinds, are left out and counted as lost: most event_msg repeat what other lines say.
func (r *reader) readCodexLines(c *conversation) {
	a := r.attempt()
	items := itemTurn{r: r}
	for i := range c.lines {
		line := &c.lines[i]
		content := line.payload()
		switch line.kind {
		case "session_meta":
			if a.Session == "" {
				a.Session = content.id("id", "session_id")
				r.addSystem(r.textOf(content.object("base_instructions"), "text"))
				r.addSystem(r.textOf(content, "instructions"))
				a.readOwnKeys(content.object("arena"))
			}
		case "turn_context":
			a.Model = cmp.Or(r.textOf(content, "model"), a.Model)
		case "compacted":
			r.readCodexSummary(content, &items)
		case "inter_agent_communication":
			items.flush()
			r.addText(userRole, r.content(content.get("content")).text)
		case "response_item":
			r.readCodexItem(content, &items)
		case "event_msg", "world_state", "inter_agent_communication_metadata", "":
			r.leaveEvent(line.value)
		}
	}
	items.flush()
}

// readCodexItem passes an item of the Responses API to items, which joins the items of one reply.
// An item that the program wrote in the user's name becomes a system message.
func (r *reader) readCodexItem(item *value, items *itemTurn) {
	if item.peek("role").Str == "user" && isCodexContext(item) {
		items.flush()
		r.addText(systemRole, r.content(item.get("content")).text)
		return
	}
	items.read(item)
}

// readCodexSummary reads the summary that replaces the conversation before a compaction: a list of
// items, or one text in older sessions. If an item of the list can be decrypted only by the
// provider, it sets hasHiddenContext of the attempt, because the model saw something that the trace
// lacks.
func (r *reader) readCodexSummary(compacted *value, items *itemTurn) {
	list := compacted.get("replacement_history")
	if !list.isArray() {
		r.addText(userRole, r.textOf(compacted, "message"))
		return
	}
	r.each(list, func(item *value) {
		switch item.string("type") {
		case "compaction", "compaction_summary", "context_compaction":
			r.attempt().hasHiddenContext = true
			item.raw()
		default:
			r.readCodexItem(item, items)
		}
	})
}

// addSystem adds a system message with this text. It does nothing if the text is empty.
func (r *reader) addSystem(text string) {
	if text != "" {
		r.addText(systemRole, text)
	}
}

// setFailure records that the attempt failed with an error of this type (kind) and message. It does
// nothing if both are empty.
func (r *reader) setFailure(kind, message string) {
	if kind+message != "" {
		r.setError(&arena.AttemptError{Type: kind, Message: message})
	}
}
