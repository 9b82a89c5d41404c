package lexical

import (
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// replacedInCopy describes the first place at which the text p has another word than the request b,
// as `"red" became "blue"`. It ignores words that occur elsewhere in the other text. A letter that
// replaces a letter counts: "U neck" is not "V neck". template is the share of word pairs that both
// have; below copyTemplate the text is no copy of the request, and the result is "". It is also ""
// if there is no such place.
func replacedInCopy(b, p *profile, template float64) string {
	if template < copyTemplate {
		return ""
	}
	for _, gap := range differences(b, p) {
		removed := b.lackedBy(p, gap.base)
		added := p.lackedBy(b, gap.text)
		isWord := len(removed) > 0 && slices.ContainsFunc(added, isContent)
		isWish := template >= verbatimTemplate && len(added) > 0 && slices.ContainsFunc(removed, isProper)
		isOtherLetter := slices.ContainsFunc(removed, isLetter) && slices.ContainsFunc(added, isLetter)
		if isWord || isWish || isOtherLetter {
			return fmt.Sprintf("%q became %q", joinWords(removed), joinWords(added))
		}
	}
	return ""
}

// span is a range of tokens in a text: from start up to but not including end.
type span struct{ start, end int }

// difference is one place at which a request and a text differ, between words that both have. It
// has two ranges of tokens: those that only the request has there, and those that only the text has
// there. One of them may be empty.
type difference struct{ base, text span }

// differences returns the places at which a request b and a text p differ: those before, between
// and after the tokens of a longest common subsequence of the two. A place may be empty on either
// side.
func differences(b, p *profile) (out []difference) {
	n := len(b.tokens)
	m := len(p.tokens)
	// length[i*(m+1)+j] is the length of the longest common subsequence of b.tokens[i:] and p.tokens[j:].
	length := make([]int, (n+1)*(m+1))
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			longest := max(length[(i+1)*(m+1)+j], length[i*(m+1)+j+1])
			if b.isSameToken(i, p, j) {
				longest = max(longest, length[(i+1)*(m+1)+j+1]+1)
			}
			length[i*(m+1)+j] = longest
		}
	}

	var last difference
	i := 0
	j := 0
	for i < n && j < m {
		switch {
		case b.isSameToken(i, p, j) && length[i*(m+1)+j] == length[(i+1)*(m+1)+j+1]+1:
			out = append(out, difference{span{last.base.end, i}, span{last.text.end, j}})
			i++
			j++
			last = difference{span{i, i}, span{j, j}}
		case length[(i+1)*(m+1)+j] >= length[i*(m+1)+j+1]:
			i++
		default:
			j++
		}
	}
	return append(out, difference{span{last.base.end, n}, span{last.text.end, m}})
}

// isSameToken reports whether token i of p and token j of other are equal or similar words, or
// equal numbers.
func (p *profile) isSameToken(i int, other *profile, j int) bool {
	v := p.words[i]
	w := other.words[j]
	if v == nil || w == nil {
		return v == w && p.tokens[i].value == other.tokens[j].value
	}
	return v.text == w.text || areSimilar(v, w)
}

// lackedBy returns those words among the given tokens of p that are missing in other: no word of
// other is equal or similar to them.
func (p *profile) lackedBy(other *profile, tokens span) (out []*word) {
	for i := tokens.start; i < tokens.end; i++ {
		w := p.words[i]
		if w == nil {
			continue
		}
		isThere := other.hasJoined(w)
		for _, o := range other.words {
			isThere = isThere || o != nil && (o.text == w.text || other.mayMean(o, w) || p.hasPart(w, o))
		}
		if !isThere {
			out = append(out, w)
		}
	}
	return out
}

func isContent(w *word) bool { return w.content }

// isLetter reports whether w is a single letter other than "a" and "i", which are English words.
func isLetter(w *word) bool { return len(w.text) == 1 && w.text != "a" && w.text != "i" }

// maxChangedWords is the maximum number of words that a copy of a request may omit, or add, and
// still count as asking for the same.
const maxChangedWords = 1

// wordDifference describes the content words of the request b that the text p replaced, or returns
// "". In a copy of the request (template of at least copyTemplate) it reports missing words
// together with added ones, or more than maxChangedWords that are only missing or only added: a
// single one ("grey condition") proves little. A text in other wording nearly always has missing
// and added words (see replacedWish).
func wordDifference(b, p *profile, template float64) string {
	if template < copyTemplate {
		return ""
	}
	missing := missingWords(b, p, template)
	extra := missingWords(p, b, template)
	isWish := func(w *word) bool {
		return !loadLexicon().talk[w.text] && !loadLexicon().attributes[w.text] && !b.hasSpelling(w)
	}
	switch {
	case len(missing) > 0 && len(extra) > 0:
		return fmt.Sprintf("%q became %q", joinWords(missing), joinWords(extra))
	case len(missing) > maxChangedWords:
		return fmt.Sprintf("%q is missing", joinWords(missing))
	case slices.ContainsFunc(extra, isWish):
		return fmt.Sprintf("%q was added", joinWords(extra))
	}
	return ""
}

// missingWords returns the content words of a that are similar to no content word of b. In a
// verbatim copy (template of at least verbatimTemplate), each word of b can match only one word of
// a.
func missingWords(a, b *profile, template float64) []*word {
	var used []bool
	if template >= verbatimTemplate {
		used = make([]bool, len(b.content))
	}
	return slicesx.FilterMap(a.content, func(w *word) (*word, bool) {
		isPart := func(o *word) bool { return a.hasPart(w, o) }
		return w, !b.hasMeaning(w, used) && !b.hasJoined(w) && !slices.ContainsFunc(b.content, isPart)
	})
}

// hasMeaning reports whether a content word of the text is similar to w. If used is not nil, it has
// one element for each content word: words whose element is true are skipped, and the element of
// the first match is set to true.
func (p *profile) hasMeaning(w *word, used []bool) bool {
	for i, o := range p.content {
		if used != nil && used[i] || !p.mayMean(o, w) {
			continue
		}
		if used != nil {
			used[i] = true
		}
		return true
	}
	return false
}
