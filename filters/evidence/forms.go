package evidence

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// forms reads calls in a form of the author's own, such as search[lamp] and
// open[123], <search>lamp</search>, find(text="lamp") or SEARCH: lamp. Only the
// author's client knows such a form, so it is learnt from what it sent: one frame of
// words stands before whatever a tool was asked for, and before no other tool's.
//
// A single match may be a query that a program asked for, so it is all or
// nothing: no reply names a call in a form known here, the newest reply before
// each dispatch holds it in its tool's frame, and two tools or more, of which one
// may end the attempt, have frames of their own.
func (a *Attempt) forms() {
	for depth := 1; depth <= maxFrame && a.Log.nameless() && !a.readBy(depth); depth++ {
	}
}

// maxFrame is how many words a frame may have: a tool, its argument, and another
// argument with its value.
const maxFrame = 5

// readBy reads the calls whose frames have so many words; false where they are not
// one for each tool. Frames of a list that the client chose from are none.
func (a *Attempt) readBy(depth int) bool {
	var known frames
	for _, d := range Each(a.Log.Dispatches) {
		if by := a.Log.lastBefore(d.Start); by < 0 || !known.take(a.toolFor(d), a.frame(by, &d.Act, depth)) {
			return false
		}
	}
	last := len(a.Log.Replies) - 1
	answer, by := a.Recommended, last
	for answer != nil && by >= 0 && !known.take(ToolRecommend, a.frame(by, &answer.Act, depth)) {
		by--
	}
	if n := len(a.Claims); n > 0 && a.Claims[n-1].Act.Tool == ToolTerminate {
		known.take(ToolTerminate, a.frame(last, &a.Claims[n-1].Act, depth))
	}
	if known.tools() < 2 {
		return false
	}
	if a.offers(depth) {
		return true
	}
	for _, d := range Each(a.Log.Dispatches) {
		a.Log.Replies[a.Log.lastBefore(d.Start)].command(&d.Act)
	}
	if by < 0 && a.buys(last, answer) {
		by = last
	}
	if answer != nil && by >= 0 {
		a.Log.Replies[by].command(&answer.Act)
	}
	return true
}

// offers reports whether replies go on in the frames of what was sent, after it and
// more often than things were sent: lists that the client chose from.
func (a *Attempt) offers(depth int) bool {
	forms, sent := map[string]bool{}, map[int]int{}
	for _, d := range Each(a.Log.Dispatches) {
		by := a.Log.lastBefore(d.Start)
		_, written, _ := a.lastFrame(by, &d.Act, depth)
		forms[written], sent[by] = true, sent[by]+1
	}
	for _, d := range Each(a.Log.Dispatches) {
		more := 0
		by := a.Log.lastBefore(d.Start)
		_, _, after := a.lastFrame(by, &d.Act, depth)
		for written := range forms {
			more += strings.Count(after, written)
		}
		if more >= sent[by] {
			return true
		}
	}
	return false
}

// toolFor is the tool that the dialogue says a dispatch was made for: details of
// a product are also asked for to match it.
func (a *Attempt) toolFor(d *Dispatch) Tool {
	if d.Claimed < 0 {
		return d.Act.Tool
	}
	return a.Claims[d.Claimed].Act.Tool
}

// buys reports whether a reply says to buy, and the answer is what is open.
func (a *Attempt) buys(by int, answer *Claim) bool {
	for i := len(a.Claims) - 1; i >= 0; i-- {
		if open := &a.Claims[i].Act; open.Tool == ToolView {
			return SameIDs(open.IDs, answer.Act.IDs) && a.says(by, &Act{Words: AppendWords(nil, "buy")}, nil)
		}
	}
	return false
}

// hearVerbatim finds the dispatches that no reply of their turn names in a known form,
// though the newest one holds their words just so, or their products' places in the list,
// or calls their tool as code does with arguments that only running it tells: a model
// wrote them, and whether it asked for them is not known.
func (a *Attempt) hearVerbatim() {
	for _, d := range Each(a.Log.Dispatches) {
		if d.Link != LinkNone && d.Link != LinkOverride && d.Link != LinkStale {
			continue
		}
		r := &a.Log.Replies[d.Last]
		if a.says(d.Last, &d.Act, a.newest(d.Last)) || strings.Contains(a.Pad.said(r.content), Endpoint(d.Call.Path)+"(") {
			d.Link = LinkUnknown
		}
	}
}

// hears reports whether a reply after the last request, or the last one, holds the
// products of an answer, or the last one says to buy what is open.
func (a *Attempt) hears(answer *Claim) bool {
	last := len(a.Log.Replies) - 1
	from := last
	if n := len(a.Log.Dispatches); n > 0 {
		from = min(last, a.Log.Dispatches[n-1].Last+1)
	}
	for by := max(from, 0); by <= last; by++ {
		if a.says(by, &answer.Act, a.newest(by)) {
			return true
		}
	}
	return last >= 0 && a.buys(last, answer)
}

// nameless reports whether models answered, and none asked for anything in a known
// form, though something was sent.
func (l *ProxyLog) nameless() bool {
	return len(l.Replies) > 0 && len(l.Dispatches) > 0 && !slices.ContainsFunc(l.Replies, Reply.names)
}

// names reports whether a reply asks for anything in a known form.
func (r Reply) names() bool {
	return slices.ContainsFunc(r.Named, func(n Act) bool { return n.Tool != ToolOther || len(n.Words)+len(n.IDs) > 0 })
}

// command adds a call that the author's client understood.
func (r *Reply) command(sent *Act) {
	if slices.ContainsFunc(r.Named, func(n Act) bool { return n.sameSubject(sent) }) {
		return
	}
	r.Named, r.queue = append(r.Named, *sent), append(r.queue, sent.Tool)
}

// frames are the words before what each tool is asked for.
type frames [ToolTerminate + 1]string

// take notes a tool's frame; false where there is none, where the tool had
// another before, or another tool has this one.
func (f *frames) take(t Tool, frame string) bool {
	for other, taken := range f {
		if taken != "" && (Tool(other) == t) != (taken == frame) {
			return false
		}
	}
	f[t] = frame
	return frame != ""
}

func (f *frames) tools() int {
	return slicesx.CountFunc(f[:], func(frame *string) bool { return *frame != "" })
}

// frame is the words that stand in a reply before the words or products that were
// sent; empty where these do not stand there.
func (a *Attempt) frame(by int, sent *Act, depth int) string {
	words, _, _ := a.lastFrame(by, sent, depth)
	return words
}

// lastFrame is a frame as words and as it is written, with the rest of the reply: the
// last one, since models think before they act.
func (a *Attempt) lastFrame(by int, sent *Act, depth int) (words, written, rest string) {
	for before, after := range a.places(by, sent, a.newest(by)) {
		if w, as := frame(before, after, depth); w != "" {
			words, written, rest = w, as, after
		}
	}
	return words, written, rest
}

// newest is the list that was the newest when a reply was asked for.
func (a *Attempt) newest(by int) []string { return a.listed(a.Log.Replies[by].Start) }

// says reports whether a reply holds the words or products of a call, one after
// the other; products also by their numbers in the list.
func (a *Attempt) says(by int, sent *Act, list []string) bool {
	for range a.places(by, sent, list) {
		return true
	}
	return false
}

// places gives what stands in a reply before and after each place where the words or
// products that were sent stand one after the other; if nowhere, and the reply names
// nothing in a known form, where the products' numbers in the list do.
func (a *Attempt) places(by int, sent *Act, list []string) iter.Seq2[string, string] {
	return func(yield func(before, after string) bool) {
		r, value := &a.Log.Replies[by], a.Pad.subject(sent, nil)
		if len(value) == 0 || len(value) > maxCommand || len(r.content) > 4*maxCommanding {
			return
		}
		text := a.Pad.said(r.content)
		text = text[:min(len(text), maxCommanding)]
		if !within(text, value, yield) && len(list) > 0 && len(sent.IDs) > 0 && !r.names() {
			within(text, a.Pad.subject(sent, list), yield)
		}
	}
}

// within yields what stands in a text before and after each place where the words do,
// and reports whether there is any.
func within(text string, words []uint64, yield func(before, after string) bool) (found bool) {
	for i := 0; i < len(text); {
		word, n := NextWord(text[i:])
		if n > 0 && word == words[0] {
			if end := endOf(text, i, words); end > 0 {
				if found = true; !yield(text[:i], text[end:]) {
					break
				}
			}
		}
		i += max(n, 1)
	}
	return found
}

// maxCommanding is how much of a reply is searched, in bytes: twice what logs keep
// whole. maxCommand is how many words a call may ask for; what is longer is prose.
const (
	maxCommanding = 4 << 10
	maxCommand    = 32
)

// subject is the words or products that a call asks for, as words; products that the
// list holds by their place in it.
func (p *Pad) subject(sent *Act, list []string) []uint64 {
	p.scratch = append(p.scratch[:0], sent.Words...)
	for _, id := range sent.IDs {
		if at := slices.Index(list, id); at >= 0 {
			id = strconv.Itoa(at + 1)
		}
		p.scratch = AppendWords(p.scratch, id)
	}
	return p.scratch
}

// endOf is where the words end that start at the given place; 0 where others
// stand there.
func endOf(text string, at int, words []uint64) int {
	for len(words) > 0 {
		if at >= len(text) {
			return 0
		}
		word, n := NextWord(text[at:])
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

// frame is the last words before a value, so many or as there are, in lower case and
// as they are written; empty where prose goes on before or after them.
func frame(before, after string, depth int) (words, written string) {
	lead := before
	for range depth {
		lead = strings.TrimRightFunc(strings.TrimRightFunc(lead, partsWords), inWords)
	}
	if prose := strings.TrimRight(lead, " \t"); prose != strings.TrimRightFunc(prose, inWords) {
		return "", ""
	}
	if next := strings.TrimLeft(after, " \t"); next != strings.TrimLeftFunc(next, inWords) {
		return "", ""
	}
	written = strings.TrimLeftFunc(before[len(lead):], partsWords)
	words = strings.Join(strings.FieldsFunc(strings.ToLower(written), partsWords), " ")
	return words, before[max(0, len(before)-len(written)-1):] // with the sign before it, which tells a tag from its end
}

func inWords(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func partsWords(r rune) bool { return !inWords(r) }
