package lexical

import (
	"fmt"
	"slices"
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
		isOtherLetter := slices.ContainsFunc(removed, isLetter) && slices.ContainsFunc(added, isLetter)
		if isWord || isOtherLetter {
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
		isThere := false
		for _, o := range other.words {
			isThere = isThere || o != nil && (o.text == w.text || areSimilar(w, o))
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
