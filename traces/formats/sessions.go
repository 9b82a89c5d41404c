package formats

import (
	"cmp"
	"strings"

	"github.com/trajectory-arena/arena"
)

// geminiCLI is the format of a session of Gemini CLI: one document in older versions, and in newer
// ones a header and a line for each message. A line with the id of an earlier message replaces that
// message, and other lines remove messages or replace all of them.
var geminiCLI = Format{
	Name:            "gemini_cli",
	isProgramRecord: true,
	Writers:         "Gemini CLI sessions (~/.gemini/tmp, session-*.json and .jsonl)",
	Retained:        "model, session",
	Typed:           true,
	matches: func(doc *value) bool {
		return isGeminiHeader(doc) && doc.get("messages").isArray() || isGeminiLine(doc.get("session").firstElement())
	},
	read: readGeminiCLI,
}

func isGeminiHeader(line *value) bool {
	return line.get("sessionId").isString() && line.get("projectHash").isString()
}

func isGeminiLine(line *value) bool {
	if isGeminiHeader(line) {
		return !line.has("messages")
	}
	switch line.string("type") {
	case "user", "gemini", "info", "error", "warning":
		return line.get("id").isString() && line.has("timestamp") && line.has("content")
	}
	return line.has("$rewindTo") || line.get("$set").isObject()
}

func readGeminiCLI(r *reader, doc *value) {
	s := geminiSession{r: r, conversations: []conversation{{}}, places: map[string]int{}}
	list := doc.get("session")
	if !list.exists() {
		s.id = doc.id("sessionId")
		list = doc.get("messages")
	}
	for _, line := range r.sessionLines(list) {
		s.add(line)
	}
	r.readConversations(s.conversations, func(c *conversation) {
		r.attempt().Session = s.id
		for i := range c.lines {
			r.readGeminiMessage(c.lines[i].value)
		}
	})
}

// geminiSession collects the messages of a session of Gemini CLI, and applies to them the changes
// that later lines of the file make.
type geminiSession struct {
	r             *reader
	id            string
	conversations []conversation
	// places maps the id of a message of the last conversation to its index in the lines of that
	// conversation.
	places map[string]int
}

func (s *geminiSession) add(line sessionLine) {
	c := &s.conversations[len(s.conversations)-1]
	line.id = line.value.id("id")
	switch {
	case line.has("$rewindTo"):
		s.rewind(c, line.value.id("$rewindTo"))
	case line.value.get("$set").isObject():
		if messages := line.value.object("$set").get("messages"); messages.isArray() {
			s.replace(messages)
		}
	case isGeminiHeader(line.value):
		s.id = cmp.Or(s.id, line.value.id("sessionId"))
	default:
		s.put(c, line)
	}
}

func (s *geminiSession) put(c *conversation, line sessionLine) {
	if at, ok := s.places[line.id]; ok && line.id != "" {
		c.lines[at].leaveOut()
		c.lines[at] = line
		return
	}
	s.places[line.id] = len(c.lines)
	c.lines = append(c.lines, line)
}

// rewind removes the message with this id and all later ones from c, the last conversation. It
// removes all messages if none has this id.
func (s *geminiSession) rewind(c *conversation, id string) {
	at := s.places[id] // 0 if the message is unknown
	c.hasOthers = c.hasOthers || at < len(c.lines)
	for i := range c.lines[at:] {
		c.lines[at+i].leaveOut()
		delete(s.places, c.lines[at+i].id)
	}
	c.lines = c.lines[:at]
}

// replace replaces the messages of the last conversation by those in list. If the first message
// differs from that of the conversation, a summary replaced the earlier messages, and the list
// becomes another conversation.
func (s *geminiSession) replace(list *value) {
	c := &s.conversations[len(s.conversations)-1]
	if len(c.lines) > 0 && c.lines[0].id != list.peek("0.id").Str {
		s.conversations = append(s.conversations, conversation{isContinued: true})
		c = &s.conversations[len(s.conversations)-1]
	}
	c.lines = nil
	clear(s.places)
	for _, line := range s.r.sessionLines(list) {
		line.id = line.value.id("id")
		s.put(c, line)
	}
}

// readGeminiMessage reads a message of the user, or a message of the model with its thoughts and
// its calls and their results. Gemini CLI's own messages to the user are left out and recorded as a
// loss.
func (r *reader) readGeminiMessage(m *value) {
	text := r.geminiText(m.get("content"))
	switch m.string("type") {
	case "user":
		if isGeminiContext(text) {
			r.addText(systemRole, text)
			return
		}
		isResult := m.peek("content.#(functionResponse).functionResponse").Exists()
		if text != "" || !isResult {
			r.addText(userRole, text)
		}
		return
	case "gemini":
	default: // the program's own words to the user
		r.addLoss(lostCommands)
		m.raw()
		return
	}

	a := r.attempt()
	a.Model = cmp.Or(r.textOf(m, "model"), a.Model)
	step := arena.Step{Content: text, Timestamp: unixMilliseconds(m.get("timestamp"))}
	var thoughts []string
	r.each(m.get("thoughts"), func(v *value) {
		thought := strings.Trim(r.textOf(v, "subject")+"\n"+r.textOf(v, "description"), "\n")
		thoughts = append(thoughts, thought)
	})
	step.Reasoning = strings.Join(thoughts, "\n")
	r.each(m.get("toolCalls"), func(c *value) {
		call := arena.ToolCall{
			ID:        c.id("id"),
			Name:      c.id("name"),
			Arguments: c.get("args").raw(),
			Result:    r.geminiCallResult(c.get("result")),
		}
		if status := c.string("status"); status == "error" || status == "cancelled" {
			r.addLoss(lostResultError)
		}
		step.Calls = append(step.Calls, call)
	})
	r.addStep(step)
}

// isGeminiContext reports whether a text in the user's name was written by Gemini CLI itself, to
// describe the working folder.
func isGeminiContext(text string) bool {
	return strings.HasPrefix(text, "<session_context>") || strings.HasPrefix(text, "This is the Gemini CLI. We are setting up the context")
}

// geminiText returns the text of a message's content, which is a string, a part, or a list of
// parts; texts of a list are joined by line breaks. Calls and results among the parts are left out,
// because messages of the model have them in toolCalls.
func (r *reader) geminiText(parts *value) string {
	switch {
	case parts.isArray():
	case parts.isObject():
		return r.textOf(parts, "text")
	default:
		return r.content(parts).text
	}
	var texts []string
	r.each(parts, func(part *value) {
		switch {
		case part.has("functionCall"), part.has("functionResponse"):
			r.leaveEvent(part)
		case part.isString(), part.get("text").isString():
			texts = append(texts, r.text(part)+r.textOf(part, "text"))
		default:
			r.attempt().hasNonText = true
			part.raw()
		}
	})
	return strings.Join(texts, "\n")
}

// geminiCallResult returns the result of a tool call of Gemini CLI as one JSON string. list is the
// JSON array of the result's parts, whose texts are joined by newlines. The text of a part is the
// value of output if the part's response has no other key; otherwise the JSON of the response; or
// the field text of a part without a response. An empty array gives "". A value that is no array is
// returned unchanged.
func (r *reader) geminiCallResult(list *value) arena.Raw {
	if !list.isArray() {
		return list.raw()
	}
	var results []string
	r.each(list, func(part *value) {
		response := part.get("functionResponse").get("response")
		switch text := response.get("output"); {
		case !response.exists():
			results = append(results, r.textOf(part, "text"))
			r.attempt().hasNonText = r.attempt().hasNonText || !part.get("text").isString()
		case text.isString() && len(response.names()) == 1:
			results = append(results, r.text(text))
		default:
			results = append(results, string(response.raw()))
		}
		part.get("functionResponse").markRead("id", "name") // which the call has
	})
	if results == nil {
		return ""
	}
	return arena.Quote(strings.Join(results, "\n"))
}

// openCode is the format of a session that opencode exports: messages with their parts. A message
// of the model may have several turns, each of which begins with a part of type step-start.
var openCode = Format{
	Name:            "opencode",
	isProgramRecord: true,
	Writers:         "opencode (opencode export, .json)",
	Retained:        "model, session, error",
	Typed:           true,
	matches: func(doc *value) bool {
		first := doc.get("messages").firstElement()
		return doc.get("info").isObject() && first.get("info").isObject() && first.get("parts").isArray()
	},
	read: readOpenCode,
}

// readOpenCode reads a session. The message that info.revert names and all later ones are left out,
// since the user took them back. A compaction begins another attempt, since a summary replaces the
// earlier messages.
func readOpenCode(r *reader, doc *value) {
	info := doc.object("info")
	reverted := info.object("revert").id("messageID")
	conversations := []conversation{{}}
	isReverted := false
	for _, line := range r.sessionLines(doc.get("messages")) {
		c := &conversations[len(conversations)-1]
		line.id = line.peek("info.id").Str
		if isReverted = isReverted || reverted != "" && line.id == reverted; isReverted {
			c.hasOthers = true
			line.leaveOut()
			continue
		}
		if line.peek(`parts.#(type=="compaction").type`).Exists() && len(c.lines) > 0 {
			conversations = append(conversations, conversation{isContinued: true})
			line.leaveOut()
			continue
		}
		c.lines = append(c.lines, line)
	}
	r.readConversations(conversations, func(c *conversation) {
		a := r.attempt()
		a.Session = info.id("id")
		for i := range c.lines {
			r.readOpenCodeMessage(c.lines[i].value)
		}
	})
}

func (r *reader) readOpenCodeMessage(line *value) {
	a := r.attempt()
	info := line.object("info")
	if info.string("role") == "user" {
		r.addText(userRole, r.openCodeText(line.get("parts")))
		return
	}
	if info.get("summary").isTrue() { // of what was said before a compaction
		r.addText(userRole, r.openCodeText(line.get("parts")))
		return
	}
	a.Model = cmp.Or(r.textOf(info, "modelID"), a.Model)
	m := openCodeTurn{r: r, time: info.object("time").get("created").raw()}
	r.each(line.get("parts"), m.readPart)
	m.flush()
	a.Status = arena.StatusSuccess
	a.Error = nil
	if failure := info.object("error"); !failure.isEmpty() {
		r.setFailure(r.textOf(failure, "name"), r.textOf(failure.object("data"), "message"))
	}
}

// openCodeText returns the text of a user message as the model sees it: text parts that are not
// marked as ignored, and prompts of subtasks. Files are left out and recorded as a loss.
func (r *reader) openCodeText(parts *value) string {
	var texts []string
	r.each(parts, func(part *value) {
		switch part.string("type") {
		case "text":
			if part.get("ignored").isTrue() {
				r.leaveEvent(part)
				return
			}
			texts = append(texts, r.textOf(part, "text"))
		case "file":
			if !strings.HasPrefix(part.peek("mime").Str, "text/") {
				r.attempt().hasNonText = true
			}
			r.addLoss(lostAttachment)
			part.raw()
		case "subtask":
			texts = append(texts, r.textOf(part, "prompt"))
		}
	})
	return strings.Join(texts, "\n")
}

// openCodeTurn joins the parts of one turn of the model to a step. time is the time of the turn's
// message in Unix milliseconds. step is nil before the first part.
type openCodeTurn struct {
	r    *reader
	time arena.Raw
	step *arena.Step
}

func (t *openCodeTurn) flush() {
	if t.step != nil {
		t.step.Timestamp = t.time
		t.r.addStep(*t.step)
	}
	t.step = nil
}

func (t *openCodeTurn) readPart(part *value) {
	step := arena.Step{}
	switch part.string("type") {
	case "step-start", "step-finish":
		t.flush()
		t.r.leaveEvent(part)
		return
	case "text":
		step.Content = t.r.textOf(part, "text")
	case "reasoning":
		step.Reasoning = t.r.textOf(part, "text")
	case "tool":
		step.Calls = []arena.ToolCall{t.r.openCodeCall(part)}
	case "file":
		t.r.attempt().hasNonText = true
		part.raw()
		return
	default: // snapshots of the folder, and attempts of the request that failed
		t.r.leaveEvent(part)
		return
	}
	if t.step == nil {
		t.step = &step
		return
	}
	t.step.Content = strings.Trim(t.step.Content+"\n"+step.Content, "\n")
	t.step.Reasoning = strings.Trim(t.step.Reasoning+"\n"+step.Reasoning, "\n")
	t.step.Calls = append(t.step.Calls, step.Calls...)
}

// openCodeCall converts a part of type tool to a call. The result is the output or the error of the
// tool, and empty if the call did not end.
func (r *reader) openCodeCall(part *value) arena.ToolCall {
	state := part.object("state")
	call := arena.ToolCall{
		ID:        part.id("callID"),
		Name:      part.id("tool"),
		Arguments: state.get("input").raw(),
	}
	switch state.string("status") {
	case "completed":
		call.Result = state.get("output").raw()
	case "error":
		call.Result = state.get("error").raw()
		r.addLoss(lostResultError)
	}
	if files := state.get("attachments"); files.isPresent() && !isEmptyValue(files.json) {
		r.attempt().hasNonText = true
	}
	return call
}
