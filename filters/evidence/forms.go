package evidence

import (
	"cmp"
	"strings"
	"unicode"
)

// commands reads calls in a form of the author's own, such as search[lamp] and
// open[123], <search>lamp</search>, find(text="lamp") or SEARCH: lamp. Only the
// author's client knows such a form, so it is learnt from what it sent: one frame of
// words stands before whatever a tool was asked for, and before no other tool's.
//
// A single match may be a query that a program asked for, so it is all or
// nothing: no reply names a call in a form known here, the newest reply before
// each dispatch commands it, and two tools or more, of which one may end the
// attempt, have frames of their own.
func (a *Attempt) commands() {
	if len(a.Log.Dispatches) == 0 || !a.Log.nameless() {
		return
	}
	for depth := 1; depth <= maxFrame && !a.commandedBy(depth); depth++ {
	}
}

// maxFrame is how many words a frame may have: a tool, its argument, and another
// argument with its value.
const maxFrame = 5

// commandedBy reads the commands whose frames have so many words; false where they
// are not one for each tool.
func (a *Attempt) commandedBy(depth int) bool {
	var names commandNames
	if !a.allCommanded(&names, depth) {
		return false
	}
	answer, by := a.answerCommanded(&names, depth)
	a.endCommanded(&names, depth)
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
func (a *Attempt) allCommanded(names *commandNames, depth int) bool {
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		last := a.Log.lastBefore(d.Start)
		if last < 0 {
			return false
		}
		if !names.take(a.toolFor(d), a.commanded(last, &d.Act, depth)) {
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
func (a *Attempt) answerCommanded(names *commandNames, depth int) (answer *Claim, by int) {
	answer = a.lastRecommendation()
	for by = len(a.Log.Replies) - 1; by >= 0; by-- {
		if answer != nil && names.take(ToolRecommend, a.commanded(by, &answer.Act, depth)) {
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
func (a *Attempt) endCommanded(names *commandNames, depth int) {
	end := &a.Claims[len(a.Claims)-1]
	if end.Act.Tool != ToolTerminate {
		return
	}
	names.take(ToolTerminate, a.commanded(len(a.Log.Replies)-1, &end.Act, depth))
}

// hearVerbatim finds the dispatches that no reply names in a known form, though
// the newest one holds their words just so: whoever reads it so, a model wrote
// them, and whether it asked for them is not known.
func (a *Attempt) hearVerbatim() {
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		if d.Link == LinkNone && (a.says(d.Last, &d.Act) || a.computes(d)) {
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

// computes reports whether the newest reply calls a dispatch's tool as code does,
// with arguments that only running it tells.
func (a *Attempt) computes(d *Dispatch) bool {
	return strings.Contains(a.Pad.said(a.Log.Replies[d.Last].content), Endpoint(d.Call.Path)+"(")
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

// hears reports whether a reply after the last request, or the last one, holds the products of an
// answer, or the last one says to buy what is open.
func (a *Attempt) hears(answer *Claim) bool {
	last := len(a.Log.Replies) - 1
	from := last
	if n := len(a.Log.Dispatches); n > 0 {
		from = min(last, a.Log.Dispatches[n-1].Last+1)
	}
	for by := max(from, 0); by <= last; by++ {
		if a.says(by, &answer.Act) {
			return true
		}
	}
	return last >= 0 && a.buys(last, answer)
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
	named := *sent
	for i := range r.Named {
		if r.Named[i].sameSubject(&named) {
			return
		}
	}
	r.Named, r.queue = append(r.Named, named), append(r.queue, sent.Tool)
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
func (a *Attempt) commanded(by int, sent *Act, depth int) string {
	text, value := a.subject(by, sent)
	return commandOf(text, value, depth)
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
	if len(value) == 0 || len(value) > maxCommand || len(content) > 4*maxCommanding {
		return "", nil
	}
	text = p.said(content)
	return text[:min(len(text), maxCommanding)], value
}

// maxCommanding is how much of a reply is searched, in bytes: twice what logs keep whole.
const maxCommanding = 4 << 10

// maxCommand is how many words a command may ask for; what is longer is prose.
const maxCommand = 32

// commandOf finds the words of a value in text where a name stands before them,
// the last ones, since models think before they act.
func commandOf(text string, value []uint64, depth int) (name string) {
	for i := 0; i < len(text); {
		word, _, n := NextWord(text[i:])
		if n > 0 && word == value[0] {
			if end := endOf(text, i, value); end > 0 {
				name = cmp.Or(frame(text[:i], text[end:], depth), name)
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

// frame is the last words before a value, so many or as there are, in lower case;
// empty where prose goes on before or after them.
func frame(before, after string, depth int) string {
	lead := before
	for range depth {
		lead = strings.TrimRightFunc(strings.TrimRightFunc(lead, partsWords), inWords)
	}
	if prose := strings.TrimRight(lead, " \t"); prose != strings.TrimRightFunc(prose, inWords) {
		return ""
	}
	if next := strings.TrimLeft(after, " \t"); next != strings.TrimLeftFunc(next, inWords) {
		return ""
	}
	return strings.Join(strings.FieldsFunc(strings.ToLower(before[len(lead):]), partsWords), " ")
}

func inWords(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func partsWords(r rune) bool { return !inWords(r) }
