package evidence

import (
	"cmp"
	"strings"

	"github.com/trajectory-arena/arena/internal/calls"
)

// commands reads calls in a form of the author's own, such as search[lamp] and
// open[123], <search>lamp</search>, find(text="lamp") or SEARCH: lamp. Only the
// author's client knows such a form, so it is read by what it did: a name, and
// set off after it just the words or products that were then sent.
//
// A single match may be a query that a program asked for, so it is all or
// nothing: no reply names a call in a form known here, the newest reply before
// each dispatch commands it, and each of two tools or more, of which one may end the
// attempt, has a name of its own.
func (a *Attempt) commands() {
	if len(a.Log.Dispatches) == 0 || !a.Log.nameless() {
		return
	}
	if !a.commandedBy(calls.CommandName) {
		a.commandedBy(calls.KeyName)
	}
}

// commandedBy reads the commands whose names stand in one way; false where they
// do not.
func (a *Attempt) commandedBy(name calls.Naming) bool {
	var names commandNames
	if !a.allCommanded(&names, name) {
		return false
	}
	answer, by := a.answerCommanded(&names, name)
	a.endCommanded(&names, name)
	if names.tools() < 2 {
		return false
	}
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		a.Log.Replies[a.Log.lastBefore(d.Start)].command(&d.Act)
	}
	if by >= 0 {
		a.Log.Replies[by].command(&answer.Act)
	}
	return true
}

// allCommanded reports whether the newest reply before each dispatch commands it, and
// notes under which names.
func (a *Attempt) allCommanded(names *commandNames, name calls.Naming) bool {
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		last := a.Log.lastBefore(d.Start)
		if last < 0 {
			return false
		}
		if !names.take(a.toolFor(d), a.commanded(last, &d.Act, name)) {
			return false
		}
	}
	return true
}

// toolFor is the tool that the dialogue says a dispatch was made for: details of
// a product are also asked for to match it.
func (a *Attempt) toolFor(d *Dispatch) Tool {
	if d.Claimed < 0 {
		return d.Act.Tool
	}
	return a.Claims[d.Claimed].Act.Tool
}

// answerCommanded is the recommendation with the newest reply that commands it,
// -1 where none does.
func (a *Attempt) answerCommanded(names *commandNames, name calls.Naming) (answer *Claim, by int) {
	answer = a.lastRecommendation()
	for by = len(a.Log.Replies) - 1; by >= 0; by-- {
		if answer != nil && names.take(ToolRecommend, a.commanded(by, &answer.Act, name)) {
			return answer, by
		}
	}
	if last := len(a.Log.Replies) - 1; answer != nil && a.buys(last, answer) {
		return answer, last
	}
	return answer, -1
}

// buys reports whether a reply says to buy, and the answer is what is open.
func (a *Attempt) buys(by int, answer *Claim) bool {
	for i := len(a.Claims) - 1; i >= 0; i-- {
		if open := &a.Claims[i].Act; open.Tool == ToolView {
			return SameIDs(open.IDs, answer.Act.IDs) && a.says(by, &Act{Words: AppendWords(nil, "buy")})
		}
	}
	return false
}

// endCommanded notes under which name the newest reply ends the attempt with what
// the dialogue says that it ended with.
func (a *Attempt) endCommanded(names *commandNames, name calls.Naming) {
	end := &a.Claims[len(a.Claims)-1]
	if end.Act.Tool != ToolTerminate {
		return
	}
	names.take(ToolTerminate, a.commanded(len(a.Log.Replies)-1, &end.Act, name))
}

// hearVerbatim finds the dispatches that no reply names in a known form, though
// the newest one holds their words just so: whoever reads it so, a model wrote
// them, and whether it asked for them is not known.
func (a *Attempt) hearVerbatim() {
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		if d.Link == LinkNone && a.says(d.Last, &d.Act) {
			d.Link, a.Log.Replies[d.Last].heard = LinkUnknown, true
		}
	}
	for i := range a.Claims {
		c := &a.Claims[i]
		for by := len(a.Log.Replies) - 1; by >= 0 && c.Dispatch < 0; by-- {
			if r := &a.Log.Replies[by]; len(r.queue) == 0 && !r.heard && a.says(by, &c.Act) {
				r.heard = true
				break
			}
		}
	}
}

// says reports whether a reply holds the words or products of a call, one after
// the other.
func (a *Attempt) says(by int, sent *Act) bool {
	text, value := a.subject(by, sent)
	for i := 0; i < len(text) && len(value) > 0; {
		word, _, n := NextWord(text[i:])
		if n > 0 && word == value[0] && endOf(text, i, value) > 0 {
			return true
		}
		i += max(n, 1)
	}
	return false
}

// nameless reports whether models answered, and none asked for anything in a known form.
func (l *ProxyLog) nameless() bool {
	for i := range l.Replies {
		for j := range l.Replies[i].Named {
			if n := &l.Replies[i].Named[j]; n.Tool != ToolOther || len(n.Words)+len(n.IDs) > 0 {
				return false
			}
		}
	}
	return len(l.Replies) > 0
}

// command adds a call that the author's client understood.
func (r *Reply) command(sent *Act) {
	named := Act{Tool: ToolOther, Words: sent.Words, IDs: sent.IDs, Page: sent.Page}
	for i := range r.Named {
		if r.Named[i].sameSubject(&named) {
			return
		}
	}
	r.Named, r.queue = append(r.Named, named), append(r.queue, ToolOther)
}

// commandNames are the author's names of the tools.
type commandNames [ToolTerminate + 1]string

// take notes a tool's name; false where there is none, where the tool had
// another before, or another tool has this one.
func (c *commandNames) take(t Tool, name string) bool {
	for other, taken := range c {
		if taken != "" && (Tool(other) == t) != (taken == name) {
			return false
		}
	}
	c[t] = name
	return name != ""
}

func (c *commandNames) tools() (n int) {
	for _, name := range c {
		n += int(Flag(name != ""))
	}
	return n
}

// commanded is the name under which a reply asks for just this; empty where it
// does not.
func (a *Attempt) commanded(by int, sent *Act, name calls.Naming) string {
	text, value := a.subject(by, sent)
	return commandOf(text, value, name)
}

// subject is a reply's text as far as it is searched for commands, with the words
// of what was sent; nothing where that is no command's.
func (a *Attempt) subject(by int, sent *Act) (text string, value []uint64) {
	p := a.Pad
	value = append(p.scratch[:0], sent.Words...)
	for _, id := range sent.IDs {
		value = AppendWords(value, id)
	}
	p.scratch = value
	content := a.Log.Replies[by].content
	if len(value) == 0 || len(value) > maxCommand || len(content) > 4*calls.MaxSpelled {
		return "", nil
	}
	text = p.said(content)
	return text[:min(len(text), calls.MaxSpelled)], value
}

// maxCommand is how many words a command may ask for; what is longer is prose.
const maxCommand = 32

// commandOf finds the words of a value in text where a name stands before them,
// the last ones, since models think before they act.
func commandOf(text string, value []uint64, naming calls.Naming) (name string) {
	for i := 0; i < len(text); {
		word, _, n := NextWord(text[i:])
		if n > 0 && word == value[0] {
			if end := endOf(text, i, value); end > 0 {
				name = cmp.Or(strings.ToLower(naming(text[:i], text[end:])), name)
			}
		}
		i += max(n, 1)
	}
	return name
}

// endOf is where the words end that start at the given place; 0 where others
// stand there.
func endOf(text string, at int, words []uint64) int {
	for len(words) > 0 {
		if at >= len(text) {
			return 0
		}
		word, _, n := NextWord(text[at:])
		switch {
		case n == 0:
			at++ // what parts words does not count
			continue
		case word != words[0]:
			return 0
		}
		words, at = words[1:], at+n
	}
	return at
}
