package gates

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/scripts"
	"github.com/trajectory-arena/arena/internal/slicesx"
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
		case m.class&(preferWord|chooseWord) != 0 && (p.isSupposed(s, m, marks, deferWord) || p.isCopula(m)):
			s.classes |= m.class &^ (preferWord | chooseWord)
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
// without blanks counts as a word. It returns maxSentence, which is above every limit, if there are
// more than maxAsked, the end of a clause or a bracket is between them, or start is after end.
func (p *passage) wordsBetween(start, end int32) int {
	if start > end {
		return maxSentence
	}
	words := 0
	inWord := false
	for _, c := range p.folded[start:end] {
		if endsClause(c) || words > maxAsked {
			return maxSentence
		}
		isSpace := unicode.IsSpace(c)
		if !isSpace && !inWord {
			words++
		}
		inWord = !isSpace
		if unspaced(c) {
			words++
		}
	}
	return words
}

// maxAsked is the maximum number of words between a negation and a decision if a word such as "which"
// among them asks for the decision, as in "not sure yet which one to pick".
const maxAsked = 5

// decision is what a listed word (mark) says of the agent's choice.
type decision uint8

const (
	// noDecision says nothing of the choice, or only supposes one, or refuses a single candidate.
	noDecision decision = iota
	// madeDecision chooses or prefers.
	madeDecision
	// openDecision denies that a choice was made, puts it off, or refuses what was recommended.
	openDecision
)

// isUndecided reports whether sentence i chooses nothing, whatever it compares, because the last decision
// of the passage is left open near it and no decision stands between the two.
func (r *reading) isUndecided(i int) bool {
	if !r.mayBeOpen {
		return false
	}
	if r.undecided == nil {
		open := r.findOpen()
		r.undecided = &open
	}
	return i >= int(r.undecided.start) && i < int(r.undecided.end)
}

// findOpen returns the index range of the sentences around the one that leaves the last decision of the
// passage open: at most maxDistance on either side, and only those after the last decision before it. The
// range is empty if the last decision is a choice, or if there is none.
func (r *reading) findOpen() span {
	open := len(r.sentences) - 1
	last := noDecision
	for ; open >= 0; open-- {
		if last = r.lastDecision(open); last != noDecision {
			break
		}
	}
	if last != openDecision {
		return span{}
	}
	start := max(0, open-maxDistance)
	for i := start; i < open; i++ {
		if r.sentences[i].classes&chooseWord != 0 && r.lastDecision(i) == madeDecision {
			start = i + 1
		}
	}
	return span{int32(start), int32(open + maxDistance + 1)}
}

// lastDecision returns what the last word of sentence i that says anything of the choice says of it. Only
// a sentence that prefers a candidate makes a decision.
func (r *reading) lastDecision(i int) decision {
	if r.concludes(i) || r.concludesFromCause(i) {
		return madeDecision
	}
	marks := r.sentenceMarks(i)
	for k := len(marks) - 1; k >= 0; k-- {
		d := r.decision(i, &marks[k])
		if d == openDecision || d == madeDecision && r.prefers(i) {
			return d
		}
	}
	return noDecision
}

// decision returns what the listed word m of sentence i says of the choice, by the words that precede it
// in its clause. A word that puts off leaves it open, also after a word for deciding ("choose later"). So
// does a negation, unless the clause refuses one candidate that was not recommended, or one for another.
func (r *reading) decision(i int, m *mark) decision {
	const decides = chooseWord | preferWord | decideWord
	marks := r.sentenceMarks(i)
	switch {
	case m.class&(decideWord|deferWord) == decideWord|deferWord:
		return openDecision // "undecided"
	case m.class&decides == 0 || isInner(m, marks) || r.isCopula(m):
		return noDecision
	}
	s := &r.sentences[i]
	scope := r.scope(s, m)
	isSupposed := r.isSupposed(s, m, marks, 0)
	isChoice := m.class&(chooseWord|decideWord) != 0
	switch {
	case isChoice && r.isPutOff(i, m, scope, isSupposed):
		return openDecision
	case r.isDenied(m, marks):
		if isChoice && r.deniesChoice(i, m, scope) {
			return openDecision
		}
		return noDecision
	case isSupposed || m.class&(chooseWord|preferWord) == 0:
		return noDecision
	case m.class&decideWord == 0 && r.classesIn(i, span{scope.start, m.start})&(chooseWord|decideWord) != 0:
		return noDecision // a choice before it in its clause says more, as in "too early to pick 612 over 345"
	}
	return madeDecision
}

// isPutOff reports whether sentence i puts off the choice m. A word such as "too early" precedes it
// within its scope, or follows there a word for deciding or a supposed choice ("choose later"). Or the
// sentence announces a decision, or says when it will be made, without a candidate that is chosen, as in
// "I will choose between 612 and 345" and "I decide once I know".
func (r *reading) isPutOff(i int, m *mark, scope span, isSupposed bool) bool {
	after := span{m.end, scope.end}
	decides := m.class&decideWord != 0
	count, _ := r.namedIn(i, after)
	isUnnamed := decides && count != 1 && r.classesIn(i, after)&preferWord == 0
	if isUnnamed && count > 1 && r.classesIn(i, span{scope.start, m.start})&planWord != 0 {
		return true
	}
	return slices.ContainsFunc(r.sentenceMarks(i), func(n mark) bool {
		if n.class&deferWord == 0 || n.start < scope.start || n.end > scope.end {
			return false
		}
		isAfter := n.start >= m.end
		if n.class&ifWord != 0 { // "until", "once"
			return isAfter && isUnnamed
		}
		return n.end <= m.start || isAfter && (isSupposed || decides)
	})
}

// isDenied reports whether a negation denies the choice or preference m: right before it, before a
// question for it ("not sure which to pick"), or after it, as in "nehme nicht" and "take neither".
func (p *passage) isDenied(m *mark, marks []mark) bool {
	asks := func(n *mark) bool {
		return slices.ContainsFunc(marks, func(q mark) bool {
			return q.class&ifWord != 0 && q.start >= n.end && q.end <= m.start
		})
	}
	return slices.ContainsFunc(marks, func(n mark) bool {
		if n.class&negationWord == 0 || isInner(&n, marks) {
			return false
		}
		isVerb := m.class&(decideWord|actWord) != 0
		isAfter := isVerb && !strings.HasPrefix(p.folded[n.end:], " to ") && p.denies(m, &n)
		isBefore := p.denies(&n, m) && !p.hasOtherHead(n.end, m.start)
		isAsked := n.end <= m.start && p.wordsBetween(n.end, m.start) <= maxAsked && asks(&n)
		return isBefore || isAfter || isAsked
	})
}

// hasOtherHead reports whether the English words between two byte offsets make a negation deny something
// else than the choice after them: the noun of "not the best choice", or the need of "no need to choose".
func (p *passage) hasOtherHead(start, end int32) bool {
	return slices.ContainsFunc(strings.Fields(p.folded[start:end]), func(word string) bool {
		return word == "a" || word == "the" || word == "need"
	})
}

// deniesChoice reports whether the denied choice m of sentence i leaves the decision open. It does if it
// refuses the recommended candidate, which its clause names alone or first before a preference ("not 612
// over 345"), if the clause names several candidates alike, or none and m is a word for deciding.
func (r *reading) deniesChoice(i int, m *mark, scope span) bool {
	count, first := r.namedIn(i, scope)
	after := r.classesIn(i, span{m.end, scope.end})
	switch {
	case count == 0: // "did not decide by the price" denies the reason only
		return m.class&decideWord != 0 && after&(groundWord|requireWord) == 0
	case count > 1 && after&preferWord == 0 || after&ifWord != 0:
		return true
	}
	return first >= 0 && slices.Contains(r.chosen, r.index.products[first].id)
}

// namedIn returns how many products sentence i names in a byte range, or how many brands if it names no
// product, and the index of the first product in factIndex.products, -1 if there is none.
func (r *reading) namedIn(i int, part span) (count int, first int32) {
	var products []int32
	brands := 0
	for _, c := range r.sentenceCites(i) {
		switch {
		case c.start < part.start || c.end > part.end || c.kind == citePrice:
		case c.product >= 0:
			products = slicesx.AppendUnique(products, c.product)
		case c.kind == citeBrand:
			brands++
		}
	}
	if len(products) == 0 {
		return brands, -1
	}
	return len(products), products[0]
}

// isSupposed reports whether the choice or preference m of sentence s is only supposed or asked for: the
// sentence is a question, a word such as "if" precedes m in its clause or follows it after a plan ("I
// would take 612 if …"), or the clause says what the customer may prefer. Words of the classes in
// except suppose nothing.
func (p *passage) isSupposed(s *sentence, m *mark, marks []mark, except class) bool {
	const supposes = ifWord | mightWord
	if p.asks(s, marks) {
		return true
	}
	if !slices.ContainsFunc(marks, func(n mark) bool { return n.class&supposes != 0 }) {
		return false
	}
	scope := p.scope(s, m)
	var before class
	for k := range marks {
		n := &marks[k]
		isIf := n.class&ifWord != 0 && n.class&except == 0
		switch {
		case n.start < scope.start || n.end > scope.end || isInner(n, marks):
		case isIf && n.end <= m.start:
			return true
		case isIf && n.start >= m.end && before&planWord != 0 && n.class&deferWord == 0:
			return true
		case n.start <= m.start:
			before |= n.class
		}
	}
	return before&mightWord != 0 && before&requireWord != 0
}

// asks reports whether a sentence ends with the question mark of any script, does not begin with a word
// for a cause ("Why pay 412 for that?"), and no negation answers it. marks are its listed words.
func (p *passage) asks(s *sentence, marks []mark) bool {
	last, _ := utf8.DecodeLastRuneInString(p.folded[s.start:s.end])
	if !scripts.IsQuestionMark(last) {
		return false
	}
	isWhy := len(marks) > 0 && marks[0].class&causeWord != 0
	answer := p.marks[s.marks.end:]
	isDenied := len(answer) > 0 && answer[0].class&negationWord != 0 && p.wordsBetween(s.end, answer[0].start) == 0
	return !isWhy && !isDenied
}

// isInner reports whether the mark m is part of a longer one that is a negation, a contrast or a cause,
// as "won" of "won't" and "if" of "even if".
func isInner(m *mark, marks []mark) bool {
	return isPartOf(m, marks, negationWord|contrastWord|causeWord)
}

// isCopula reports whether the mark m ends in "is" and a word in lower case follows, as in "it is cheaper".
// "It is 612" and "so 612 it is" choose.
func (p *passage) isCopula(m *mark) bool {
	next := strings.TrimLeft(p.text[m.end:], " ")
	return strings.HasSuffix(p.folded[m.start:m.end], " is") && next != "" && next[0] >= 'a' && next[0] <= 'z'
}

// isPartOf reports whether the mark m is part of a longer one of the classes.
func isPartOf(m *mark, marks []mark, classes class) bool {
	return slices.ContainsFunc(marks, func(n mark) bool {
		isLonger := n.start <= m.start && n.end >= m.end && n.end-n.start > m.end-m.start
		return isLonger && n.class&classes != 0
	})
}

// scope returns the byte range of the words that can deny, put off or suppose the choice m of sentence s:
// the text around it up to the next comma, colon or word for a contrast or a cause. Brackets and
// commas of figures are part of it.
func (p *passage) scope(s *sentence, m *mark) span {
	scope := s.span
	depth := 0
	text := p.folded[s.start:s.end]
	for k, c := range text {
		at := s.start + int32(k)
		end := at + int32(utf8.RuneLen(c))
		switch {
		case c == '(' || c == '（':
			depth++
		case c == ')' || c == '）':
			depth--
		case depth > 0 || !endsClause(c) || isInFigure(text, k):
		case end <= m.start:
			scope.start = end
		case at >= m.end:
			scope.end = at
			depth = len(text)
		}
	}
	marks := p.marks[s.marks.start:s.marks.end]
	for k := range marks {
		n := &marks[k]
		if n.class&(contrastWord|causeWord) == 0 || isPartOf(n, marks, deferWord) {
			continue
		}
		if n.end <= m.start {
			scope.start = max(scope.start, n.end)
		} else if n.start >= m.end {
			scope.end = min(scope.end, n.start)
		}
	}
	return scope
}

// isInFigure reports whether byte k of a text is between two digits.
func isInFigure(text string, k int) bool {
	return k > 0 && k+1 < len(text) && isDigit(text[k-1]) && isDigit(text[k+1])
}
