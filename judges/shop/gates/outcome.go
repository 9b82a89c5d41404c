package gates

import (
	"slices"
	"strings"
	"unicode"
)

// progress is how far the reasoning got towards a reasoned choice (gate 4, the last test of the
// reasoning) before it failed. The conditions are tested in the order of the constants: two
// candidates are named, one of them is preferred for a reason, that one was recommended, and it
// costs no more than the other if its price is the reason.
type progress uint8

const (
	noCandidates progress = iota
	noReason
	notRecommended
	notCheaper
)

// String returns the text for the detail of a judgement that fails gate 4.
func (p progress) String() string {
	return [...]string{
		"no step names two returned candidates",
		"two candidates are named in one step, but none is preferred to a rival for a stated reason",
		"two candidates are weighed, but neither is what was recommended",
		"the candidate recommended is preferred as the cheaper one, and costs more",
	}[p]
}

// revision is a preference for the cheaper of two candidates that the agent did not follow: it
// recommended the other one, which costs more. The preference counts as a reasoned choice (gate 4,
// the last test of the reasoning) only if later thinking chooses the recommended one.
type revision struct {
	finding
	// recommended and preferred are indexes of factIndex.products.
	recommended, preferred int32
}

// leadToOutcome reports whether sentence i, which prefers a or b for the reason in sentence k,
// agrees with what the agent recommended. Which one a sentence prefers cannot be parsed in every
// language, so it is enough that a or b was recommended, or that nothing was. If a lower price is
// the only reason, the recommended one must cost no more than the other; if sentence k then names
// one of the two once more after both, that one must be the recommended one. It records in
// r.progress and r.revisions why a check fails.
func (r *reading) leadToOutcome(a, b *candidate, i, k int) bool {
	cheaperOnly := r.isOnlyCheaper(k)
	repeated := r.namedAgain(k, a, b)
	if repeated != b && r.isOutcome(a, b, i, cheaperOnly) {
		return true
	}
	return repeated != a && r.isOutcome(b, a, i, cheaperOnly)
}

// namedAgain returns the candidate, a or b, to which sentence i returns: the one that it names
// last, at least the second time, after naming both. It returns nil if there is none, or if the
// sentence gives another reason than a lower price.
func (r *reading) namedAgain(i int, a, b *candidate) *candidate {
	if !r.isOnlyCheaper(i) {
		return nil
	}
	var last *candidate
	mentions := map[*candidate]int{}
	for _, c := range r.sentenceCites(i) {
		for _, candidate := range [...]*candidate{a, b} {
			if r.mentions(&c, candidate) {
				mentions[candidate]++
				last = candidate
			}
		}
	}
	if len(mentions) < 2 || mentions[last] < 2 {
		return nil
	}
	return last
}

// mentions reports whether a cite (a mention of returned data) names a candidate by its brand, or
// by the id, title or place in a list of one of its products. A price names no candidate.
func (r *reading) mentions(c *cite, candidate *candidate) bool {
	if c.product >= 0 {
		return c.kind != citePrice && slices.Contains(candidate.products, c.product)
	}
	return c.kind == citeBrand && candidate.brand != "" && r.folded[c.start:c.end] == candidate.brand
}

// isOutcome reports whether a product of candidate a was recommended, competes with a product of b
// and, with cheaperOnly set, costs no more than that one as far as prices are known. If nothing was
// recommended, every product counts as recommended. If a check fails, it raises r.progress to that
// check, and for the price adds the preference in sentence i to r.revisions.
func (r *reading) isOutcome(
	a, b *candidate,
	i int,
	cheaperOnly bool,
) bool {
	for _, p := range a.products {
		for _, q := range b.products {
			recommended := &r.index.products[p]
			rival := &r.index.products[q]
			costsMore := rival.cents > 0 && recommended.cents > rival.cents
			switch {
			case p == q || !r.isRival(recommended, rival):
			case len(r.chosen) > 0 && !slices.Contains(r.chosen, recommended.id):
				r.progress = max(r.progress, notRecommended)
			case cheaperOnly && costsMore:
				r.progress = max(r.progress, notCheaper)
				s := r.sentences[i].span
				f := r.evidence(s, s, "weighs two returned candidates, and a later step says why it took the other")
				r.revisions = append(r.revisions, revision{*f, p, q})
			default:
				return true
			}
		}
	}
	return false
}

// isOnlyCheaper reports whether sentence i gives a lower price as the reason for a choice, and no
// other reason.
func (r *reading) isOnlyCheaper(i int) bool {
	s := &r.sentences[i]
	if s.classes&(cheapWord|lessWord) == 0 || s.classes&requireWord != 0 {
		return false
	}
	hasValue := slices.ContainsFunc(r.sentenceCites(i), func(c cite) bool {
		return c.kind == citeValue || c.kind == citeCode || c.kind == citeBrand && c.inRequest && r.isProperty(&c)
	})
	marks := r.sentenceMarks(i)
	isOther := func(m mark) bool {
		if m.class&(rejectWord|contrastWord) != 0 {
			return !r.joinsRivals(i, &m) && !isPartOf(&m, marks, compareWord)
		}
		return m.class&compareWord != 0 && m.class&(cheapWord|lessWord) == 0
	}
	return !hasValue && !slices.ContainsFunc(marks, isOther)
}

// joinsRivals reports whether the contrast or refusal m of sentence i only joins what is compared,
// as in "1240 against 1080", "612, and not 345" and "612 より安い": a candidate or price precedes it,
// and a comparative or another candidate follows, or one ends the clause of m.
func (r *reading) joinsRivals(i int, m *mark) bool {
	isJoined := slices.ContainsFunc(r.sentenceMarks(i), func(n mark) bool {
		return n.class&compareWord != 0 && r.wordsBetween(m.end, n.start) <= 1
	})
	isAfter := false
	for _, c := range r.sentenceCites(i) {
		gap := r.wordsBetween(m.end, c.start)
		isDenied := r.classesIn(i, span{m.end, c.start})&negationWord != 0 // "而不选612"
		isNear := gap <= 1 || isDenied && gap <= maxGap+1
		if !isNear || !c.isCandidate() {
			continue
		}
		isJoined = isJoined || gap == 0
		isAfter = isAfter || !strings.ContainsFunc(r.text[c.end:r.clause(&c).end], unicode.IsLetter)
	}
	return isAfter || isJoined && slices.ContainsFunc(r.sentenceCites(i), func(c cite) bool {
		return c.isCandidate() && r.wordsBetween(c.end, m.start) <= maxGap
	})
}

// findRevision sets e.choice if a passage explains why the agent did not take the cheaper product
// that earlier thinking preferred: it names the product that was recommended, does not name the
// cheaper one, and mentions returned data with a word of choice.
func (e *evaluator) findRevision(r *reading) {
	for i := range e.revisions {
		v := &e.revisions[i]
		sentence, ok := r.sentenceNaming(v.recommended)
		if !ok || !r.concludesAfter(sentence) {
			continue
		}
		if _, ok := r.sentenceNaming(v.preferred); !ok {
			e.choice = &v.finding
			return
		}
	}
}

// sentenceNaming finds the first sentence of the passage that mentions a product by id or brand.
// product is an index of r.index.products. ok is false if there is none.
func (r *reading) sentenceNaming(product int32) (sentence int, ok bool) {
	p := &r.index.products[product]
	i := slices.IndexFunc(r.cites, func(c cite) bool {
		return c.kind == citeID && c.product == product || c.kind == citeBrand && p.isBrand(r.folded[c.start:c.end])
	})
	if i < 0 {
		return 0, false
	}
	return r.cites[i].sentence, true
}

// concludesAfter reports whether sentence i mentions data that a tool returned and the request does
// not have, other than an id, and sentence i or the next one has a word of choice, such as "keep".
func (r *reading) concludesAfter(i int) bool {
	isDetail := func(c cite) bool {
		return c.kind != citeID && c.kind != citeUnknown && !c.inRequest
	}
	isChoice := func(s sentence) bool { return s.classes&chooseWord != 0 }
	end := min(i+2, len(r.sentences))
	return slices.ContainsFunc(r.sentenceCites(i), isDetail) && slices.ContainsFunc(r.sentences[i:end], isChoice)
}
