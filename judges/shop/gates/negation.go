package gates

import (
	"slices"
	"strings"
)

// maxGap is the maximum number of words between a negation and the word that it negates, or between a
// comparison and what it compares.
const maxGap = 2

// dropNegated sets s.classes to the meanings of the sentence's listed words (marks), except for
// words that do not count. A negated preference, comparison or choice does not count, nor does a
// negation that denies a preference. A negated choice is no refusal, since "I will not take either"
// refuses none for the other. A comparison of ids or titles counts as a word on listing order
// (seenWord), and a property word in a label such as "its title" is no reason.
func (p *passage) dropNegated(s *sentence, marks []mark) {
	s.classes = 0
	for i := range marks {
		m := &marks[i]
		isRelation := m.class&(preferWord|compareWord) != 0
		switch {
		case isRelation && p.isNegated(m, marks):
		case m.class&chooseWord != 0 && p.isNegated(m, marks):
			s.classes |= m.class &^ chooseWord
		case m.class&negationWord != 0 && p.negates(m, marks, preferWord):
		case m.class&negationWord != 0 && p.negates(m, marks, chooseWord):
			s.classes |= m.class &^ rejectWord
		case m.class&(compareWord|cheapWord) == compareWord && p.comparesLabels(m, marks):
			s.classes |= seenWord
		case m.class&groundWord != 0 && isLabel(m, marks):
			s.classes |= m.class &^ groundWord
		default:
			s.classes |= m.class
		}
	}
}

// isNegated reports whether a negation denies the mark m, or m is the beginning of one, as "won" of "won't".
func (p *passage) isNegated(m *mark, marks []mark) bool {
	return slices.ContainsFunc(marks, func(n mark) bool {
		isPart := n.start == m.start && n.end > m.end
		return n.class&negationWord != 0 && (isPart || p.denies(&n, m))
	})
}

// negates reports whether the negation n denies any of the marks (listed words of a sentence) that
// has this class, such as a word of choice.
func (p *passage) negates(n *mark, marks []mark, class class) bool {
	return slices.ContainsFunc(marks, func(m mark) bool { return m.class&class != 0 && p.denies(n, &m) })
}

// denies reports whether the negation n applies to the mark m, a word at most maxGap words after it
// in the same clause. If m is a word of choice and a figure is between the two, n denies the figure
// and not the choice, as in "not 612 but take 345".
func (p *passage) denies(n, m *mark) bool {
	if n.end > m.start || p.wordsBetween(n.end, m.start) > maxGap {
		return false
	}
	return m.class&chooseWord == 0 || !strings.ContainsAny(p.folded[n.end:m.start], "0123456789")
}

// isLabel reports whether the word m names a label of the shop's listing and not the product, as
// "title" in "its title". marks are the listed words of its sentence.
func isLabel(m *mark, marks []mark) bool {
	return slices.ContainsFunc(marks, func(n mark) bool {
		return n.class&labelWord != 0 && n.start < m.end && m.start < n.end
	})
}

// comparesLabels reports whether the comparison m is of labels of the listing and not of the
// products, as in "its number is smaller" and "the lower id".
func (p *passage) comparesLabels(m *mark, marks []mark) bool {
	return slices.ContainsFunc(marks, func(n mark) bool {
		overlaps := n.start < m.end && m.start < n.end
		isNear := overlaps || p.wordsBetween(n.end, m.start) <= 1 || p.wordsBetween(m.end, n.start) <= 1
		return n.class&labelWord != 0 && isNear
	})
}

// wordsBetween counts the words of the text between two byte offsets. Each character of a script
// without blanks counts as a word. It returns maxSentence, which is above every limit, if the end of a clause or a
// bracket is between them, or start is after end.
func (p *passage) wordsBetween(start, end int32) int {
	if start > end {
		return maxSentence
	}
	gap := p.folded[start:end]
	if strings.ContainsFunc(gap, endsClause) {
		return maxSentence
	}
	words := len(strings.Fields(gap))
	for _, c := range gap {
		if unspaced(c) {
			words++
		}
	}
	return words
}
