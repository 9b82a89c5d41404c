package gates

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// maxDistance is the maximum number of sentences from the preference to a
// candidate or to the reason: farther apart they do not belong together.
const maxDistance = 4

// findChoice looks for the evidence of the fourth gate: the passage names two
// rivals, prefers one for a reason near the preference that the data supports,
// and one of the two was recommended.
func (e *evaluator) findChoice(r *reading) {
	candidates := r.candidates()
	for i := range candidates {
		for k := i + 1; k < len(candidates); k++ {
			e.progress = max(e.progress, noReason)
			if choice, ok := r.reasonedChoice(&candidates[i], &candidates[k]); ok {
				e.choice = r.evidence(choice, choice, "weighs two returned candidates and prefers one for a reason")
				return
			}
		}
	}
}

// reasonedChoice finds a preference with a reason in the sentences around two
// candidates, and returns the text of both. A bare list of what each costs is
// none: outside the sentence of the preference a reason must be linked by a
// comparative, a cause, a refusal or a contrast.
func (r *reading) reasonedChoice(a, b *candidate) (choice span, ok bool) {
	for i := range r.sentences {
		if !a.isNear(i) || !b.isNear(i) {
			continue
		}
		if !r.prefers(i) && !r.concludes(i) {
			continue
		}
		if r.statesReason(i, true) && r.compares(i, a, b) && r.leadToOutcome(a, b, i, i) {
			return r.sentences[i].span, true
		}
		if r.isCauseNext(i) && r.leadToOutcome(a, b, i, i+1) {
			return r.join(i, i+1), true
		}
		last := min(i+maxDistance, len(r.sentences)-1)
		for k := max(0, i-maxDistance); k <= last; k++ {
			if k != i && r.statesReason(k, false) && r.leadToOutcome(a, b, i, k) {
				return r.join(i, k), true
			}
		}
	}
	return span{}, false
}

// compares reports whether a sentence does more than name one candidate with its
// brand and price: "my pick is 612 by Kota at 90" is no comparison with what the
// next sentence names.
func (r *reading) compares(i int, a, b *candidate) bool {
	const linked = compareWord | causeWord | contrastWord | rejectWord | requireWord
	if r.sentences[i].classes&linked != 0 {
		return true
	}
	if slices.Contains(a.sentences, i) && slices.Contains(b.sentences, i) {
		return true
	}
	return slices.ContainsFunc(r.sentenceCites(i), func(c cite) bool {
		return c.kind == citeValue || c.kind == citeCode
	})
}

// join returns the text from one sentence to another, in either order.
func (r *reading) join(i, k int) span {
	return span{r.sentences[min(i, k)].start, r.sentences[max(i, k)].end}
}

// isNear reports whether the candidate is named within maxDistance of sentence i.
func (c *candidate) isNear(i int) bool {
	k, _ := slices.BinarySearch(c.sentences, i-maxDistance)
	return k < len(c.sentences) && c.sentences[k] <= i+maxDistance
}

// maxConclusion is the maximum length in tokens of a sentence that only concludes
// from those before it.
const maxConclusion = 5

// concludes reports, for any language, whether sentence i only names one
// candidate after several were named before it.
func (r *reading) concludes(i int) bool {
	if r.sentences[i].length() > maxConclusion {
		return false
	}
	before := 0
	for k := max(0, i-maxDistance); k < i; k++ {
		before += r.countNamed(k)
	}
	return r.countNamed(i) == 1 && before > 1
}

// isCauseNext reports whether the sentence after i is nothing but a cause.
func (r *reading) isCauseNext(i int) bool {
	const cause = causeWord | groundWord
	if i+1 >= len(r.sentences) {
		return false
	}
	next := &r.sentences[i+1]
	return next.length() <= 2*maxConclusion && next.classes&(cause|seenWord|graderWord) == cause
}

// prefers reports whether sentence i chooses one candidate or ranks it above
// another. A sentence that names a single candidate needs a choice, a cause for
// refusing it, or no condition: finding a fault in one candidate chooses no other.
func (r *reading) prefers(i int) bool {
	const refused = contrastWord | requireWord
	const caused = rejectWord | causeWord

	s := &r.sentences[i]
	chooses := s.classes&chooseWord != 0
	isConclusion := chooses && s.length() <= maxConclusion
	if !isConclusion && !r.isAboutCandidates(i) || s.classes&evenWord != 0 {
		return false
	}
	hasSign := strings.ContainsAny(r.text[s.start:s.end], ">→") // "A > B", "-> first"
	if chooses || hasSign || r.opensWithCause(i) {
		return true
	}
	if s.classes&refused == refused {
		return r.countNamed(i) > 1 || s.classes&planWord == 0
	}
	if r.countNamed(i) > 1 {
		return s.classes&(preferWord|rejectWord) != 0 || r.concludesFromCause(i)
	}
	return s.classes&planWord == 0 && (s.classes&preferWord != 0 || s.classes&caused == caused)
}

// concludesFromCause reports, for any language, whether a causal word right
// before a candidate concludes for it: "hence 612…".
func (r *reading) concludesFromCause(i int) bool {
	for _, c := range r.sentenceCites(i) {
		if !c.namesProduct() {
			continue
		}
		for _, m := range r.sentenceMarks(i) {
			if m.class&causeWord != 0 && c.start >= m.end && c.start <= m.end+1 {
				return true
			}
		}
	}
	return false
}

// opensWithCause reports, for any language, whether a sentence opens with a
// candidate and gives a cause right after it, which implies the choice: "612…,
// because".
func (r *reading) opensWithCause(i int) bool {
	tokens := r.sentenceTokens(i)
	if len(tokens) == 0 {
		return false
	}
	for _, c := range r.sentenceCites(i) {
		if !c.namesProduct() || c.start > tokens[0].start {
			continue
		}
		for _, m := range r.sentenceMarks(i) {
			if m.class&causeWord != 0 && m.start >= c.end && m.start <= c.end+2 {
				return true
			}
		}
	}
	return false
}

// countNamed returns the number of ids and brands in a sentence, or of the words
// that point at candidates if there are more ("the former …, the latter …").
func (r *reading) countNamed(i int) int {
	named := slicesx.CountFunc(r.sentenceCites(i), (*cite).namesProduct)
	pointers := slicesx.CountFunc(r.sentenceMarks(i), func(m *mark) bool {
		return m.class&deicticWord != 0
	})
	if pointers > 1 {
		return max(named, pointers)
	}
	return named
}

// isAboutCandidates reports whether a sentence is about the candidates: it names
// one, quotes a returned price, or points at one ("the former") without
// intending to look further. General wisdom about choosing does none of these,
// and a sentence to a grader does not count.
func (r *reading) isAboutCandidates(i int) bool {
	if r.addressesGrader(i) {
		return false
	}
	s := &r.sentences[i]
	points := s.classes&deicticWord != 0 && (s.classes&planWord == 0 || s.classes&(causeWord|contrastWord) != 0)
	if points || r.lettered {
		return true
	}
	isNamed := func(c cite) bool {
		return c.namesProduct() || c.kind == citePrice
	}
	return slices.ContainsFunc(r.sentenceCites(i), isNamed)
}

// statesReason reports whether a sentence states a reason: a comparative, a
// cause, a refusal or a contrast that rests on price, brand, a value or the like.
// In the sentence of the preference itself, naming the price or value is enough.
// That a product was listed twice or first is no reason, nor are invented prices.
// A price in a result is one if it is linked to the preference or compared with
// another figure.
func (r *reading) statesReason(i int, samePreference bool) bool {
	if !r.isAboutCandidates(i) {
		return false
	}
	s := &r.sentences[i]
	if s.classes&(compareWord|seenWord) != 0 {
		return s.classes&compareWord != 0
	}
	hasValue, hasPrice := r.citedGrounds(i)
	hasGround := s.classes&(groundWord|moneyWord) != 0 || hasValue
	linked := s.classes&(causeWord|rejectWord|contrastWord) != 0
	if hasGround && (linked || samePreference) {
		return true
	}
	return hasPrice && (linked && samePreference || r.comparesFigures(i))
}

// comparesFigures reports whether a sign of order stands between a figure and
// what it is compared with: "61 > 50", "feli 1548 < kimazo 1678".
func (r *reading) comparesFigures(sentence int) bool {
	tokens := r.sentenceTokens(sentence)
	for k := 1; k < len(tokens); k++ {
		if tokens[k-1].number.count == 0 {
			continue
		}
		gap := r.textBetween(&tokens[k-1], &tokens[k])
		if strings.ContainsAny(gap, "<>≤≥") && !strings.Contains(gap, "->") {
			return true
		}
	}
	return false
}

// textBetween returns the text between two tokens; empty if one is part of the
// other.
func (p *passage) textBetween(a, b *token) string {
	start := a.textEnd()
	return p.text[start:max(start, b.start)]
}

// citedGrounds reports whether a sentence cites values, and prices that are in
// results.
func (r *reading) citedGrounds(i int) (hasValue, hasPrice bool) {
	for _, c := range r.sentenceCites(i) {
		switch c.kind {
		case citeValue, citeCode:
			hasValue = true
		case citeBrand:
			hasValue = hasValue || r.isProperty(&c)
		case citePrice:
			hasPrice = true
		case citeID, citeShop, citeUnknown:
		}
	}
	return hasValue, hasPrice
}
