package gates

import (
	"slices"
	"strings"
)

// isCheaper reports whether the recommended one of two candidates is named as the cheaper one: it
// costs less, and sentence i and its neighbours name the prices of both. For a brand with several
// products, one such pair is enough. If nothing was recommended, either candidate may be the
// cheaper one.
func (r *reading) isCheaper(i int, a, b *candidate) bool {
	return r.pairs(a, b, func(chosen, other *product) bool {
		return chosen.cents < other.cents && r.namesPrice(i, chosen) && r.namesPrice(i, other)
	})
}

// isDearer reports whether the thinking names the prices of a product of candidate a and of one of
// b in sentence i or a neighbouring sentence, and the recommended one of the two costs more.
func (r *reading) isDearer(i int, a, b *candidate) bool {
	return r.pairs(a, b, func(chosen, other *product) bool {
		return chosen.cents > other.cents && r.namesPrice(i, chosen) && r.namesPrice(i, other)
	})
}

// statesDifference reports whether sentence i has a figure that is not in the request and is the
// amount by which the recommended one of candidates a and b is cheaper.
func (r *reading) statesDifference(i int, a, b *candidate) bool {
	tokens := r.sentenceTokens(i)
	return slices.ContainsFunc(tokens, func(t token) bool {
		if t.number.count == 0 || r.amount(t.number.readings[0]).inRequest {
			return false
		}
		isDifference := r.isDifference(i, &t)
		return r.pairs(a, b, func(chosen, other *product) bool {
			difference := other.cents - chosen.cents
			return chosen.cents > 0 && difference > 0 && t.number.isAbout(difference, isDifference)
		})
	})
}

// isDifference reports whether the words next to the figure t of sentence i make it a difference: a
// word for less or more right after it ("91 less") or a word for cheaper right before it.
func (r *reading) isDifference(i int, t *token) bool {
	return slices.ContainsFunc(r.sentenceMarks(i), func(m mark) bool {
		const relation = lessWord | moreWord
		isAfter := m.class&relation != 0 && r.wordsBetween(t.textEnd(), m.start) == 0
		return isAfter || m.class&cheapWord != 0 && r.wordsBetween(m.end, t.start) == 0
	})
}

// isAbout reports whether the number is the given amount in hundredths or differs from it by less
// than one unit, as a rounded whole number does. Whole numbers of one or two digits are in almost
// any text, so they match only if isDifference is true: the words around the number say that it is
// a difference.
func (n *number) isAbout(cents int64, isDifference bool) bool {
	return slices.ContainsFunc(n.readings[:n.count], func(reading int64) bool {
		if reading%100 != 0 {
			return reading == cents
		}
		return (n.digits > 2 || isDifference) && reading-cents < 100 && cents-reading < 100
	})
}

// exceedsLimit reports whether sentence i rejects a candidate (a or b) because its price violates
// an amount of the request, as in "612 is above the budget of 90". The sentence names that
// candidate or its price, and has a word for more, a word of refusal or ">". The amount is in it or
// in the sentence before, and the price of the recommended candidate respects it.
func (r *reading) exceedsLimit(i int, a, b *candidate) bool {
	s := &r.sentences[i]
	isAbove := s.classes&(moreWord|rejectWord) != 0 || strings.Contains(r.text[s.start:s.end], ">")
	isBelow := s.classes&rejectWord != 0
	if !isAbove && !isBelow {
		return false
	}
	tokens := r.tokens[r.sentences[max(0, i-1)].tokens.start:s.tokens.end]
	return r.pairs(a, b, func(chosen, other *product) bool {
		isLimit := func(t token) bool {
			limit := t.number.readings[0]
			if t.number.count == 0 || chosen.cents == 0 || other.cents == 0 || !r.amount(limit).inRequest {
				return false
			}
			exceeds := isAbove && chosen.cents <= limit && limit < other.cents
			return exceeds || isBelow && other.cents < limit && limit <= chosen.cents
		}
		return (r.namesPrice(i, other) || r.names(i, other)) && slices.ContainsFunc(tokens, isLimit)
	})
}

// takesLowerPrice reports whether sentence i chooses the recommended one of a and b by its price
// alone, as in "the one at 39.5". The sentence has a word of choice and names no id or brand, and
// the price of the other candidate is higher and is named in it, in the next or in one of the three
// sentences before.
func (r *reading) takesLowerPrice(i int, a, b *candidate) bool {
	cites := r.sentenceCites(i)
	byPrice := slices.ContainsFunc(cites, func(c cite) bool { return c.kind == citePrice && c.product >= 0 })
	if !byPrice || slices.ContainsFunc(cites, func(c cite) bool { return c.namesProduct() }) {
		return false
	}
	return r.sentences[i].classes&chooseWord != 0 && r.pairs(a, b, func(chosen, other *product) bool {
		return chosen.cents < other.cents && r.namesPrice(i, chosen) && (r.namesPrice(i, other) || r.namesPrice(i-2, other))
	})
}

// names reports whether sentence i mentions the product p by id, title, price or place in a list.
func (r *reading) names(i int, p *product) bool {
	return slices.ContainsFunc(r.sentenceCites(i), func(c cite) bool {
		return c.product >= 0 && &r.index.products[c.product] == p
	})
}

// namesPrice reports whether sentence i, the one before or the one after mentions the price of p.
// It is false if no price of p is known.
func (r *reading) namesPrice(i int, p *product) bool {
	for k := max(0, i-1); k < min(i+2, len(r.sentences)); k++ {
		isPrice := func(c cite) bool {
			return c.kind == citePrice && c.token >= 0 && r.tokens[c.token].number.isPrice(p.cents)
		}
		if slices.ContainsFunc(r.sentenceCites(k), isPrice) {
			return true
		}
	}
	return false
}

// compareFigures reads the comparisons in sentence i, such as "90 is below 120" or "A is cheaper
// than B". isTrue is set if one agrees with the figures and prices, isFalse if one contradicts
// them; both may be set.
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

// compared returns the two amounts, in hundredths, that the comparison word m of sentence i
// compares, such as 90 and 120 in "90 is below 120". all has the sentence's figures and the
// products with their prices. An amount is 0 if there is none. In "X is cheaper than Y", X is
// compared with Y; without "than", X is compared only with a figure right after the word, as in
// "below 90".
func (r *reading) compared(i int, m *mark, all []quantity) (before, after int64) {
	start := m.end
	limit := 1
	for _, n := range r.sentenceMarks(i) {
		if n.class&thanWord != 0 && n.start >= m.start && r.wordsBetween(m.end, max(n.start, m.end)) <= 1 {
			start = max(start, n.end)
			limit = maxGap + 1
		}
	}
	if m.class&compareWord != 0 && limit == 1 {
		return 0, 0
	}
	for _, q := range all {
		isAmount := before > 0 && !q.isCandidate && r.wordsBetween(q.end, m.start) == 0 // "A costs 91 less than B"
		if q.end <= m.start && r.wordsBetween(q.end, m.start) <= maxGap && !isAmount {
			before = q.cents
		}
		if after == 0 && q.start >= start && r.wordsBetween(start, q.start) < limit {
			after = q.cents
		}
	}
	return before, after
}

// quantity is an amount of a sentence: a figure, or a named product with its price.
type quantity struct {
	span
	// cents is the figure or the product's price, in hundredths.
	cents int64
	// isCandidate is set for a named product.
	isCandidate bool
}

// quantities returns, in order, the figures of sentence i and the products that it names, each with
// its price. Products without a known price and numbers that may be ids are left out.
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
