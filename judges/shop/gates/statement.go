package gates

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/scripts"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// A passage argues in statements: a candidate, a property, a value of it, and a relation to the request or to
// another candidate. identity.go reads which product a title or place names, negation.go what is denied,
// comparison.go figures that are compared, contradiction.go statements that the results contradict, and
// this file which statements favour one of two candidates.

// pairs reports whether f holds for some product of candidate a and another product of b, the
// recommended one as chosen. If both or none were recommended, f is tried in both orders.
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

// meetsRequest reports whether sentence i says that the recommended one of a and b has what the
// customer asked for. It names a value or brand of the request that, in the results, the
// recommended one has and the other one lacks. It, or the sentence with index preference, also has
// a word such as "asked for", "only" or "not", since a mere list of values is no reason.
func (r *reading) meetsRequest(i, preference int, a, b *candidate) bool {
	const held = causeWord | rejectWord | contrastWord | negationWord | requireWord | onlyWord
	const refused = rejectWord | negationWord | onlyWord
	classes := r.sentences[i].classes
	if r.isRequested(a) && r.isRequested(b) {
		return false
	}
	isHeld := classes&held != 0 || r.sentences[preference].classes&refused != 0 || r.isDeniedNext(i, a, b)
	if !isHeld {
		return false
	}
	return slices.ContainsFunc(r.sentenceCites(i), func(c cite) bool {
		if !c.inRequest {
			return false
		}
		if c.kind == citeBrand {
			brand := r.folded[c.start:wordEnd(r.folded, int(c.start))]
			isWish := classes&requireWord != 0 && r.followsArticle(&c)
			return (isWish || r.isProperty(&c)) && r.pairs(a, b, func(chosen, other *product) bool { return chosen.isBrand(brand) && !other.isBrand(brand) })
		}
		bit := r.valueBit(&c)
		isKnown := c.token < 0 || classes&requireWord != 0
		return bit != 0 && isKnown && r.pairs(a, b, func(chosen, other *product) bool {
			return chosen.values&bit != 0 && other.values&bit == 0
		})
	})
}

// isDeniedNext reports whether the sentence after sentence i names a or b and denies it something, as in
// "A ships free. B does not."
func (r *reading) isDeniedNext(i int, a, b *candidate) bool {
	if i+1 >= len(r.sentences) || r.sentences[i+1].classes&negationWord == 0 {
		return false
	}
	return slices.Contains(a.sentences, i+1) || slices.Contains(b.sentences, i+1)
}

// isRequested reports whether a candidate is a brand that is in the request, which a passage may
// name without any result.
func (r *reading) isRequested(c *candidate) bool {
	return c.brand != "" && r.index.inRequest(c.brand)
}

// valueBit returns the bit that product.values has set for each product with the attribute value c,
// such as a colour. It returns 0 if c is no value, or one that products do not record.
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

// namesBoth reports whether sentence i names both candidates a and b.
func namesBoth(i int, a, b *candidate) bool {
	return slices.Contains(a.sentences, i) && slices.Contains(b.sentences, i)
}

// favours reports whether sentence i argues for the recommended one of a and b. It does if it has
// the amount by which that one is cheaper. Or it names both and sets them apart: by a lower price
// that the data confirm, by a comparative with "than" before one of them, by a negation of one of
// them, or by a contrast with a comparison, figures or a value. A plan never does, and a question
// only by a confirmed price.
func (r *reading) favours(i int, a, b *candidate) bool {
	classes := r.sentences[i].classes
	if r.statesDifference(i, a, b) {
		return true
	}
	if !namesBoth(i, a, b) || classes&(evenWord|seenWord|checkWord|graderWord) != 0 {
		return false
	}
	isCheaper := func(chosen, other *product) bool { return chosen.cents > 0 && chosen.cents < other.cents }
	switch {
	case r.isQuestion(i):
		return classes&causeWord != 0 && r.isCheaper(i, a, b)
	case r.isPlan(i):
		return false
	case classes&(compareWord|negationWord|lessWord|moreWord) == compareWord && r.isComparedWith(i, a, b):
		return true
	case classes&contrastWord != 0 && classes&negationWord != 0 && !r.hasMark(i, compareWord|preferWord):
		return true
	case r.isOpposed(i, a, b):
		return true
	case classes&cheapWord != 0 && classes&negationWord == 0 && r.pairs(a, b, isCheaper):
		return true
	case classes&(lessWord|negationWord) == lessWord && r.isCheaper(i, a, b):
		return true
	case classes&(contrastWord|onlyWord) == 0:
		return false
	case classes&compareWord != 0:
		return classes&negationWord == 0
	}
	figures := slicesx.CountFunc(r.sentenceCites(i), func(c *cite) bool { return c.kind == citePrice })
	hasFigures := figures > 1 && !r.isDearer(i, a, b)
	return hasFigures || r.tellsApart(i, a, b)
}

// isComparedWith reports whether sentence i names candidate a or b at most maxGap words after a
// word such as "than".
func (r *reading) isComparedWith(i int, a, b *candidate) bool {
	return slices.ContainsFunc(r.sentenceMarks(i), func(m mark) bool {
		return m.class&thanWord != 0 && slices.ContainsFunc(r.sentenceCites(i), func(c cite) bool {
			return (r.mentions(&c, a) || r.mentions(&c, b)) && r.wordsBetween(m.end, c.start) <= maxGap
		})
	})
}

// isOpposed reports whether one clause of sentence i names a and another one b, and exactly one of the two
// clauses has a negation after the name, as in "A ships free, B does not".
func (r *reading) isOpposed(i int, a, b *candidate) bool {
	if r.hasMark(i, compareWord|preferWord|labelWord) {
		return false
	}
	var isNamed, isDenied [2]bool
	var clauses []span
	for _, c := range r.sentenceCites(i) {
		for k, candidate := range [...]*candidate{a, b} {
			if !r.mentions(&c, candidate) {
				continue
			}
			clause := r.clause(&c)
			clauses = slicesx.AppendUnique(clauses, clause)
			isNamed[k] = true
			isDenied[k] = isDenied[k] || r.classesIn(i, span{c.end, clause.end})&negationWord != 0
		}
	}
	return len(clauses) > 1 && isNamed == [2]bool{true, true} && isDenied[0] != isDenied[1]
}

// isQuestion reports whether sentence i has the question mark of any script.
func (r *reading) isQuestion(i int) bool {
	s := &r.sentences[i]
	return strings.ContainsFunc(r.text[s.start:s.end], scripts.IsQuestionMark)
}

// hasMark reports whether sentence i has a listed word of one of the classes (such as refusal),
// whether or not a negation precedes it.
func (r *reading) hasMark(i int, classes class) bool {
	return r.classesIn(i, r.sentences[i].span)&classes != 0
}

// tellsApart reports whether sentence i has an attribute value that only one of candidates a and b
// has in the results.
func (r *reading) tellsApart(i int, a, b *candidate) bool {
	return slices.ContainsFunc(r.sentenceCites(i), func(c cite) bool {
		bit := r.valueBit(&c)
		return bit != 0 && r.pairs(a, b, func(chosen, other *product) bool {
			return chosen.values&bit != other.values&bit
		})
	})
}
