package formats

import (
	"slices"
	"strconv"
	"strings"
)

// sessionLine is one line of a session: a message, a part of one, or what else the program wrote.
type sessionLine struct {
	*value
	// id and parentID are the ids of the line and of the line before it, empty if the file has none.
	id, parentID string
	// isTurn reports whether the line is one that may be the newest of a branch.
	isTurn bool
	// isReply reports whether the line answers another, so that no conversation begins with it.
	isReply bool
	// copyKey is equal in lines that are copies of each other if the same line is before them. It is
	// empty for a line that is no copy of another.
	copyKey string
	// reply is the id of the model's message of which the line is a part, calls are the ids of the
	// calls in the line. answers are the ids of the calls that the line answers, if it does nothing
	// else.
	reply          string
	calls, answers []string
	// isCopied reports whether the line stands in an earlier conversation too.
	isCopied bool
	// kind is the kind of the line, as its format names it.
	kind string
	// root is the index of the line in which the conversation of this line begins, parent that of
	// the line before it in its branch, -1 if none.
	root, parent int
}

// conversation is a part of a session that the model saw as one: one branch of the tree of lines.
type conversation struct {
	lines []sessionLine
	// hasOthers reports whether messages of the conversation were taken back, hasEvents whether other
	// lines are left out, hasRepeated whether lines were written twice.
	hasOthers, hasEvents, hasRepeated bool
	// isContinued reports whether a summary replaced what was said before.
	isContinued bool
	// isDelegate reports whether another agent of the session took part in the conversation.
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

// leaveOut marks a line as read that no attempt holds, since a loss of its own names it.
func (l *sessionLine) leaveOut() { l.raw() }

// leaveEvent records as a loss that a value is left out which a program wrote of itself beside the
// conversation.
func (r *reader) leaveEvent(v *value) {
	r.addLoss(lostEvents)
	v.raw()
}

// markRead marks members as read whose content another value has too.
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

// sessionLines returns the elements of a list of lines.
func (r *reader) sessionLines(list *value) []sessionLine {
	var lines []sessionLine
	r.each(list, func(v *value) {
		lines = append(lines, sessionLine{value: v})
	})
	return lines
}

// readConversations reads each conversation as an attempt, by a call of read. An attempt of the same
// session as an earlier one gets a session id that begins with the id of the session.
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

// readLines reads lines by calls of read. What the model wrote in an earlier conversation is masked, so
// that no text is trained on twice.
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

// branches splits the lines of a session into conversations, in the order in which they begin: each
// root of the tree begins one, and of each the branch is returned that ends in its newest turn.
// Lines without ids are one conversation, in the order of the file.
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

// tree links the lines of a session by the ids of their parents.
type tree struct {
	lines []sessionLine
	// byID maps the id of a line to its index.
	byID map[string]int
	// copyOf is the index of the first line of which a line is a copy, its own index if it is none.
	copyOf []int
	// roots are the indices of the lines in which a conversation begins, members the indices of the
	// lines of each.
	roots   []int
	members map[int][]int
}

// link sets the parent and the root of every line and fills the indexes of the tree. A line that
// repeats an earlier line under the same parent is recorded as its copy and gets its root.
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

// parentOf returns the index of the line before line i in its branch, -1 if there is none. A line
// that has no id, or whose parent the file does not hold, follows the line before it in the file, and
// so does a reply that names no parent.
func (t *tree) parentOf(i int) int {
	parent, ok := t.byID[t.lines[i].parentID]
	switch {
	case ok:
		return t.copyOf[parent]
	case i > 0 && (t.lines[i].id == "" || t.lines[i].parentID != "" || t.lines[i].isReply):
		return t.copyOf[i-1]
	}
	return -1
}

// conversation returns the branch from a root to the newest turn of its tree. Parts of a message of
// the branch, and results of calls in it, belong to the branch too: a message with several calls
// forks the tree.
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

// belongsTo reports whether a line is a part of one of these replies, or holds nothing but results
// of these calls.
func (l *sessionLine) belongsTo(replies, calls map[string]bool) bool {
	isUnknown := func(id string) bool { return !calls[id] }
	return replies[l.reply] || len(l.answers) > 0 && !slices.ContainsFunc(l.answers, isUnknown)
}
