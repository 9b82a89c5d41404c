package evidence

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// maxFrame is the maximum number of words of a frame: a tool, its argument, and another
// argument with its value.
const maxFrame = 5

// learnForms reads calls in a form of the author's own, such as search[lamp] and
// open[123], <search>lamp</search>, find(text="lamp") or SEARCH: lamp. Only the author's
// client parses such a form, so it is learnt from what the client sent: a frame of words
// that precedes whatever a tool was asked for, and no other tool's.
//
// A single match may be a query of a program, so it needs all of the following. No reply
// names a call in a known form. The newest reply before each dispatch contains it in the
// frame of its tool. Two tools or more, one of which may end the attempt, have frames.
func (a *Attempt) learnForms() {
	for depth := 1; depth <= maxFrame; depth++ {
		if !a.Log.hasUnknownForm() || a.learnFrames(depth) {
			return
		}
	}
}

// learnFrames reads the calls whose frames have this many words. It reports false if the
// tools do not have one frame each. It reads nothing if the frames are those of a list
// that the client chose from.
func (a *Attempt) learnFrames(depth int) bool {
	var known frames
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		reply := a.Log.lastReplyBefore(d.Start)
		if reply < 0 || !known.add(a.toolOf(d), a.frame(reply, &d.Act, depth)) {
			return false
		}
	}

	last := len(a.Log.Replies) - 1
	answer := a.Recommended
	answerReply := last
	for answer != nil && answerReply >= 0 {
		if known.add(ToolRecommend, a.frame(answerReply, &answer.Act, depth)) {
			break
		}
		answerReply--
	}
	if n := len(a.Claims); n > 0 && a.Claims[n-1].Act.Tool == ToolTerminate {
		known.add(ToolTerminate, a.frame(last, &a.Claims[n-1].Act, depth))
	}
	if known.count() < 2 {
		return false
	}
	if a.offersChoices(depth) {
		return true
	}

	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		a.Log.Replies[a.Log.lastReplyBefore(d.Start)].addCall(&d.Act)
	}
	if answer == nil {
		return true
	}
	if answerReply < 0 && a.asksToBuy(last, answer) {
		answerReply = last
	}
	if answerReply >= 0 {
		a.Log.Replies[answerReply].addCall(&answer.Act)
	}
	return true
}

// offersChoices reports whether a reply goes on in the frames of what was sent, after it
// and at least as often as requests were sent: it is a list that the client chose from.
func (a *Attempt) offersChoices(depth int) bool {
	forms := map[string]bool{}
	requests := map[int]int{} // requests by reply
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		reply := a.Log.lastReplyBefore(d.Start)
		forms[a.lastFrame(reply, &d.Act, depth).written] = true
		requests[reply]++
	}
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		reply := a.Log.lastReplyBefore(d.Start)
		tail := a.lastFrame(reply, &d.Act, depth).tail
		more := 0
		for written := range forms {
			more += strings.Count(tail, written)
		}
		if more >= requests[reply] {
			return true
		}
	}
	return false
}

// toolOf returns the tool of the dialogue that a dispatch was made for: product details
// are also requested in order to match a product.
func (a *Attempt) toolOf(d *Dispatch) Tool {
	if d.Claimed < 0 {
		return d.Act.Tool
	}
	return a.Claims[d.Claimed].Act.Tool
}

// asksToBuy reports whether a reply contains "buy", and the answer is the open product.
func (a *Attempt) asksToBuy(reply int, answer *Claim) bool {
	for i := range slices.Backward(a.Claims) {
		if open := &a.Claims[i].Act; open.Tool == ToolView {
			return SameIDs(open.IDs, answer.Act.IDs) &&
				a.replyMentions(reply, &Act{Words: AppendWords(nil, "buy")}, nil)
		}
	}
	return false
}

// mentions reports whether the last reply, or any reply after the last request, contains
// the products of an answer, or the last one says to buy the open product.
func (a *Attempt) mentions(answer *Claim) bool {
	last := len(a.Log.Replies) - 1
	first := last
	if n := len(a.Log.Dispatches); n > 0 {
		first = min(last, a.Log.Dispatches[n-1].LastReply+1)
	}
	for reply := max(first, 0); reply <= last; reply++ {
		if a.replyMentions(reply, &answer.Act, a.newestListFor(reply)) {
			return true
		}
	}
	return last >= 0 && a.asksToBuy(last, answer)
}

// hasUnknownForm reports whether models answered, and none named a call in a known form,
// though requests were sent.
func (l *ProxyLog) hasUnknownForm() bool {
	return len(l.Replies) > 0 && len(l.Dispatches) > 0 &&
		!slices.ContainsFunc(l.Replies, Reply.hasKnownForm)
}

// hasKnownForm reports whether a reply names any call in a known form.
func (r Reply) hasKnownForm() bool {
	return slices.ContainsFunc(r.Named, func(n Act) bool {
		return n.Tool != ToolOther || len(n.Words)+len(n.IDs) > 0
	})
}

// addCall adds a call that the author's client parsed, unless the reply already names one
// of its subject.
func (r *Reply) addCall(req *Act) {
	if slices.ContainsFunc(r.Named, func(n Act) bool {
		return n.sameSubject(req)
	}) {
		return
	}
	r.Named = append(r.Named, *req)
	r.queue = append(r.queue, req.Tool)
}

// frames are the words that precede what each tool is asked for.
type frames [ToolTerminate + 1]string

// add sets the frame of a tool. It reports false if the frame is empty, the tool has
// another one, or another tool has this one.
func (f *frames) add(t Tool, frame string) bool {
	for i, used := range f {
		if used == "" {
			continue
		}
		isSameTool := Tool(i) == t
		if isSameTool != (used == frame) {
			return false
		}
	}
	f[t] = frame
	return frame != ""
}

func (f *frames) count() int {
	return slicesx.CountFunc(f[:], func(frame *string) bool {
		return *frame != ""
	})
}

// frame returns the words that precede the words or products of a request in a reply,
// empty if the reply does not contain the request.
func (a *Attempt) frame(reply int, req *Act, depth int) string {
	return a.lastFrame(reply, req, depth).words
}

// framedCall is a request in the text of a reply: the words of its frame, the frame as
// written, and the text after the request.
type framedCall struct {
	words   string
	written string
	tail    string
}

// lastFrame returns the last frame of a request in a reply, since models think before they
// act.
func (a *Attempt) lastFrame(reply int, req *Act, depth int) framedCall {
	var call framedCall
	for before, after := range a.occurrences(reply, req, a.newestListFor(reply)) {
		if words, written := frameOf(before, after, depth); words != "" {
			call = framedCall{words, written, after}
		}
	}
	return call
}

// newestListFor returns the products of the newest list when a reply was requested.
func (a *Attempt) newestListFor(reply int) []string {
	return a.newestList(a.Log.Replies[reply].Start)
}

// replyMentions reports whether a reply contains the words or products of a call, one
// after the other; products also by their numbers in the list.
func (a *Attempt) replyMentions(
	reply int,
	req *Act,
	list []string,
) bool {
	for range a.occurrences(reply, req, list) {
		return true
	}
	return false
}

// occurrences yields the text of a reply before and after each place with the words or
// products of a request, one after the other. If there is none, and the reply names
// nothing in a known form, it searches for the products' numbers in the list.
func (a *Attempt) occurrences(
	reply int,
	req *Act,
	list []string,
) iter.Seq2[string, string] {
	return func(yield func(before, after string) bool) {
		r := &a.Log.Replies[reply]
		subject := a.scratch.subjectOf(req, nil)
		if len(subject) == 0 || len(subject) > maxCommand || len(r.content) > 4*maxCommandText {
			return
		}
		text := a.scratch.contentText(r.content)
		text = text[:min(len(text), maxCommandText)]
		if yieldOccurrences(text, subject, yield) {
			return
		}
		if len(list) > 0 && len(req.IDs) > 0 && !r.hasKnownForm() {
			yieldOccurrences(text, a.scratch.subjectOf(req, list), yield)
		}
	}
}

// yieldOccurrences yields the text before and after each place with these words, and
// reports whether there is any.
func yieldOccurrences(
	text string,
	words []uint64,
	yield func(before, after string) bool,
) bool {
	any := false
	for i := 0; i < len(text); {
		word, n := NextWord(text[i:])
		if n > 0 && word == words[0] {
			if end := matchEnd(text, i, words); end > 0 {
				any = true
				if !yield(text[:i], text[end:]) {
					break
				}
			}
		}
		i += max(n, 1)
	}
	return any
}

// maxCommandText is the number of bytes of a reply that are searched, twice what logs keep
// of it. maxCommand is the limit of the words of a request; a longer one is prose.
const (
	maxCommandText = 4 << 10
	maxCommand     = 32
)

// subjectOf returns the words or products of a call, as words. Products in the list are
// replaced by their number in it.
func (s *scratch) subjectOf(req *Act, list []string) []uint64 {
	s.subject = append(s.subject[:0], req.Words...)
	for _, id := range req.IDs {
		if i := slices.Index(list, id); i >= 0 {
			id = strconv.Itoa(i + 1)
		}
		s.subject = AppendWords(s.subject, id)
	}
	return s.subject
}

// matchEnd returns the end of these words if text[start:] starts with them, with any
// separators between them; else 0.
func matchEnd(text string, start int, words []uint64) int {
	pos := start
	for len(words) > 0 {
		if pos >= len(text) {
			return 0
		}
		word, n := NextWord(text[pos:])
		switch {
		case n == 0:
			pos++ // a separator
			continue
		case word != words[0]:
			return 0
		}
		words = words[1:]
		pos += n
	}
	return pos
}

// frameOf returns the last words before a value, depth of them or fewer, in lower case and
// as written. They are empty if prose continues before or after them. The frame as written
// includes the character before it, which distinguishes a tag from its end.
func frameOf(before, after string, depth int) (words, written string) {
	lead := before
	for range depth {
		lead = strings.TrimRightFunc(strings.TrimRightFunc(lead, isSeparator), isWordRune)
	}
	if prose := strings.TrimRight(lead, " \t"); prose != strings.TrimRightFunc(prose, isWordRune) {
		return "", ""
	}
	if next := strings.TrimLeft(after, " \t"); next != strings.TrimLeftFunc(next, isWordRune) {
		return "", ""
	}
	written = strings.TrimLeftFunc(before[len(lead):], isSeparator)
	words = strings.Join(strings.FieldsFunc(strings.ToLower(written), isSeparator), " ")
	return words, before[max(0, len(before)-len(written)-1):]
}

func isWordRune(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) ||
		unicode.IsDigit(r) || unicode.IsMark(r)
}

func isSeparator(r rune) bool { return !isWordRune(r) }
