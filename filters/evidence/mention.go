package evidence

import (
	"iter"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// mention is how much of a request is in the text of a reply, in any syntax.
type mention uint8

const (
	// mentionNone means that neither the tool's name nor a distinctive value is in the text.
	mentionNone mention = iota
	// mentionPart means that the tool's name or a distinctive value is in the text, but not the
	// whole call.
	mentionPart
	// mentionWhole means that the tool's name and every value of every argument are in the text,
	// written as a call or in a block of code.
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

// findMention returns how much of a request a reply contains. Text inside of calls that were
// read counts only if it contains the whole request. A whole request counts as a part if the
// reply lists more such calls than were sent, since the client then chose. A reply that is too
// long to be searched to its end counts at least as a part.
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

// requestsAfter counts the logged requests to the tool server between a reply and the next one. It
// returns at least 1.
func (a *Attempt) requestsAfter(reply int) int {
	n := slicesx.CountFunc(a.Log.Dispatches, func(d *Dispatch) bool {
		return d.LastReply == reply
	})
	return max(n, 1)
}

// mentionIn returns how much of a request one version of a text contains. Values may precede or
// follow the tool's name, in any order. If the name or a value is within a sentence, the text
// counts as a part of the request only.
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
// the same text at the start of a line.
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

// isName reports whether the tool's name at these offsets is a call instead of a word in a
// sentence. Either a parenthesis follows it, or no other word is next to it; a key, a tool name
// or a value of the request may follow.
func (v *textVersion) isName(start, end int, r *request) bool {
	if strings.HasPrefix(v.text[end:], "(") {
		return true
	}
	return v.wordBefore(start) == "" && v.isDelimitedAfter(end, r)
}

// isValue reports whether the words at these offsets are a value of the request r instead of a part
// of a sentence: next to them, with only blanks between, is no word except a key, a tool name or,
// after them, another value of r.
func (v *textVersion) isValue(start, end int, r *request) bool {
	if !v.isDelimitedAfter(end, r) {
		return false
	}
	word := v.wordBefore(start)
	return word == "" || r.isKeyOrName(word)
}

// isDelimitedAfter reports whether no prose follows the offset end. The line may end there, or
// continue with punctuation or with a key, tool name or value of the request.
func (v *textVersion) isDelimitedAfter(end int, r *request) bool {
	next := strings.TrimLeft(v.text[end:], " \t")
	word := next[:len(next)-len(strings.TrimLeftFunc(next, isWordRune))]
	if word == "" || r.isKeyOrName(word) {
		return true
	}
	first, _ := NextWord(next)
	return slices.ContainsFunc(r.values, func(value value) bool { return value.words[0] == first })
}

// wordBefore returns the word before an offset. It returns "" if anything but blanks is between
// them.
func (v *textVersion) wordBefore(start int) string {
	before := strings.TrimRight(v.text[:start], " \t")
	return before[len(strings.TrimRightFunc(before, isWordRune)):]
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

// linkByWords sets the links of logged requests that were found in no call, by searching the text
// of replies. The link is named if the tool's name and every value are in a reply of the request's
// turn or, as in a team of models, in an earlier reply of another model. The link is unknown if the
// newest reply contains only a part, which may be a call in a form that cannot be read, or after
// maxComparedWords words were compared.
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

// olderMention returns the index of the newest reply before the last one that contains a whole
// request, among the replies of the request's turn and the earlier replies of other models. It
// returns -1 if there is none.
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
