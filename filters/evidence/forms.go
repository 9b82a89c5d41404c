package evidence

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// maxFrame is the maximum number of words of a frame: the text before a value that shows the value
// to belong to a call, such as "search" in search[lamp]. Five words are enough for a tool, its
// argument, and another argument with its value.
const maxFrame = 5

// learnForms reads calls in a notation of the agent's author, such as search[lamp] and
// open[123], <search>lamp</search>, find(text="lamp") or SEARCH: lamp. Only the author's client
// parses such a notation, so it is inferred from the requests that were sent: each tool has a
// frame, the same words before each of its values, which no other tool has.
//
// A single match may be a query that a program wrote, so all of three conditions must hold. No
// reply has a call in a known form. The newest reply before each logged request contains the
// request's values in the frame of its tool. At least two tools have frames; one of them may be
// the tool that ends the attempt.
func (a *Attempt) learnForms() {
	for depth := 1; depth <= maxFrame; depth++ {
		if !a.Log.hasUnknownForm() || a.learnFrames(depth) {
			return
		}
	}
}

// learnFrames finds calls in an unknown notation, such as search[lamp], by their frame, the last
// depth words before a value, and adds the calls to the replies. It adds nothing and returns false
// unless each request has a frame in the newest reply before it, each tool has one frame that no
// other tool has, and at least two tools have one. If the client chose its requests from a list of
// calls in a reply, no call is the model's choice: it adds nothing and returns true.
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
	answer := a.Commit
	answerReply := last
	for answer != nil && answerReply >= 0 {
		if known.add(ToolCommit, a.frame(answerReply, &answer.Act, depth)) {
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

// offersChoices reports whether replies list several calls and the client chose which to send. That
// is so if a reply has, after a call that was sent, further calls with the same depth words before
// their values, at least as many as requests were sent after the reply.
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

// toolOf returns the tool that the dialogue's call names for which a logged request was made, or
// the requested tool if there is no such call. The two may differ: a client that matches an item
// also requests the item's details.
func (a *Attempt) toolOf(d *Dispatch) Tool {
	if d.Claimed < 0 {
		return d.Act.Tool
	}
	return a.Claims[d.Claimed].Act.Tool
}

// asksToBuy reports whether the model chose the attempt's answer by words only: the reply with this
// index contains "buy", and the answer is the item that was opened last in the dialogue.
func (a *Attempt) asksToBuy(reply int, answer *Claim) bool {
	for i := range slices.Backward(a.Claims) {
		if open := &a.Claims[i].Act; open.Tool == ToolView {
			return SameIDs(open.IDs, answer.Act.IDs) &&
				a.replyMentions(reply, &Act{Words: AppendWords(nil, "buy")}, nil)
		}
	}
	return false
}

// mentions reports whether the model itself chose an answer: the last reply, or a reply after the
// last request to the tool server, contains the items of the answer in any form. It also reports
// true if the last reply says to buy the item that was opened last.
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

// hasUnknownForm reports whether the log has replies and requests to the tool server, but no reply
// contains a call in a form that can be read.
func (l *ProxyLog) hasUnknownForm() bool {
	return len(l.Replies) > 0 && len(l.Dispatches) > 0 &&
		!slices.ContainsFunc(l.Replies, Reply.hasKnownForm)
}

// hasKnownForm reports whether a reply contains a call in a form that can be read: a call of a
// known tool, or one with a query or items.
func (r Reply) hasKnownForm() bool {
	return slices.ContainsFunc(r.Named, func(n Act) bool {
		return n.Tool != ToolOther || len(n.Words)+len(n.IDs) > 0
	})
}

// addCall adds req, a call that a reply contains in the notation of the agent's author, to the
// calls of the reply. It adds nothing if the reply already has a call of the same tool, words and
// items.
func (r *Reply) addCall(req *Act) {
	if slices.ContainsFunc(r.Named, func(n Act) bool {
		return n.sameSubject(req)
	}) {
		return
	}
	r.Named = append(r.Named, *req)
	r.queue = append(r.queue, req.Tool)
}

// frames has for each tool its frame: the fixed words before the value in each of the tool's calls,
// such as "search" in search[lamp]. By them calls in a notation of the agent's author are
// recognised. It is "" for a tool whose frame is unknown.
type frames [ToolTerminate + 1]string

// add sets the frame (fixed words before a value) of tool t and returns true. It returns false if
// the tool already has another frame, or if another tool has the same one.
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

// frame returns the words that introduce the request req in a reply, such as "search" in
// search[lamp]: up to depth words before the last place with the request's words or items. It
// returns "" if the reply does not contain these, or only within a sentence.
func (a *Attempt) frame(reply int, req *Act, depth int) string {
	return a.lastFrame(reply, req, depth).words
}

// framedCall is an occurrence of a request in the text of a reply. words is the frame, the words
// before the request, in lower case; written is the frame as it is written; tail is the text
// after the request.
type framedCall struct {
	words   string
	written string
	tail    string
}

// lastFrame finds the last place in a reply with all words or items of the request req, in order, that
// has one to depth words directly before it (its frame, such as "search" in search[lamp]) and is not
// within a sentence. The last place counts since models think before they act. It returns the zero
// value if there is none.
func (a *Attempt) lastFrame(reply int, req *Act, depth int) framedCall {
	var call framedCall
	for before, after := range a.occurrences(reply, req, a.newestListFor(reply)) {
		if words, written := frameOf(before, after, depth); words != "" {
			call = framedCall{words, written, after}
		}
	}
	return call
}

// newestListFor returns the items that the model could choose from when it wrote a reply: those of
// the newest search result before the reply was requested. It returns nil if there is none.
func (a *Attempt) newestListFor(reply int) []string {
	return a.newestList(a.Log.Replies[reply].Start)
}

// replyMentions reports whether a reply contains all words or items of the call req, in sequence.
// If no call can be read in the reply, an item may also appear as its position in list: 3 for the
// third.
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

// occurrences yields the text before and after each place in a reply where the words or items
// of a request appear in sequence. If there is none, and the reply has no readable call, it
// searches for the items' positions in list, which a client may show to its model. It yields
// nothing if the reply or the request is too long.
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

// yieldOccurrences yields the text before and after each place in text where the words, given as
// hashes, appear in sequence. It reports whether it yielded any.
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

// maxCommandText is the maximum number of bytes of a reply that are searched, twice what logs
// keep. maxCommand is the maximum number of words of a request that is searched for, since a
// longer one is prose.
const (
	maxCommandText = 4 << 10
	maxCommand     = 32
)

// subjectOf returns what a call asks for as word hashes, to search for it in replies: those of its
// query words, followed by those of its item ids. An id that is in list is replaced by its
// position, counted from 1. The next call of subjectOf overwrites the result.
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

// matchEnd returns the index after words in text, if text[start:] starts with words and only
// separators are between them. Otherwise it returns 0.
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

// frameOf returns the frame of a value: up to depth words before it, in lower case and as written.
// Both are empty if the value is part of a sentence, that is if another word precedes those words
// or follows the value after blanks only. The written form includes the character before the words,
// which distinguishes an opening tag from a closing one.
func frameOf(before, after string, depth int) (words, written string) {
	lead := before
	for range depth {
		lead = strings.TrimRightFunc(strings.TrimRightFunc(lead, isSeparator), IsWordRune)
	}
	if prose := strings.TrimRight(lead, " \t"); prose != strings.TrimRightFunc(prose, IsWordRune) {
		return "", ""
	}
	if next := strings.TrimLeft(after, " \t"); next != strings.TrimLeftFunc(next, IsWordRune) {
		return "", ""
	}
	written = strings.TrimLeftFunc(before[len(lead):], isSeparator)
	words = strings.Join(strings.FieldsFunc(strings.ToLower(written), isSeparator), " ")
	return words, before[max(0, len(before)-len(written)-1):]
}

// IsWordRune reports whether r may be in a word.
func IsWordRune(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) ||
		unicode.IsDigit(r) || unicode.IsMark(r)
}

func isSeparator(r rune) bool { return !IsWordRune(r) }
