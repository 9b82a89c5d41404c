package gates

import (
	"slices"
	"strings"
)

// A passage argues in statements: a candidate, a property, a value of it, and a relation to the
// request or to another candidate. This file reads what a statement needs beyond the classes of its
// words, and holds it against the results: which product a title, price or place names, what is
// denied, which values tell two candidates apart, and which comparisons are false.

const (
	// minTitle is the minimum number of words after the brand with which a title names one product.
	minTitle = 2
	// maxGap is the maximum number of words between a negation and the word that it negates.
	maxGap = 2
)

// citeTitle sets c.product if the text from the brand c on has the first words of the title of
// exactly one product, not all of them words of the request.
func (r *reading) citeTitle(c *cite) {
	longest := minTitle - 1
	end := c.end
	for i := range r.index.products {
		p := &r.index.products[i]
		if p.step >= r.step || p.title == "" || !p.isBrand(r.folded[c.start:c.end]) || r.index.partialBudget == 0 {
			continue
		}
		r.index.partialBudget--
		words, textEnd := r.commonWords(p.title, c)
		if c.inRequest && !r.hasNewWord(c.token, textEnd) {
			continue
		}
		switch {
		case words > longest:
			longest = words
			end = textEnd
			c.product = int32(i)
		case words == longest:
			c.product = -1
		}
	}
	if c.product >= 0 {
		c.end = end
	}
}

// hasNewWord reports whether a token from the given one up to a byte offset is not in the request.
func (r *reading) hasNewWord(token int, end int32) bool {
	for _, t := range r.tokens[token:] {
		if t.start >= end {
			return false
		}
		if t.word >= 0 && !r.index.words[t.word].inRequest {
			return true
		}
	}
	return false
}

// dropInTitles removes from r.cites the values and codes inside the title of a product: such a title
// names the product and says nothing of it.
func (r *reading) dropInTitles() {
	var titles []span
	for i := range r.cites {
		if c := &r.cites[i]; c.kind == citeBrand && c.product >= 0 {
			titles = append(titles, c.span)
		}
	}
	if titles == nil {
		return
	}
	r.cites = slices.DeleteFunc(r.cites, func(c cite) bool {
		return slices.ContainsFunc(titles, func(t span) bool { return t.start < c.start && c.end <= t.end })
	})
}

// commonWords counts the words after the first one of a title that follow the brand c in the
// passage, and returns the end of the last of them.
func (r *reading) commonWords(title string, c *cite) (count int, end int32) {
	title = fold(title)
	at := leadingWordEnd(title)
	end = c.end
	for k := c.token + 1; k < len(r.tokens); k++ {
		for at < len(title) && wordEnd(title, at) == at {
			at++
		}
		t := &r.tokens[k]
		next := wordEnd(title, at)
		if at == len(title) || title[at:next] != r.folded[t.start:t.end] {
			break
		}
		count++
		end = t.end
		at = next
	}
	return count, end
}

// citeOrdinal appends to r.cites the product that a word such as "the second" points at: of the last
// two products that the passage names before, or else of the last list of results. In a sentence to
// a grader such a word points at nothing.
func (r *reading) citeOrdinal(sentence int, m *mark) {
	if r.sentences[sentence].classes&graderWord != 0 {
		return
	}
	var named []int32
	for _, c := range r.cites {
		if c.product >= 0 && c.end <= m.start && c.kind != citePrice && c.kind != citeOrdinal {
			named = slices.DeleteFunc(named, func(p int32) bool { return p == c.product })
			named = append(named, c.product)
		}
	}
	if len(named) > 1 {
		named = named[len(named)-2:]
	} else {
		named = r.index.lastList(r.step)
	}
	if int(m.ordinal) > len(named) {
		return
	}
	r.cites = append(r.cites, cite{
		span: span{m.start, m.end}, kind: citeOrdinal, sentence: sentence, token: -1, product: named[m.ordinal-1],
	})
}

// onlyWithPrice returns the product whose price is cents, as an index of r.index.products, or -1 if
// none or several of the earlier results have that price.
func (r *reading) onlyWithPrice(cents int64) int32 {
	found := int32(-1)
	for i := range r.index.products {
		if p := &r.index.products[i]; p.step < r.step && p.cents == cents {
			if found >= 0 {
				return -1
			}
			found = int32(i)
		}
	}
	return found
}

// dropNegated sets the classes of a sentence to those of its marks that count: a negated preference
// or comparison says nothing, and neither does a comparison of names or numbers of the listing.
// A negated choice is a refusal.
func (p *passage) dropNegated(s *sentence, marks []mark) {
	s.classes = 0
	for i := range marks {
		m := &marks[i]
		isRelation := m.class&(preferWord|compareWord) != 0
		switch {
		case isRelation && p.isNegated(m, marks):
		case m.class&negationWord != 0 && p.negatesPreference(m, marks):
		case m.class&(compareWord|cheapWord) == compareWord && p.comparesLabels(m, marks):
			s.classes |= seenWord
		default:
			s.classes |= m.class
		}
	}
}

// isNegated reports whether a negation stands shortly before m in its clause.
func (p *passage) isNegated(m *mark, marks []mark) bool {
	return slices.ContainsFunc(marks, func(n mark) bool {
		return n.class&negationWord != 0 && n.end <= m.start && p.wordsBetween(n.end, m.start) <= maxGap
	})
}

// negatesPreference reports whether a preference stands shortly after the negation n in its clause.
func (p *passage) negatesPreference(n *mark, marks []mark) bool {
	return slices.ContainsFunc(marks, func(m mark) bool {
		return m.class&preferWord != 0 && n.end <= m.start && p.wordsBetween(n.end, m.start) <= maxGap
	})
}

// comparesLabels reports whether the comparison m is of marks of the listing, as in "its number is
// smaller" and "the lower id".
func (p *passage) comparesLabels(m *mark, marks []mark) bool {
	return slices.ContainsFunc(marks, func(n mark) bool {
		overlaps := n.start < m.end && m.start < n.end
		isNear := overlaps || p.wordsBetween(n.end, m.start) <= 1 || p.wordsBetween(m.end, n.start) <= 1
		return n.class&labelWord != 0 && isNear
	})
}

// wordsBetween counts the words of the text between two byte offsets of one clause. It returns a
// number above every limit if a clause ends between them or start is not before end.
func (p *passage) wordsBetween(start, end int32) int {
	if start > end {
		return maxSentence
	}
	gap := p.folded[start:end]
	if strings.ContainsAny(gap, ",;:(") {
		return maxSentence
	}
	return len(strings.Fields(gap))
}

// pairs reports whether f holds for a product of a and a rival product of b, of which the first was
// recommended if anything was, or the other way round.
func (r *reading) pairs(a, b *candidate, f func(chosen, other *product) bool) bool {
	for _, p := range a.products {
		for _, q := range b.products {
			if p == q {
				continue
			}
			first := &r.index.products[p]
			second := &r.index.products[q]
			if r.isChosen(first) && f(first, second) {
				return true
			}
			if r.isChosen(second) && f(second, first) {
				return true
			}
		}
	}
	return false
}

func (r *reading) isChosen(p *product) bool {
	return len(r.chosen) == 0 || slices.Contains(r.chosen, p.id)
}

// meetsRequest reports whether sentence i holds a and b against the request: it names a value of the
// request that of a and b only the chosen one has in the results, and this sentence or that of the
// preference has a word of the wish, a contrast or a refusal. A list of values is no reason.
func (r *reading) meetsRequest(i, preference int, a, b *candidate) bool {
	const held = causeWord | rejectWord | contrastWord | negationWord | requireWord | onlyWord
	const refused = rejectWord | negationWord | onlyWord
	classes := r.sentences[i].classes
	if r.isRequested(a) && r.isRequested(b) {
		return false
	}
	if classes&held == 0 && r.sentences[preference].classes&refused == 0 {
		return false
	}
	if !r.saysWhich(i, preference, a, b) {
		return false
	}
	return slices.ContainsFunc(r.sentenceCites(i), func(c cite) bool {
		if !c.inRequest {
			return false
		}
		if c.kind == citeBrand {
			brand := r.folded[c.start:wordEnd(r.folded, int(c.start))]
			return r.isProperty(&c) && r.pairs(a, b, func(chosen, other *product) bool { return chosen.isBrand(brand) && !other.isBrand(brand) })
		}
		bit := r.valueBit(&c)
		isKnown := c.token < 0 || classes&requireWord != 0
		return bit != 0 && isKnown && r.pairs(a, b, func(chosen, other *product) bool {
			return chosen.values&bit != 0 && other.values&bit == 0
		})
	})
}

// saysWhich reports whether sentence i names a or b, follows a refusal of one of them directly, or
// stands beside a sentence that names both and denies one of them something, as in "They asked for
// wood. A has it, B does not."
func (r *reading) saysWhich(i, preference int, a, b *candidate) bool {
	if slices.Contains(a.sentences, i) || slices.Contains(b.sentences, i) || i == preference+1 {
		return true
	}
	const denied = rejectWord | negationWord | contrastWord | preferWord
	for _, k := range [...]int{i - 1, i + 1} {
		if slices.Contains(a.sentences, k) && slices.Contains(b.sentences, k) && r.sentences[k].classes&denied != 0 {
			return true
		}
	}
	return false
}

// isRequested reports whether a candidate is a brand of the request, which a passage may name without
// any result.
func (r *reading) isRequested(c *candidate) bool {
	return c.brand != "" && r.index.inRequest(c.brand)
}

// valueBit returns the bit that the products with the value c have in product.values, or 0 if c is
// no value that products record.
func (r *reading) valueBit(c *cite) uint64 {
	if c.kind != citeValue {
		return 0
	}
	if c.token >= 0 {
		return r.index.words[r.tokens[c.token].word].bit
	}
	for _, m := range r.sentenceMarks(c.sentence) {
		if m.concept != 0 && m.start == c.start && m.end == c.end {
			return r.index.words[r.index.slots[r.lexicon.values[m.concept]]].bit
		}
	}
	return 0
}

// isCheaper reports whether sentence i and those next to it name the prices of both a and b, and the
// chosen one costs less; isDearer whether the chosen one costs more.
func (r *reading) isCheaper(i int, a, b *candidate) bool {
	return r.pairs(a, b, func(chosen, other *product) bool {
		return chosen.cents < other.cents && r.namesPrice(i, chosen) && r.namesPrice(i, other)
	})
}

func (r *reading) isDearer(i int, a, b *candidate) bool {
	return r.pairs(a, b, func(chosen, other *product) bool {
		return chosen.cents > other.cents && r.namesPrice(i, chosen) && r.namesPrice(i, other)
	})
}

// statesDifference reports whether sentence i has the amount by which the chosen one of a and b is
// cheaper.
func (r *reading) statesDifference(i int, a, b *candidate) bool {
	tokens := r.sentenceTokens(i)
	return r.pairs(a, b, func(chosen, other *product) bool {
		difference := other.cents - chosen.cents
		return chosen.cents > 0 && difference > 0 && slices.ContainsFunc(tokens, func(t token) bool {
			n := &t.number
			return slices.Contains(n.readings[:n.count], difference)
		})
	})
}

func (r *reading) namesPrice(i int, p *product) bool {
	for k := max(0, i-1); k < min(i+2, len(r.sentences)); k++ {
		isPrice := func(c cite) bool {
			return c.kind == citePrice && c.token >= 0 && slices.Contains(r.tokens[c.token].number.readings[:], p.cents)
		}
		if slices.ContainsFunc(r.sentenceCites(k), isPrice) {
			return true
		}
	}
	return false
}

// isFalse reports whether the data contradict sentence i about a and b.
func (r *reading) isFalse(i int, a, b *candidate) bool {
	_, isFalse := r.compareFigures(i)
	return isFalse || r.isFalseValue(i, a, b)
}

// compareFigures reports whether sentence i says of a figure or candidate that it is lower or higher
// than the one after it, and whether the figures agree (isTrue) or say the opposite (isFalse).
func (r *reading) compareFigures(i int) (isTrue, isFalse bool) {
	const relation = lessWord | moreWord
	s := &r.sentences[i]
	if s.classes&relation == 0 && !strings.ContainsAny(r.text[s.start:s.end], "<>") {
		return false, false
	}
	all := r.quantities(i)
	marks := r.sentenceMarks(i)
	for k := range marks {
		m := &marks[k]
		if m.class&relation == 0 || r.isNegated(m, marks) {
			continue
		}
		before, after := r.compared(i, m, all)
		if before == 0 || after == 0 {
			continue
		}
		agrees := m.class&lessWord != 0 && before < after || m.class&moreWord != 0 && before > after
		isTrue = isTrue || agrees
		isFalse = isFalse || !agrees
	}
	return isTrue, isFalse || r.hasFalseSign(all)
}

// compared returns the quantities of sentence i, shortly before and after the relation m, that it
// compares; one of them is 0 if there is none. "X is cheaper than Y" compares X with Y; without
// "than" only a figure right after the word is compared, as in "below 90".
func (r *reading) compared(i int, m *mark, all []quantity) (before, after int64) {
	start := m.end
	limit := 1
	for _, n := range r.sentenceMarks(i) {
		if n.class&thanWord != 0 && n.start >= m.start && r.wordsBetween(m.end, max(n.start, m.end)) == 0 {
			start = max(start, n.end)
			limit = maxGap + 1
		}
	}
	if m.class&compareWord != 0 && limit == 1 {
		return 0, 0
	}
	for _, q := range all {
		if q.end <= m.start && r.wordsBetween(q.end, m.start) <= maxGap {
			before = q.cents
		}
		if after == 0 && q.start >= start && r.wordsBetween(start, q.start) < limit {
			after = q.cents
		}
	}
	return before, after
}

// quantity is a figure of a sentence, or a candidate with its price.
type quantity struct {
	span
	cents       int64
	isCandidate bool
}

// quantities returns the figures and the candidates with a price of sentence i in their order.
func (r *reading) quantities(i int) []quantity {
	var all []quantity
	cites := r.sentenceCites(i)
	tokens := r.sentenceTokens(i)
	for k := range tokens {
		t := &tokens[k]
		q := quantity{span: t.span}
		for _, c := range cites {
			if c.start == t.start && c.product >= 0 && c.kind != citePrice {
				q = quantity{c.span, r.index.products[c.product].cents, true}
			}
		}
		if n := &t.number; !q.isCandidate && n.count == 1 && n.digits < minID {
			q.cents = n.readings[0]
		}
		if q.cents > 0 {
			all = append(all, q)
		}
	}
	return all
}

// isFalseValue reports whether sentence i says a value of the candidate named shortly before it, and
// of a and b only the other one has it in the results.
func (r *reading) isFalseValue(i int, a, b *candidate) bool {
	const turns = negationWord | onlyWord | preferWord | rejectWord | contrastWord | causeWord
	cites := r.sentenceCites(i)
	for k := range cites {
		bit := r.valueBit(&cites[k])
		if bit == 0 {
			continue
		}
		for _, c := range cites {
			if c.product < 0 || c.kind == citePrice || r.wordsBetween(c.end, cites[k].start) > maxGap {
				continue
			}
			other := a
			if slices.Contains(a.products, c.product) {
				other = b
			}
			if len(other.products) != 1 || r.classesIn(i, span{c.end, cites[k].start})&turns != 0 {
				continue
			}
			if r.index.products[c.product].values&bit == 0 && r.index.products[other.products[0]].values&bit != 0 {
				return true
			}
		}
	}
	return false
}

// hasFalseSign reports whether two quantities of a sentence stand as in "61 < 50" or "50 > 61". A
// sign between candidates ranks them and is no comparison of figures.
func (r *reading) hasFalseSign(all []quantity) bool {
	for k := 1; k < len(all); k++ {
		a := &all[k-1]
		b := &all[k]
		if a.isCandidate || b.isCandidate || a.end > b.start {
			continue
		}
		switch strings.TrimSpace(r.text[a.end:b.start]) {
		case "<":
			return a.cents >= b.cents
		case ">":
			return a.cents <= b.cents
		}
	}
	return false
}
