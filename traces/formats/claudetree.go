package formats

import (
	"slices"
	"strconv"
	"strings"
)

// claudeLine is one line of a session of Claude Code.
type claudeLine struct {
	*value
	// root is the index of the line in which the conversation of this line begins, parent that
	// of the line before it in its branch, -1 if none.
	root, parent int
}

// claudeConversation is the branch of a conversation that ends in its newest line.
type claudeConversation struct {
	lines []claudeLine
	// hasOthers reports whether the conversation has lines that are on no read branch,
	// hasRepeated whether it has lines that were written twice.
	hasOthers, hasRepeated bool
}

// text returns the lines of the branch as a JSON array.
func (c *claudeConversation) text() string {
	raw := make([]string, len(c.lines))
	for i := range c.lines {
		raw[i] = c.lines[i].json.Raw
	}
	return "[" + strings.Join(raw, ",") + "]"
}

// values returns the lines of the branch as values of the document.
func (c *claudeConversation) values() []*value {
	values := make([]*value, len(c.lines))
	for i := range c.lines {
		values[i] = c.lines[i].value
	}
	return values
}

// claudeConversations splits the lines of a session into conversations, in the order in which they
// begin. Lines without ids are one conversation, in the order of the file.
func claudeConversations(lines []claudeLine) []claudeConversation {
	t := claudeTree{lines: lines, byID: map[string]int{}, copyOf: make([]int, len(lines))}
	t.link()

	var conversations []claudeConversation
	for root := range lines {
		if lines[root].root == root {
			c := t.conversation(root)
			hasMessage := func(l claudeLine) bool { return l.get("message").exists() }
			if slices.ContainsFunc(c.lines, hasMessage) || len(lines) == 1 {
				conversations = append(conversations, c)
			}
		}
	}
	return conversations
}

// claudeTree links the lines of a session by the ids of their parents.
type claudeTree struct {
	lines []claudeLine
	// byID maps the id of a line to its index.
	byID map[string]int
	// copyOf is the index of the first line of which a line is a copy, its own index if it is none.
	copyOf []int
}

// link sets the root and the parent of every line. A line that repeats an earlier one, after the
// same parent and at the same time, is a copy: a resumed session is written again. A line without
// an id belongs to the line before it in the file.
func (t *claudeTree) link() {
	seen := map[string]int{}
	for i := range t.lines {
		line := &t.lines[i]
		line.root = i
		line.parent = -1
		t.copyOf[i] = i

		id := line.id("uuid")
		parent, hasParent := t.byID[line.id("parentUuid")]
		switch {
		case hasParent:
			line.parent = t.copyOf[parent]
		case id == "" && i > 0:
			line.parent = i - 1
		}
		if line.parent >= 0 {
			line.root = t.lines[line.parent].root
		}
		if id == "" {
			continue
		}
		t.byID[id] = i
		key := strings.Join([]string{line.parentKey(), line.id("timestamp"), line.get("message").json.Raw}, "\n")
		if first, ok := seen[key]; ok && line.get("message").exists() {
			t.copyOf[i] = first
			line.root = t.lines[first].root
			continue
		}
		seen[key] = i
	}
}

// parentKey identifies the parent of a line by its index.
func (l *claudeLine) parentKey() string {
	if l.parent < 0 {
		return ""
	}
	return strconv.Itoa(l.parent)
}

// conversation returns the branch from a root to the newest line of its tree. Parts of a message of
// the branch, and results of calls in it, belong to the branch too: a message with several calls
// forks the tree.
func (t *claudeTree) conversation(root int) claudeConversation {
	newest := root
	for i := range t.lines {
		if t.lines[i].root == root && t.copyOf[i] == i && t.lines[i].get("message").exists() {
			newest = i
		}
	}
	inBranch := map[int]bool{}
	replies := map[string]bool{}
	calls := map[string]bool{}
	add := func(i int) {
		inBranch[i] = true
		message := t.lines[i].object("message")
		if id := message.id("id"); id != "" {
			replies[id] = true
		}
		for part := range message.get("content").elements() {
			if part.get("type").str() == "tool_use" {
				calls[part.get("id").str()] = true
			}
		}
	}
	for i := newest; i >= 0; i = t.lines[i].parent {
		add(i)
	}

	c := claudeConversation{}
	for i := range t.lines {
		line := &t.lines[i]
		switch {
		case line.root != root:
			continue
		case t.copyOf[i] != i:
			c.hasRepeated = true
			line.raw()
			continue
		case !inBranch[i] && !line.belongsTo(replies, calls):
			c.hasOthers = c.hasOthers || line.get("message").exists()
			line.raw()
			continue
		case !inBranch[i]:
			add(i)
		}
		c.lines = append(c.lines, *line)
	}
	return c
}

// belongsTo reports whether a line is a part of one of these replies, or holds nothing but results
// of these calls.
func (l *claudeLine) belongsTo(replies, calls map[string]bool) bool {
	message := l.object("message")
	if replies[message.id("id")] {
		return true
	}
	parts := message.get("content")
	if !parts.isArray() || isEmptyValue(parts.json) {
		return false
	}
	for part := range parts.elements() {
		if part.get("type").str() != "tool_result" || !calls[part.get("tool_use_id").str()] {
			return false
		}
	}
	return true
}
