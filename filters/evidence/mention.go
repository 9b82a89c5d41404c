package evidence

import (
	"iter"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// mention is how much of a request the text of a reply contains, in any syntax.
type mention uint8

const (
	// mentionNone means neither the tool's name nor any distinct value of an argument.
	mentionNone mention = iota
	// mentionPart means the tool's name, or a distinct value of an argument, but not the whole call.
	mentionPart
	// mentionWhole means the tool's name and every value of every argument, written as a call or in
	// a block of code.
	mentionWhole
)

// maxComparedWords is the maximum number of comparisons of words for one attempt; real attempts
// need a hundredth of it. Beyond it, searches find nothing and links are unknown.
const maxComparedWords = 1 << 24

// occurrence is the result of searching one version of a reply's text for a request: how much of
// the request the text contains, and at which position.
type occurrence struct {
	mention mention
	// name is the offset of the tool's name, -1 if the text does not contain it. lead is the
	// text before the name in its line, where the name is called.
	name    int
	lead    string
	version *textVersion
}

// findMention returns how much of a request a reply contains. A part counts only outside of the
// calls that were read. A whole request counts as a part if the reply lists more such calls
// than were sent, so that the client chose. A reply that is too long to be searched to its end
// contains a part at least.
func (a *Attempt) findMention(reply int, r *request) mention {
	best := mentionNone
	t := a.unreadText(reply)
	for i := range len(t.versions) + len(t.calls) {
		wasRead := i >= len(t.versions)
		var o occurrence
		if wasRead {
			o = a.mentionIn(&t.calls[i-len(t.versions)], r)
		} else {
			o = a.mentionIn(&t.versions[i], r)
		}
		if o.mention == mentionWhole && a.countCalls(&o) > a.requestsAfter(reply) {
			return mentionPart
		}
		if o.mention == mentionWhole || !wasRead {
			best = max(best, o.mention)
		}
	}
	if t.cut && best == mentionNone {
		return mentionPart // the part that was not searched may contain it
	}
	return best
}

// requestsAfter counts the requests to the shop between a reply and the next one. It returns at
// least 1.
func (a *Attempt) requestsAfter(reply int) int {
	n := slicesx.CountFunc(a.Log.Dispatches, func(d *Dispatch) bool {
		return d.LastReply == reply
	})
	return max(n, 1)
}

// mentionIn returns how much of a request one version of a text contains. Values may precede or
// follow the tool's name, in any order. A name or value within a sentence is prose and no call,
// so that it makes the request a part only.
func (a *Attempt) mentionIn(v *textVersion, r *request) occurrence {
	o := occurrence{name: -1, version: v}
	isCalled := false
	for _, name := range r.names {
		for at := range tokens(v.lower, name) {
			o.name = max(o.name, at)
			if v.isName(at, at+len(name), r) {
				isCalled = true
				o.lead = v.leadOf(at)
			}
		}
	}

	delimited := 0
	distinct := false
	for i := range r.values {
		for start, end := range a.wordsIn(v, r.values[i].words) {
			distinct = distinct || r.values[i].distinct
			if v.isValue(start, end, r) {
				delimited++
				isCalled = isCalled || v.isFenced(start, end, r)
				break
			}
		}
	}
	switch {
	case isCalled && delimited == len(r.values):
		o.mention = mentionWhole
	case o.name >= 0 || distinct:
		o.mention = mentionPart
	}
	return o
}

// countCalls counts the calls in a text that look like the call at o: the name of any tool after
// the same beginning of the line.
func (a *Attempt) countCalls(o *occurrence) int {
	n := 0
	for _, name := range a.toolNames() {
		for at := range tokens(o.version.lower, name) {
			if o.version.leadOf(at) == o.lead {
				n++
			}
		}
	}
	return n
}

// isName reports whether the tool's name at these offsets is a call, not a word of a sentence: a
// parenthesis follows it, or no word is next to it. A key, a tool name or a value of the request
// may follow it.
func (v *textVersion) isName(start, end int, r *request) bool {
	if strings.HasPrefix(v.text[end:], "(") {
		return true
	}
	return v.wordBefore(start) == "" && v.isDelimitedAfter(end, r)
}

// isValue reports whether the words at these offsets are a value of their own: no sentence
// continues before or after them in their line.
func (v *textVersion) isValue(start, end int, r *request) bool {
	if !v.isDelimitedAfter(end, r) {
		return false
	}
	word := v.wordBefore(start)
	return word == "" || r.isKeyOrName(word)
}

// isDelimitedAfter reports whether no prose follows the offset end: the line ends there, or
// continues with a punctuation mark or a key, tool name or value of the request.
func (v *textVersion) isDelimitedAfter(end int, r *request) bool {
	next := strings.TrimLeft(v.text[end:], " \t")
	word := next[:len(next)-len(strings.TrimLeftFunc(next, isWordRune))]
	if word == "" || r.isKeyOrName(word) {
		return true
	}
	first, _ := NextWord(next)
	return slices.ContainsFunc(r.values, func(value value) bool { return value.words[0] == first })
}

// wordBefore returns the word before an offset if only blanks are between them, else "".
func (v *textVersion) wordBefore(start int) string {
	before := strings.TrimRight(v.text[:start], " \t")
	return before[len(strings.TrimRightFunc(before, isWordRune)):]
}

// isFenced reports whether the words at these offsets are the only value of a request and fill
// a fenced block with a programming language: code that the model wrote to be run.
func (v *textVersion) isFenced(start, end int, r *request) bool {
	const fence = "```"
	open := strings.LastIndex(v.text[:start], fence)
	if open < 0 || len(r.values) != 1 || !strings.HasPrefix(strings.TrimLeftFunc(v.text[end:], isSeparatorButFence), fence) {
		return false
	}
	language, lead, _ := strings.Cut(v.text[open+len(fence):start], "\n")
	return strings.TrimSpace(language) != "" && strings.TrimFunc(lead, isSeparator) == ""
}

func isSeparatorButFence(r rune) bool { return r != '`' && isSeparator(r) }

// wordsIn yields the start and end offset of each occurrence of these words, one after the
// other, in a text. It stops after maxComparedWords comparisons.
func (a *Attempt) wordsIn(v *textVersion, words []uint64) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for i := 0; i+len(words) <= len(v.words); i++ {
			n := 0
			for n < len(words) && v.words[i+n].hash == words[n] {
				n++
			}
			if n == len(words) && !yield(v.words[i].start, v.words[i+n-1].end) {
				return
			}
			a.comparedWords += n + 1
			if a.comparedWords > maxComparedWords {
				return
			}
		}
	}
}

// linkByWords searches the text of replies for requests that were found in no call, and sets
// their links. The link is named if a reply of the request's turn contains the tool's name and
// every value, in any syntax, or an earlier reply of another model does, as in a team of
// models. It is unknown if the newest reply contains a part, which may be a call in a form that
// cannot be read.
func (a *Attempt) linkByWords() {
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		if d.Link != LinkNone && d.Link != LinkOverride && d.Link != LinkStale {
			continue
		}
		r := a.requestOf(d)
		if a.comparedWords > maxComparedWords {
			d.Link = LinkUnknown
			continue
		}
		newest := a.findMention(d.LastReply, r)
		if newest == mentionWhole {
			d.Link = LinkNamed
			d.Reply = d.LastReply
			continue
		}
		if reply := a.olderMention(d, r); reply >= 0 {
			d.Link = LinkNamed
			d.Reply = reply
			continue
		}
		isSearched := a.comparedWords <= maxComparedWords
		if newest == mentionPart || !isSearched || a.replyMentions(d.LastReply, &d.Act, a.newestListFor(d.LastReply)) {
			d.Link = LinkUnknown
		}
	}
}

// olderMention returns the newest reply before the last one that contains a whole request, among the
// replies of the request's turn and the earlier replies of other models. It returns -1 if there is
// none.
func (a *Attempt) olderMention(d *Dispatch, r *request) int {
	for reply := d.LastReply - 1; reply >= 0; reply-- {
		isOtherModel := a.Log.Replies[reply].model != a.Log.Replies[d.LastReply].model
		if reply < d.firstReply && !isOtherModel {
			continue
		}
		if a.findMention(reply, r) == mentionWhole {
			return reply
		}
	}
	return -1
}
