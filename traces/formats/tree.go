package formats

import (
	"slices"
	"strconv"
	"strings"
)

// sessionLine is one line of a session file: a message, a part of one, or an event that the program
// recorded.
type sessionLine struct {
	*value
	// id is the id of the line, parentID that of the line before it in the conversation, each empty
	// if the file has none.
	id, parentID string
	// isTurn reports whether the line can be the end of a branch, as a message can.
	isTurn bool
	// isReply reports whether the line answers another, so that it cannot be the first of a
	// conversation.
	isReply bool
	// copyKey identifies the content of the line. Two lines after the same parent with equal keys
	// are copies. It is empty if the line has no copies.
	copyKey string
	// reply is the API's id of the message of which the line is a part, calls are the ids of the
	// calls in the line. answers are the ids of the calls that the line answers, nil if it has
	// other content too.
	reply          string
	calls, answers []string
	// isCopied reports whether an earlier conversation of the session has the line too.
	isCopied bool
	// kind is the type of the line in the words of its format.
	kind string
	// root is the index of the line in which the conversation of this line begins, parent that of
	// the line before it in its branch, -1 if there is none.
	root, parent int
}

// conversation is a part of a session that the model saw in one context: the lines of one branch of
// the session's tree.
type conversation struct {
	lines []sessionLine
	// hasOthers reports whether messages were left out that the user took back or that are in other
	// branches, hasEvents whether other lines were left out, hasRepeated whether lines were written
	// twice.
	hasOthers, hasEvents, hasRepeated bool
	// isContinued reports whether a summary replaces earlier messages.
	isContinued bool
	// isDelegate reports whether the conversation is that of an agent to which another delegated
	// work.
	isDelegate bool
}

// text returns the lines of the conversation as a JSON array.
func (c *conversation) text() string {
	raw := make([]string, len(c.lines))
	for i := range c.lines {
		raw[i] = c.lines[i].json.Raw
	}
	return "[" + strings.Join(raw, ",") + "]"
}

// leaveOut marks all of a line as read although no attempt contains it, so that it is not also
// reported as unread. The caller records the loss.
func (l *sessionLine) leaveOut() { l.raw() }

// leaveEvent records a loss (lostEvents) for v, an event that a program recorded in addition to the
// conversation, and marks all of v as read.
func (r *reader) leaveEvent(v *value) {
	r.addLoss(lostEvents)
	v.raw()
}

// markRead marks the members with these names as read, because another value has the same content.
func (v *value) markRead(names ...string) {
	for _, name := range names {
		v.get(name).raw()
	}
}

// values returns the lines of the conversation as values of the document.
func (c *conversation) values() []*value {
	values := make([]*value, len(c.lines))
	for i := range c.lines {
		values[i] = c.lines[i].value
	}
	return values
}

// sessionLines returns the elements of a list as lines of a session.
func (r *reader) sessionLines(list *value) []sessionLine {
	var lines []sessionLine
	r.each(list, func(v *value) {
		lines = append(lines, sessionLine{value: v})
	})
	return lines
}

// readConversations adds an attempt for each conversation, with the losses of the conversation, and
// calls read to read its lines into the attempt. If several attempts have the same session id, the
// second and later ones get "-2", "-3" and so on after the id.
func (r *reader) readConversations(conversations []conversation, read func(c *conversation)) {
	attempts := map[string]int{}
	for i := range conversations {
		c := &conversations[i]
		part := ""
		if len(conversations) > 1 {
			part = c.text()
		}
		r.begin(part, c.values()...)
		if c.isContinued {
			r.addLoss(lostContext)
		}
		if c.hasOthers {
			r.addLoss(lostBranches)
		}
		if c.hasEvents {
			r.addLoss(lostEvents)
		}
		if c.hasRepeated {
			r.addLoss(lostRepeated)
		}
		read(c)

		a := r.attempt()
		attempts[a.Session]++
		if n := attempts[a.Session]; n > 1 && a.Session != "" {
			a.Session += "-" + strconv.Itoa(n)
		}
	}
}

// readLines calls read for each line. The messages of a line that an earlier conversation has too
// are masked (left out of training), so that no text is trained on twice.
func (r *reader) readLines(lines []sessionLine, read func(l *sessionLine)) {
	a := r.attempt()
	for i := range lines {
		before := len(a.messages)
		read(&lines[i])
		if !lines[i].isCopied {
			continue
		}
		a.hasCopiedContext = true
		for j := range a.messages[before:] {
			a.messages[before+j].step.Masked = true
		}
	}
}

// branches splits the lines of a session, which form a tree, into conversations, in the order in
// which they begin. Each root begins one: the branch from the root to its newest turn. Trees
// without a turn are left out. Lines without ids are one conversation, in the order of the file.
func branches(lines []sessionLine) []conversation {
	t := tree{lines: lines, byID: map[string]int{}, copyOf: make([]int, len(lines)), members: map[int][]int{}}
	t.link()

	conversations := make([]conversation, 0, len(t.roots))
	for _, root := range t.roots {
		c := t.conversation(root)
		isTurn := func(l sessionLine) bool { return l.isTurn }
		if slices.ContainsFunc(c.lines, isTurn) || len(lines) == 1 {
			conversations = append(conversations, c)
		}
	}
	return conversations
}

// tree links the lines of a session by the ids of their parents. All its indices are indices in
// lines.
type tree struct {
	lines []sessionLine
	// byID maps the id of a line to its index.
	byID map[string]int
	// copyOf has for each line the index of the first line of which it is a copy, or its own index.
	copyOf []int
	// roots are the indices of the lines in which a conversation begins. members maps each of them
	// to the indices of the lines of its conversation.
	roots   []int
	members map[int][]int
}

// link sets the parent and the root of every line and fills the indexes of the tree. A line that
// repeats an earlier line under the same parent is recorded as a copy of that line and gets its
// root.
func (t *tree) link() {
	seen := map[string]int{}
	for i := range t.lines {
		line := &t.lines[i]
		line.parent = t.parentOf(i)
		t.copyOf[i] = i
		if line.id != "" {
			t.byID[line.id] = i
		}
		if line.id != "" && line.copyKey != "" {
			key := strconv.Itoa(line.parent) + "\n" + line.copyKey
			first, ok := seen[key]
			if ok {
				t.copyOf[i] = first
			} else {
				seen[key] = i
			}
		}

		line.root = i
		switch {
		case t.copyOf[i] != i:
			line.root = t.lines[t.copyOf[i]].root
		case line.parent >= 0:
			line.root = t.lines[line.parent].root
		default:
			t.roots = append(t.roots, i)
		}
		t.members[line.root] = append(t.members[line.root], i)
	}
}

// parentOf returns the index of the line before line i in its branch, or -1 if line i is a root.
// That is the line that it names as its parent. If line i has no id, if the file does not have its
// parent, or if it is a reply without a parent, it is the previous line in the file.
func (t *tree) parentOf(i int) int {
	line := &t.lines[i]
	if parent, ok := t.byID[line.parentID]; ok {
		return t.copyOf[parent]
	}
	followsPrevious := line.id == "" || line.parentID != "" || line.isReply
	if i > 0 && followsPrevious {
		return t.copyOf[i-1]
	}
	return -1
}

// conversation returns the branch from a root to the newest turn of its tree. Since a message with
// several calls forks the tree, it adds lines outside the branch that are parts of a message in it,
// or results of calls in it.
func (t *tree) conversation(root int) conversation {
	newest := root
	for _, i := range t.members[root] {
		if t.copyOf[i] == i && t.lines[i].isTurn {
			newest = i
		}
	}
	inBranch := map[int]bool{}
	replies := map[string]bool{}
	calls := map[string]bool{}
	add := func(i int) {
		inBranch[i] = true
		replies[t.lines[i].reply] = true
		for _, id := range t.lines[i].calls {
			calls[id] = true
		}
	}
	for i := newest; i >= 0; i = t.lines[i].parent {
		add(i)
	}
	delete(replies, "")

	c := conversation{}
	for _, i := range t.members[root] {
		line := &t.lines[i]
		switch {
		case t.copyOf[i] != i:
			c.hasRepeated = true
			line.leaveOut()
			continue
		case !inBranch[i] && !line.belongsTo(replies, calls):
			c.hasOthers = c.hasOthers || line.isTurn
			c.hasEvents = c.hasEvents || !line.isTurn
			line.leaveOut()
			continue
		case !inBranch[i]:
			add(i)
			delete(replies, "")
		}
		c.lines = append(c.lines, *line)
	}
	return c
}

// belongsTo reports whether a line is a part of one of these replies of the model, or has nothing
// but results of these calls. replies and calls are sets of ids that the model's API gave.
func (l *sessionLine) belongsTo(replies, calls map[string]bool) bool {
	isUnknown := func(id string) bool { return !calls[id] }
	return replies[l.reply] || len(l.answers) > 0 && !slices.ContainsFunc(l.answers, isUnknown)
}
