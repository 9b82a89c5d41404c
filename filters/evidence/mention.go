package evidence

import (
	"iter"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// mention is how much of a logged tool request the text of a model's reply contains: nothing, a
// part, or the tool's name and all values. It decides whether the model asked for the request if no
// call can be read in the reply.
type mention uint8

const (
	// mentionNone means that a reply contains neither the tool's name nor a distinctive value of a
	// request.
	mentionNone mention = iota
	// mentionPart means that a reply contains the tool's name or a distinctive value of a request,
	// but not the complete call.
	mentionPart
	// mentionWhole means that a reply contains the tool's name and every value of every argument of
	// a request, written as a call or in a block of code.
	mentionWhole
)

// maxComparedWords is the maximum number of word comparisons for one attempt. Real attempts need
// a hundredth of it. Searches find nothing above the limit, so that links are unknown.
const maxComparedWords = 1 << 24

// occurrence is the result of a search for a request in one version of a reply's text: how much
// of the request the text contains, and where.
type occurrence struct {
	mention mention
	// name is the offset of the tool's name, -1 if the text does not contain it. lead is the
	// part of the line before the name, if the name is called there.
	name    int
	lead    string
	version *textVersion
}

// findMention returns how much of the request r a reply contains: nothing, a part, or all of it.
// Text inside calls that were read counts only if it contains all. A complete request counts as a
// part if the reply lists more calls like it than were sent, since the client then chose. A reply
// that is too long to be searched to its end counts at least as a part.
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

// requestsAfter returns the number of logged tool requests between a reply of the model and the
// next reply, but at least 1.
func (a *Attempt) requestsAfter(reply int) int {
	n := slicesx.CountFunc(a.Log.Dispatches, func(d *Dispatch) bool {
		return d.LastReply == reply
	})
	return max(n, 1)
}

// mentionIn returns how much of the request r one version of a reply's text contains, and where.
// Values may precede or follow the tool's name, in any order. If the name or a value is within a
// sentence, the text counts as a part of the request only.
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

// countCalls returns how many calls a text seems to list in the form of the call at o: places where
// the name of any tool follows the start of a line after the same text as there, such as "1. ".
// Digits count as equal.
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

// isName reports whether the tool's name at the offsets start to end is a call and not a word in a
// sentence: a parenthesis follows it, or no other word is next to it except a key, tool name or
// value of the request.
func (v *textVersion) isName(start, end int, r *request) bool {
	if strings.HasPrefix(v.text[end:], "(") {
		return true
	}
	return v.wordBefore(start) == "" && v.isDelimitedAfter(end, r)
}

// isValue reports whether the words from start to end are a value of the request r and not a part
// of a sentence. No other word may be next to them with only blanks between, except a key or a tool
// name or, after them, another value of r.
func (v *textVersion) isValue(start, end int, r *request) bool {
	if !v.isDelimitedAfter(end, r) {
		return false
	}
	word := v.wordBefore(start)
	return word == "" || r.isKeyOrName(word)
}

// isDelimitedAfter reports whether the sentence, if any, does not go on after the offset end: the
// line ends there, or continues with punctuation or with a key, tool name or value of the request.
func (v *textVersion) isDelimitedAfter(end int, r *request) bool {
	next := strings.TrimLeft(v.text[end:], " \t")
	word := next[:len(next)-len(strings.TrimLeftFunc(next, IsWordRune))]
	if word == "" || r.isKeyOrName(word) {
		return true
	}
	first, _ := NextWord(next)
	return slices.ContainsFunc(r.values, func(value value) bool { return value.words[0] == first })
}

// wordBefore returns the word before the offset start of the text. It returns "" if anything but
// blanks is between them.
func (v *textVersion) wordBefore(start int) string {
	before := strings.TrimRight(v.text[:start], " \t")
	return before[len(strings.TrimRightFunc(before, IsWordRune)):]
}

// isFenced reports whether the words at these offsets are the only value of a request and fill a
// fenced block that has a programming language. The model then wrote code to be run.
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

// wordsIn yields the start and end offset of each place in a text where these words appear in
// sequence. It stops after maxComparedWords comparisons.
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

// linkByWords sets the links of logged requests for which no call was found in a reply, by
// searching the text of the replies. The link is named if a reply since the previous request
// contains the tool's name and every value or, in a team of models, an earlier reply of another
// model does. It is unknown if the newest reply contains only a part, which may be a call that
// cannot be read, or if maxComparedWords words were compared.
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

// olderMention returns the index of the newest reply before d.LastReply that contains the complete
// call of request r. It may be a reply since the previous request, or any earlier reply of another
// model, since one model of a team may plan for another. It returns -1 if there is none.
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
