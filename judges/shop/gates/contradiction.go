package gates

import (
	"slices"
	"strings"
)

// isFalse reports whether the tool results contradict sentence i: a comparison of figures in it, or
// what it states of the price or the values of candidate a or b.
func (r *reading) isFalse(i int, a, b *candidate) bool {
	_, isFalse := r.compareFigures(i)
	return isFalse || r.isFalseValue(i, a, b) || r.isFalseComparative(i, a, b)
}

// copulas are words for "is" in the languages in which a comparative follows its subject, with a blank
// before and after each.
const copulas = " is was 's ist es est è é jest "

// hasCopula reports whether the first word of a text is a word for "is". The text is what a
// sentence has between a product and a comparative.
func hasCopula(text string) bool {
	words := strings.Fields(text)
	return len(words) > 0 && strings.Contains(copulas, " "+words[0]+" ")
}

// opposite returns the product that the mention c names, and the product to compare it with. The
// first must belong to one of the candidates a and b; the second is the only product of the other
// candidate. ok is false if c is a price, names no product of a or b, or if the other candidate has
// no product or several.
func (r *reading) opposite(c *cite, a, b *candidate) (named, other *product, ok bool) {
	if c.kind == citePrice || c.kind != citeBrand && c.product < 0 {
		return nil, nil, false
	}
	subject := a
	rival := b
	if !r.isOf(c, a) {
		subject = b
		rival = a
	}
	if !r.isOf(c, subject) || len(subject.products) != 1 || len(rival.products) != 1 {
		return nil, nil, false
	}
	return &r.index.products[subject.products[0]], &r.index.products[rival.products[0]], true
}

// isFalseComparative reports whether sentence i calls one of a and b the cheaper or the dearer one, as
// in "612 is the cheaper one of the two", and the prices say the opposite.
func (r *reading) isFalseComparative(i int, a, b *candidate) bool {
	const relation = lessWord | moreWord
	const maxWords = 3
	marks := r.sentenceMarks(i)
	cites := r.sentenceCites(i)
	for k := range marks {
		m := &marks[k]
		if m.class&relation == 0 || m.class&compareWord == 0 || r.isNegated(m, marks) {
			continue
		}
		for n := range cites {
			named, other, ok := r.opposite(&cites[n], a, b)
			if !ok || named.cents == 0 || other.cents == 0 || r.wordsBetween(cites[n].end, m.start) > maxWords {
				continue
			}
			isLess := named.cents < other.cents
			saysLess := m.class&lessWord != 0
			if isLess != saysLess && named.cents != other.cents && hasCopula(r.folded[cites[n].end:m.start]) {
				return true
			}
		}
	}
	return false
}

// isFalseValue reports whether sentence i ascribes an attribute value, such as a colour, to the
// wrong candidate: it names a or b, the value follows at most maxGap words later, and in the tool
// results only the other one has it. A negation or contrast between name and value prevents this.
func (r *reading) isFalseValue(i int, a, b *candidate) bool {
	return slices.ContainsFunc(r.ascriptions(i), func(x ascription) bool {
		named, other, ok := r.opposite(x.name, a, b)
		return ok && named.values&x.bit == 0 && other.values&x.bit != 0
	})
}

// ascription is a value that a sentence ascribes to a product, as in "612 is black". bit is that of
// the value.
type ascription struct {
	name *cite
	bit  uint64
}

// ascriptions returns the ascriptions of sentence i. They are cached, since each two candidates are compared.
func (r *reading) ascriptions(i int) []ascription {
	if known, ok := r.ascribed[i]; ok {
		return known
	}
	const turns = requireWord | negationWord | onlyWord | preferWord | rejectWord | contrastWord | causeWord
	var all []ascription
	cites := r.sentenceCites(i)
	for k := range cites {
		value := &cites[k]
		bit := r.valueBit(value)
		if bit == 0 || r.isDeniedAfter(value) {
			continue
		}
		for n := range cites {
			name := &cites[n]
			isNear := name.end <= value.start && r.wordsBetween(name.end, value.start) <= maxGap
			if isNear && r.classesIn(i, span{name.end, value.start})&turns == 0 {
				all = append(all, ascription{name, bit})
			}
		}
	}
	if r.ascribed == nil {
		r.ascribed = map[int][]ascription{}
	}
	r.ascribed[i] = all
	return all
}

// isDeniedAfter reports whether a negation follows the value c, as in "timer no" and "coin pocket:
// no", and ends the clause.
func (r *reading) isDeniedAfter(c *cite) bool {
	s := &r.sentences[c.sentence]
	return slices.ContainsFunc(r.sentenceMarks(c.sentence), func(m mark) bool {
		if m.class&negationWord == 0 || m.start < c.end {
			return false
		}
		gap := strings.Trim(r.folded[c.end:m.start], " :=-–|")
		rest := strings.TrimLeft(r.folded[m.end:max(m.end, s.end)], " ") // a phrase may begin in the sentence and end after it
		isLast := rest == "" || !isWordByte(rest[0])
		return isLast && strings.Count(gap, " ") == 0 && !strings.ContainsFunc(gap, endsClause)
	})
}

// hasFalseSign reports whether the first "<" or ">" that is alone between two figures of a sentence
// is false, as in "61 < 50". all are the sentence's figures and priced products. A sign next to a
// product only ranks products and is not checked.
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
