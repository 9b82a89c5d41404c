package filters

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
func (a *attempt) commands() {
	if len(a.log.dispatches) == 0 || !a.log.nameless() {
		return
	}
	if !a.commandedBy(calls.CommandName) {
		a.commandedBy(calls.KeyName)
	}
}

// commandedBy reads the commands whose names stand in one way; false where they
// do not.
func (a *attempt) commandedBy(name calls.Naming) bool {
	var names commandNames
	if !a.allCommanded(&names, name) {
		return false
	}
	answer, by := a.answerCommanded(&names, name)
	a.endCommanded(&names, name)
	if names.tools() < 2 {
		return false
	}
	for i := range a.log.dispatches {
		d := &a.log.dispatches[i]
		a.log.replies[a.log.lastBefore(d.start)].command(&d.act)
	}
	if by >= 0 {
		a.log.replies[by].command(&answer.act)
	}
	return true
}

// allCommanded reports whether the newest reply before each dispatch commands it, and
// notes under which names.
func (a *attempt) allCommanded(names *commandNames, name calls.Naming) bool {
	for i := range a.log.dispatches {
		d := &a.log.dispatches[i]
		last := a.log.lastBefore(d.start)
		if last < 0 {
			return false
		}
		if t := a.toolFor(d); t == toolShop && !a.listed(last, &d.act) || t != toolShop && !names.take(t, a.commanded(last, &d.act, name)) {
			return false
		}
	}
	return true
}

// toolFor is the tool that the dialogue says a dispatch was made for: details of
// a product are also asked for to match it.
func (a *attempt) toolFor(d *dispatch) tool {
	if d.claimed < 0 {
		return d.act.tool
	}
	return a.claims[d.claimed].act.tool
}

// answerCommanded is the recommendation with the newest reply that commands it,
// -1 where none does.
func (a *attempt) answerCommanded(names *commandNames, name calls.Naming) (answer *claim, by int) {
	answer = a.lastRecommendation()
	for by = len(a.log.replies) - 1; by >= 0; by-- {
		if answer != nil && names.take(toolRecommend, a.commanded(by, &answer.act, name)) {
			return answer, by
		}
	}
	if last := len(a.log.replies) - 1; answer != nil && a.buys(last, answer) {
		return answer, last
	}
	return answer, -1
}

// buys reports whether a reply says to buy, and the answer is what is open.
func (a *attempt) buys(by int, answer *claim) bool {
	for i := len(a.claims) - 1; i >= 0; i-- {
		if open := &a.claims[i].act; open.tool == toolView {
			return sameIDs(open.ids, answer.act.ids) && a.says(by, &act{words: appendWords(nil, "buy")})
		}
	}
	return false
}

// endCommanded notes under which name the newest reply ends the attempt with what
// the dialogue says that it ended with.
func (a *attempt) endCommanded(names *commandNames, name calls.Naming) {
	end := &a.claims[len(a.claims)-1]
	if end.act.tool != toolTerminate {
		return
	}
	names.take(toolTerminate, a.commanded(len(a.log.replies)-1, &end.act, name))
}

// hearVerbatim finds the dispatches that no reply names in a known form, though
// the newest one holds their words just so: whoever reads it so, a model wrote
// them, and whether it asked for them is not known.
func (a *attempt) hearVerbatim() {
	for i := range a.log.dispatches {
		d := &a.log.dispatches[i]
		if d.link == linkNone && a.says(d.last, &d.act) {
			d.link, a.log.replies[d.last].heard = linkUnknown, true
		}
	}
	for i := range a.claims {
		c := &a.claims[i]
		for by := len(a.log.replies) - 1; by >= 0 && c.dispatch < 0; by-- {
			if r := &a.log.replies[by]; len(r.queue) == 0 && !r.heard && a.says(by, &c.act) {
				r.heard = true
				break
			}
		}
	}
}

// says reports whether a reply holds the words or products of a call, one after
// the other.
func (a *attempt) says(by int, sent *act) bool {
	text, value := a.subject(by, sent)
	for i := 0; i < len(text) && len(value) > 0; {
		word, _, n := nextWord(text[i:])
		if n > 0 && word == value[0] && endOf(text, i, value) > 0 {
			return true
		}
		i += max(n, 1)
	}
	return false
}

// nameless reports whether models answered, and none asked for anything in a known form.
func (l *proxyLog) nameless() bool {
	for i := range l.replies {
		for j := range l.replies[i].named {
			if n := &l.replies[i].named[j]; n.tool != toolOther || len(n.words)+len(n.ids) > 0 {
				return false
			}
		}
	}
	return len(l.replies) > 0
}

// command adds a call that the author's client understood.
func (r *reply) command(sent *act) {
	named := act{tool: toolOther, words: sent.words, ids: sent.ids, page: sent.page}
	for i := range r.named {
		if r.named[i].sameSubject(&named) {
			return
		}
	}
	r.named, r.queue = append(r.named, named), append(r.queue, toolOther)
}

// commandNames are the author's names of the tools.
type commandNames [toolTerminate + 1]string

// take notes a tool's name; false where there is none, where the tool had
// another before, or another tool has this one.
func (c *commandNames) take(t tool, name string) bool {
	for other, taken := range c {
		if taken != "" && (tool(other) == t) != (taken == name) {
			return false
		}
	}
	c[t] = name
	return name != ""
}

func (c *commandNames) tools() (n int) {
	for _, name := range c {
		n += int(flag(name != ""))
	}
	return n
}

// commanded is the name under which a reply asks for just this; empty where it
// does not.
func (a *attempt) commanded(by int, sent *act, name calls.Naming) string {
	text, value := a.subject(by, sent)
	return commandOf(text, value, name)
}

// listed reports whether a reply holds the words of a search in quotes, as one of those
// that the search over one shop makes: its name hangs on the list.
func (a *attempt) listed(by int, sent *act) bool {
	text, value := a.subject(by, sent)
	for i := 0; i < len(text) && len(value) > 0; {
		word, _, n := nextWord(text[i:])
		if n > 0 && word == value[0] {
			if end := endOf(text, i, value); end > 0 && calls.IsQuoted(text[:i], text[end:]) {
				return true
			}
		}
		i += max(n, 1)
	}
	return false
}

// subject is a reply's text as far as it is searched for commands, with the words
// of what was sent; nothing where that is no command's.
func (a *attempt) subject(by int, sent *act) (text string, value []uint64) {
	p := a.pad
	value = append(p.scratch[:0], sent.words...)
	for _, id := range sent.ids {
		value = appendWords(value, id)
	}
	p.scratch = value
	content := a.log.replies[by].content
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
		word, _, n := nextWord(text[i:])
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
		word, _, n := nextWord(text[at:])
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
