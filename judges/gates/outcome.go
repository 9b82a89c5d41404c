package gates

import "slices"

// progress is how far the search for a reasoned choice came.
type progress uint8

const (
	noCandidates progress = iota
	noReason
	notRecommended
	notCheaper
)

// String returns the text of a judgement's detail.
func (p progress) String() string {
	return [...]string{
		"no step names two returned candidates",
		"two candidates are named in one step, but none is preferred to a rival for a stated reason",
		"two candidates are weighed, but neither is what was recommended",
		"the candidate recommended is preferred as the cheaper one, and costs more",
	}[p]
}

// revision is a choice between two candidates, of which the one not preferred was
// recommended. It counts if later thinking returns to that one.
type revision struct {
	finding
	// recommended and preferred index the products of the fact index.
	recommended, preferred int32
}

// leadToOutcome reports whether the preference of sentence i, for the reason of
// sentence k, led to what was recommended: one of both candidates is, and if a
// lower price is the only reason, it costs no more than the other. Each language
// has its own ways to mark which one is preferred, but one sign is common to all:
// a sentence that names both and then one again concludes for that one. If
// nothing was recommended, any preference counts.
func (r *reading) leadToOutcome(a, b *candidate, i, k int) bool {
	cheaperOnly := r.isOnlyCheaper(k)
	repeated := r.namedAgain(k, a, b)
	if repeated != b && r.isOutcome(a, b, i, cheaperOnly) {
		return true
	}
	return repeated != a && r.isOutcome(b, a, i, cheaperOnly)
}

// namedAgain returns the candidate that a sentence with a lower price ends on
// after it named both; nil if there is none.
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

// mentions reports whether a cite names a candidate.
func (r *reading) mentions(c *cite, candidate *candidate) bool {
	switch c.kind {
	case citeID:
		return c.product >= 0 && slices.Contains(candidate.products, c.product)
	case citeBrand:
		return candidate.brand != "" && r.folded[c.start:c.end] == candidate.brand
	case citeShop, citePrice, citeCode, citeValue, citeUnknown:
	}
	return false
}

// isOutcome reports whether a was recommended and is a rival of b, and if
// cheaperOnly is set, costs no more than b. Otherwise it notes how far it came.
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

// isOnlyCheaper reports whether a sentence has no other reason than a lower price.
func (r *reading) isOnlyCheaper(i int) bool {
	const otherReason = rejectWord | contrastWord | requireWord
	s := &r.sentences[i]
	if s.classes&cheapWord == 0 || s.classes&otherReason != 0 {
		return false
	}
	hasValue, _ := r.citedGrounds(i)
	compares := func(m mark) bool {
		return m.class&compareWord != 0 && m.class&cheapWord == 0
	}
	return !hasValue && !slices.ContainsFunc(r.sentenceMarks(i), compares)
}

// findRevision looks for the thinking that reverses an earlier choice: it names
// the product recommended, not the one preferred before, and concludes for it.
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

// sentenceNaming returns the first sentence that cites a product by its id or
// brand.
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

// concludesAfter reports whether sentence i, which cites more of a product than
// its id, or the next one makes the choice.
func (r *reading) concludesAfter(i int) bool {
	isDetail := func(c cite) bool {
		return c.kind != citeID && c.kind != citeUnknown && !c.inRequest
	}
	isChoice := func(s sentence) bool { return s.classes&chooseWord != 0 }
	end := min(i+2, len(r.sentences))
	return slices.ContainsFunc(r.sentenceCites(i), isDetail) && slices.ContainsFunc(r.sentences[i:end], isChoice)
}
