package formats

import (
	"cmp"
	"slices"
	"strings"
)

// Sessions of Pi and session traces of the Hub have a header and a line for each message. The lines
// of Pi are a tree; those of the Hub's format have no ids.
var (
	pi = Format{
		Name:            "pi",
		isProgramRecord: true,
		Writers:         "Pi sessions (~/.pi/agent/sessions, .jsonl), also those of OpenClaw and Droid",
		Retained:        "model, session",
		Typed:           true,
		matches: func(doc *value) bool {
			return isPiLine(doc.get("session").firstElement())
		},
		read: readPi,
	}
	sessionTrace = Format{
		Name:            "sts",
		isProgramRecord: true,
		Writers:         "the Hub's session traces (STS), also as this program writes them",
		Retained:        "tools, model, reward, session",
		matches: func(doc *value) bool {
			header := doc.get("session").firstElement()
			return isPiLine(header) && header.has("harness") && !header.has("version") && !doc.get("session").peek("1.id").Exists()
		},
		read: readPi,
	}
)

func isPiLine(line *value) bool {
	switch line.string("type") {
	case "session", "session_start":
		return line.get("id").isString()
	case "message":
		return line.peek("message.role").Exists()
	case "model_change", "thinking_level_change", "compaction", "branch_summary", "custom", "custom_message", "label", "session_info":
		return line.has("timestamp") && !line.has("role")
	}
	isEntry := line.get("id").isString() && line.has("parentId") && line.has("timestamp")
	return isEntry && line.get("type").isString() && !line.has("data")
}

// readPi reads each session of a file. A header begins a session. The lines of a session form a
// tree whose root is the header.
func readPi(r *reader, doc *value) {
	var conversations []conversation
	var lines []sessionLine
	flush := func() {
		for _, c := range branches(lines) {
			if lines[0].kind == piHeader && c.lines[0].kind != piHeader {
				c.lines = slices.Insert(c.lines, 0, lines[0])
			}
			conversations = append(conversations, r.compactions(c)...)
		}
		lines = nil
	}
	for _, line := range r.sessionLines(doc.get("session")) {
		line.kind = line.string("type")
		line.id = line.value.id("id")
		line.parentID = line.value.id("parentId")
		line.isTurn = true
		switch {
		case line.kind == "session_start", line.kind == piHeader:
			flush()
			line.kind = piHeader
			line.isTurn = false
		case line.parentID == "" && line.id != "" && len(lines) > 0:
			line.parentID = lines[0].id
		}
		lines = append(lines, line)
	}
	flush()
	r.readConversations(conversations, func(c *conversation) {
		s := piSession{r: r, a: r.attempt()}
		r.readLines(c.lines, s.readLine)
		r.setFailure(s.ending, s.failure)
	})
}

const (
	piHeader     = "session"
	piCompaction = "compaction"
)

// compactions splits a branch of a session at its compactions into conversations. Each but the
// first begins with the header, the compaction with its summary, and the lines before it that the
// program retained.
func (r *reader) compactions(c conversation) []conversation {
	parts := []conversation{{hasOthers: c.hasOthers, hasEvents: c.hasEvents, hasRepeated: c.hasRepeated}}
	for i := range c.lines {
		line := &c.lines[i]
		last := &parts[len(parts)-1]
		if line.kind != piCompaction {
			last.lines = append(last.lines, *line)
			continue
		}
		next := conversation{isContinued: true}
		if c.lines[0].kind == piHeader {
			next.lines = append(next.lines, c.lines[0])
		}
		next.lines = append(next.lines, *line)
		kept := keptLines(c.lines[:i], line.value)
		r.remaining -= i
		if r.remaining < 0 {
			return parts
		}
		next.lines = append(next.lines, kept...)
		parts = append(parts, next)
	}
	return parts
}

// keptLines returns the lines before a compaction that the model still saw after it. They are
// marked as copied, since the conversation before the compaction has them too. The compaction names
// the first of these lines by its id, or in the oldest sessions by its index in lines.
func keptLines(lines []sessionLine, compaction *value) []sessionLine {
	first := compaction.id("firstKeptEntryId")
	index := compaction.count("firstKeptEntryIndex")
	var kept []sessionLine
	for i := range lines {
		isFirst := first != "" && lines[i].id == first || first == "" && index != nil && *index == i
		if (isFirst || kept != nil) && lines[i].kind != piCompaction {
			kept = append(kept, lines[i])
			kept[len(kept)-1].isCopied = true
		}
	}
	return kept
}

// piSession reads the lines of one conversation of Pi into messages of an attempt.
type piSession struct {
	r *reader
	a *Attempt
	// ending and failure are the stop reason and the error message of the model's last message,
	// empty if that did not end with an error.
	ending, failure string
}

func (s *piSession) readLine(line *sessionLine) {
	r := s.r
	switch line.kind {
	case piHeader:
		s.readHeader(line.value)
	case "message":
		s.readMessage(line.object("message"))
	case piCompaction, "branch_summary":
		r.addText(userRole, r.textOf(line.value, "summary"))
	case "custom_message":
		r.addText(userRole, r.content(line.get("content")).text)
	case "model_change":
		s.a.Model = cmp.Or(r.textOf(line.value, "modelId"), s.a.Model)
	case "thinking_level_change", "custom", "label", "session_info":
		r.leaveEvent(line.value)
	}
}

// readHeader sets the session id and the model of the attempt from the header of a session, and
// reads this project's own keys in it.
func (s *piSession) readHeader(header *value) {
	a := s.a
	a.Session = header.id("id")
	a.Model = s.r.textOf(header, "modelId")
	a.readOwnKeys(header)
}

// readOwnKeys reads from o, the first line of a session or a part of it, the fields of a trace that
// this project writes there: run, problem, model, tools and reward.
func (a *Attempt) readOwnKeys(o *value) {
	a.RunID = o.id("eval_run_id")
	a.ProblemID = o.id("problem_id")
	if a.ProblemID != "" {
		a.Session = strings.TrimSuffix(a.Session, "/"+a.ProblemID)
	}
	a.Model = cmp.Or(o.id("model"), a.Model)
	a.Tools = toolDefinitions(o.get("tools"))
	a.Declared = o.number("reward")
}

// piNames maps keys of a message of Pi or of a session trace to the keys of OpenAI's API.
var piNames = map[string]string{
	"toolCalls": "tool_calls", "toolCallId": "tool_call_id", "toolName": "name", "reasoningContent": "reasoning_content",
	"stopReason": "stop_reason",
}

// renamed returns an object with the members of v under other names: names maps old keys to new
// ones, and other keys stay. What is read of the result counts as read of v.
func (v *value) renamed(names map[string]string) *value {
	members := map[string]*value{}
	for _, name := range v.names() {
		members[cmp.Or(names[name], name)] = v.get(name)
	}
	return newObject(members)
}

func (s *piSession) readMessage(m *value) {
	r, a := s.r, s.a
	m = m.renamed(piNames)
	before := len(a.messages)
	switch m.string("role") {
	case "bashExecution":
		s.readShell(m)
	case "branchSummary", "compactionSummary":
		r.addText(userRole, r.textOf(m, "summary"))
	case "custom", "hookMessage":
		r.addText(userRole, r.content(m.get("content")).text)
	case "toolResult":
		if m.get("isError").isTrue() {
			r.addLoss(lostResultError)
		}
		r.addMessage(message{
			role:   toolRole,
			callID: m.id("tool_call_id"),
			result: r.result(m.get("content")),
		})
		m.get("name").raw() // the call has it
	default:
		s.readTurn(m)
	}
	if len(a.messages) > before {
		a.messages[before].step.Timestamp = m.get("timestamp").raw()
	}
}

// readTurn reads a message of the user, of the system or of the model. It skips a message of the
// model that has an error and no content, but retains the error.
func (s *piSession) readTurn(m *value) {
	s.failure = s.r.textOf(m, "errorMessage")
	s.ending = ""
	if s.failure != "" {
		s.ending = m.id("stop_reason")
		if isEmptyValue(m.get("content").json) {
			return
		}
	}
	s.a.Model = cmp.Or(s.r.textOf(m, "model"), s.a.Model)
	s.r.readMessage(m)
}

// readShell reads a command that the user ran in the session, with its output. Since the model sees
// both, they become a user message, unless the user excluded the command from the context. That it
// was a command is recorded as a loss.
func (s *piSession) readShell(m *value) {
	s.r.addLoss(lostCommands)
	if !m.get("excludeFromContext").isTrue() {
		s.r.addText(userRole, "Ran `"+s.r.textOf(m, "command")+"`\n"+s.r.textOf(m, "output"))
	}
}
