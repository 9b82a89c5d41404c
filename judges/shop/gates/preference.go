package gates

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// maxDistance is the maximum number of sentences between one that prefers a product and one that
// names a candidate or gives the reason. Farther away they do not belong together.
const maxDistance = 4

// findChoice searches a passage for a reasoned choice, the evidence of the fourth gate (the last
// test of the reasoning), and stores it in e.choice. It needs two rival candidates, of which the
// passage prefers one for a reason near by, and of which one was recommended. If there is none, it
// raises e.progress to the first condition that is missing.
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

// reasonedChoice finds a sentence near both candidates that prefers one of them, and a sentence
// with the reason, which may be the same one. It returns the byte range from the one to the other.
// ok is false if there is no such pair, or if the results contradict a value that the passage
// ascribes to a or b.
func (r *reading) reasonedChoice(a, b *candidate) (choice span, ok bool) {
	for i := range r.sentences {
		if r.isFalseValue(i, a, b) {
			return span{}, false
		}
	}
	for i := range r.sentences {
		if !a.isNear(i) || !b.isNear(i) {
			continue
		}
		prefers := r.prefers(i) || r.concludes(i) || r.isHeldAgainst(i, a, b)
		if !prefers || r.isUndecided(i) {
			continue
		}
		if r.statesReason(i, i, a, b) && r.compares(i, a, b) && r.leadToOutcome(a, b, i, i) {
			return r.sentences[i].span, true
		}
		if r.isCauseNext(i, a, b) && r.leadToOutcome(a, b, i, i+1) {
			return r.join(i, i+1), true
		}
		last := min(i+maxDistance, len(r.sentences)-1)
		for k := max(0, i-maxDistance); k <= last; k++ {
			if k != i && r.statesReason(k, i, a, b) && r.leadToOutcome(a, b, i, k) {
				return r.join(i, k), true
			}
		}
	}
	return span{}, false
}

// compares reports whether sentence i does more than name one candidate with brand and price: it
// names both, chooses by a lower price or a limit, cites an attribute value, or has a comparative,
// a cause, a contrast, a refusal or a word for the customer's wish. "My pick is 612 by Kota at 90"
// compares nothing with the candidate of the next sentence.
func (r *reading) compares(i int, a, b *candidate) bool {
	const linked = compareWord | causeWord | contrastWord | rejectWord | requireWord
	if r.sentences[i].classes&linked != 0 {
		return true
	}
	if namesBoth(i, a, b) || r.takesLowerPrice(i, a, b) || r.exceedsLimit(i, a, b) || r.isOnlyOne(i, a, b) {
		return true
	}
	return slices.ContainsFunc(r.sentenceCites(i), func(c cite) bool {
		return c.kind == citeValue || c.kind == citeCode
	})
}

// isHeldAgainst reports whether sentence i compares a or b with the request or with each other so
// that the tool results speak for the recommended one, as in "345 lacks the colour that was asked
// for". Such a sentence prefers the recommended one, without need of a word of choice. A plan to
// look at a value does not count.
func (r *reading) isHeldAgainst(i int, a, b *candidate) bool {
	if r.favours(i, a, b) || r.exceedsLimit(i, a, b) {
		return true
	}
	classes := r.sentences[i].classes
	if classes&(evenWord|seenWord|checkWord) != 0 || r.isPlan(i) || r.isFalse(i, a, b) {
		return false
	}
	const refused = requireWord | rejectWord | groundWord
	isNamed := slices.Contains(a.sentences, i) || slices.Contains(b.sentences, i)
	if classes&refused == refused && isNamed || r.lacks(i, a, b) {
		return true
	}
	return (isNamed || classes&(requireWord|onlyWord) != 0) && r.meetsRequest(i, i, a, b)
}

// lacks reports whether sentence i rejects a candidate because of one of its properties. It has a
// word of refusal or contrast, names the candidate (a or b) that was not recommended, and names an
// attribute value that, in the tool results, that candidate has and the recommended one lacks.
func (r *reading) lacks(i int, a, b *candidate) bool {
	if r.sentences[i].classes&(rejectWord|contrastWord) == 0 {
		return false
	}
	return r.pairs(a, b, func(chosen, other *product) bool {
		return r.names(i, other) && slices.ContainsFunc(r.sentenceCites(i), func(c cite) bool {
			bit := r.valueBit(&c)
			return bit != 0 && other.values&bit != 0 && chosen.values&bit == 0
		})
	})
}

// isPlan reports whether sentence i has a word of intention ("next", "I'll") that is not also a
// word for the customer's wish, and has neither a contrast nor a refusal.
func (r *reading) isPlan(i int) bool {
	if r.sentences[i].classes&(contrastWord|rejectWord) != 0 {
		return false
	}
	marks := r.sentenceMarks(i)
	return slices.ContainsFunc(marks, func(m mark) bool {
		isWish := func(n mark) bool { return n.class&requireWord != 0 && n.start == m.start }
		return m.class&planWord != 0 && !slices.ContainsFunc(marks, isWish)
	})
}

// join returns the byte range from sentence i to sentence k, in either order.
func (r *reading) join(i, k int) span {
	return span{r.sentences[min(i, k)].start, r.sentences[max(i, k)].end}
}

// isNear reports whether a sentence at most maxDistance before or after sentence i names the
// candidate.
func (c *candidate) isNear(i int) bool {
	k, _ := slices.BinarySearch(c.sentences, i-maxDistance)
	return k < len(c.sentences) && c.sentences[k] <= i+maxDistance
}

// maxConclusion is the maximum number of words and figures of a sentence that only states a
// conclusion from the sentences before it, such as "So 612."
const maxConclusion = 5

// concludes reports whether sentence i only states a conclusion ("So 612."): it has at most
// maxConclusion words and figures, names one candidate and announces no check. The four sentences
// before it must name candidates at least twice in total, or once if they have a refusal, negation,
// contrast or requirement or sentence i has a word for a cause.
func (r *reading) concludes(i int) bool {
	const argued = rejectWord | negationWord | requireWord | contrastWord
	if r.sentences[i].length() > maxConclusion || r.sentences[i].classes&checkWord != 0 || r.isRow(i) {
		return false
	}
	before := 0
	isArgued := r.sentences[i].classes&causeWord != 0
	for k := max(0, i-maxDistance); k < i; k++ {
		before += r.countNamed(k)
		isArgued = isArgued || r.sentences[k].classes&argued != 0
	}
	if isArgued {
		before++
	}
	return before > 1 && r.namesOne(i)
}

// namesOne reports whether sentence i names exactly one candidate. The brand of a product next to
// its id is the same one.
func (r *reading) namesOne(i int) bool {
	cites := r.sentenceCites(i)
	named := r.countNamed(i)
	if named < 2 {
		return named == 1 || r.countProducts(cites) == 1
	}
	first := slices.IndexFunc(cites, func(c cite) bool { return c.kind == citeID && c.product >= 0 })
	return first >= 0 && !slices.ContainsFunc(cites, func(c cite) bool {
		isOther := c.kind == citeID && c.product != cites[first].product
		return isOther || c.kind == citeBrand && !r.index.products[cites[first].product].isBrand(r.folded[c.start:c.end])
	})
}

// isRow reports whether sentence i is one of several that list the data of candidates, such as "612
// 58 mm 690": it chooses and compares nothing, and a sentence near it names another candidate with
// data of the same kinds.
func (r *reading) isRow(i int) bool {
	const argues = chooseWord | preferWord | causeWord | rejectWord | contrastWord | compareWord
	cites := r.sentenceCites(i)
	if len(cites) < 2 || r.sentences[i].classes&argues != 0 || !cites[0].namesProduct() {
		return false
	}
	for k := max(0, i-maxGap); k < min(i+maxGap+1, len(r.sentences)); k++ {
		other := r.sentenceCites(k)
		if k != i && len(other) > 1 && other[0].kind == cites[0].kind && other[len(other)-1].kind == cites[len(cites)-1].kind {
			return true
		}
	}
	return false
}

// isCauseNext reports whether the sentence after sentence i gives a reason for it, as "Because of
// the price" does: it has at most ten tokens, a causal word ("because"), a word for a property that
// can be a reason ("price"), and no word on listing order or to a grader. A sentence that the data
// contradict gives no reason.
func (r *reading) isCauseNext(i int, a, b *candidate) bool {
	const cause = causeWord | groundWord
	if i+1 >= len(r.sentences) || r.isFalse(i+1, a, b) {
		return false
	}
	next := &r.sentences[i+1]
	return next.length() <= 2*maxConclusion && next.classes&(cause|seenWord|graderWord) == cause
}

// prefers reports whether sentence i chooses a candidate or ranks a candidate above another one. A
// sentence that calls the candidates equal does not. A sentence that names a single candidate and
// rejects it without a cause does not either, since it chooses no other candidate.
func (r *reading) prefers(i int) bool {
	const refused = contrastWord | requireWord
	const denied = rejectWord | negationWord

	s := &r.sentences[i]
	chooses := s.classes&chooseWord != 0
	isConclusion := chooses && s.length() <= maxConclusion
	if r.opensWithCheck(i) {
		return false
	}
	if !isConclusion && !r.isAboutCandidates(i) || s.classes&evenWord != 0 {
		return false
	}
	text := r.text[s.start:s.end]
	hasSign := strings.Contains(text, ">") || strings.Contains(text, "→") // "A > B", "-> first"
	if chooses || hasSign || r.opensWithCause(i) {
		return true
	}
	if s.classes&onlyWord != 0 && r.countNamed(i) > 0 && s.classes&planWord == 0 {
		return true
	}
	if s.classes&refused == refused {
		return r.countNamed(i) > 1 || s.classes&planWord == 0
	}
	if r.countNamed(i) > 1 {
		return s.classes&(preferWord|rejectWord) != 0 || r.concludesFromCause(i)
	}
	compares := s.classes&(compareWord|thanWord) == compareWord
	refuses := s.classes&causeWord != 0 && s.classes&denied != 0
	return s.classes&planWord == 0 && (compares || refuses || s.classes&preferWord != 0)
}

// concludesFromCause reports whether sentence i has a causal word right before the id or brand of a
// candidate, as in "hence 612…". Such a sentence prefers that candidate, without need of a word of
// choice, which the word lists may lack in the passage's language.
func (r *reading) concludesFromCause(i int) bool {
	for _, c := range r.sentenceCites(i) {
		if !c.namesProduct() {
			continue
		}
		for _, m := range r.sentenceMarks(i) {
			isFor := strings.HasPrefix(r.folded[m.start:], "for ") // "10 days against 7 for the Orbita"
			if m.class&causeWord != 0 && !isFor && c.start >= m.end && c.start <= m.end+1 {
				return true
			}
		}
	}
	return false
}

// opensWithCause reports whether sentence i begins with a candidate that a causal word or a colon
// follows directly, as in "612…, because" and "The former: cheaper". After a colon the sentence
// must also have a comparison or contrast. Such a sentence implies a choice, without need of a word
// of choice, which the word lists may lack in the passage's language.
func (r *reading) opensWithCause(i int) bool {
	tokens := r.sentenceTokens(i)
	if len(tokens) == 0 {
		return false
	}
	for _, c := range r.sentenceCites(i) {
		if !c.namesProduct() && !c.pointsAt() || c.start > tokens[0].start {
			continue
		}
		for _, m := range r.sentenceMarks(i) {
			if m.class&causeWord != 0 && m.start >= c.end && m.start <= c.end+2 {
				return true
			}
		}
		if strings.HasPrefix(r.text[c.end:], ":") && r.sentences[i].classes&(compareWord|contrastWord) != 0 {
			return true
		}
	}
	return false
}

// opensWithCheck reports whether sentence i only announces what the agent does next, as in "Open 612
// and 345, then choose". It begins with a word for finding out more, and has no word for a cause,
// contrast, comparison, refusal or preference.
func (r *reading) opensWithCheck(i int) bool {
	const argued = causeWord | contrastWord | compareWord | rejectWord | preferWord
	if r.sentences[i].classes&argued != 0 {
		return false
	}
	tokens := r.sentenceTokens(i)
	return len(tokens) > 0 && slices.ContainsFunc(r.sentenceMarks(i), func(m mark) bool {
		return m.class&checkWord != 0 && m.start == tokens[0].start
	})
}

// countNamed returns how many candidates sentence i names: the number of ids and brands in it or,
// if these are fewer than two, of the different products that it refers to. Two or more words that
// point at a candidate ("the former …, the latter …") count too, if they are more.
func (r *reading) countNamed(i int) int {
	cites := r.sentenceCites(i)
	named := slicesx.CountFunc(cites, (*cite).namesProduct)
	if named < 2 {
		named = max(named, r.countProducts(cites))
	}
	pointers := slicesx.CountFunc(r.sentenceMarks(i), func(m *mark) bool {
		return m.class&deicticWord != 0
	})
	if pointers > 1 {
		return max(named, pointers)
	}
	return named
}

// countProducts counts the different products that the cites (mentions of returned data) refer to
// by id, title, price or place.
func (r *reading) countProducts(cites []cite) int {
	var products []int32
	for i := range cites {
		if c := &cites[i]; c.product >= 0 {
			products = slicesx.AppendUnique(products, c.product)
		}
	}
	return len(products)
}

// isAboutCandidates reports whether sentence i refers to a candidate: it names one, quotes a
// returned price, points at one ("the former"), or belongs to a passage that labels candidates with
// letters. In a plan to look further, pointing counts only together with a cause or a contrast. A
// sentence that speaks to a grader refers to none.
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
		return c.namesProduct() || c.kind == citePrice || c.pointsAt()
	}
	return slices.ContainsFunc(r.sentenceCites(i), isNamed)
}

// statesReason reports whether sentence i states a reason for the preference in the sentence with
// index preference. A comparative is a reason. So is a ground (an attribute value or a word such as
// "price") with a cause, a refusal or a contrast; in the sentence of the preference itself a ground
// is enough. A returned price is a reason only if it is compared with another figure, is the lower
// of two prices, or is linked to the preference in the same sentence. That a product was listed
// twice or first is no reason, and neither is what the results contradict.
func (r *reading) statesReason(i, preference int, a, b *candidate) bool {
	samePreference := i == preference
	if r.isFalse(i, a, b) {
		return false
	}
	isTrue, _ := r.compareFigures(i)
	if r.addressesGrader(i) || r.isCircular(i) {
		return false
	}
	if isTrue || r.meetsRequest(i, preference, a, b) || r.favours(i, a, b) || r.exceedsLimit(i, a, b) {
		return true
	}
	if r.isOnlyOne(i, a, b) {
		return true
	}
	if samePreference && (r.takesLowerPrice(i, a, b) || r.lacks(i, a, b)) {
		return true
	}
	if !r.isAboutCandidates(i) {
		return false
	}
	s := &r.sentences[i]
	if s.classes&(compareWord|seenWord) != 0 {
		return s.classes&compareWord != 0
	}
	hasValue, hasPrice := r.citedGrounds(i)
	const denied = rejectWord | requireWord
	hasGround := s.classes&(groundWord|moneyWord) != 0 || s.classes&denied == denied || hasValue
	isWish := s.classes&requireWord != 0 && r.tellsApart(i, a, b)
	linked := isWish || s.classes&(causeWord|rejectWord|contrastWord) != 0
	if hasGround && (linked || samePreference) {
		return true
	}
	if !hasPrice || r.isDearer(i, a, b) {
		return false
	}
	prefers := (s.classes|r.sentences[preference].classes)&preferWord != 0
	return linked && samePreference || r.comparesFigures(i) || (linked || prefers) && r.isCheaper(i, a, b)
}

// isOnlyOne reports whether sentence i says that the recommended one of a and b alone has some
// property, as in "only 612 meets both" and "612 is the only one with a lid". It does not name the
// other one.
func (r *reading) isOnlyOne(i int, a, b *candidate) bool {
	const others = negationWord | checkWord | seenWord | seeWord | planWord
	const minWords = 4 // "Only 612." has no property
	if s := &r.sentences[i]; s.classes&(onlyWord|others) != onlyWord || s.length() < minWords {
		return false
	}
	isAlone := func(c, other *candidate) bool {
		isChosen := slices.ContainsFunc(c.products, func(p int32) bool { return r.isChosen(&r.index.products[p]) })
		return isChosen && !slices.Contains(other.sentences, i) && slices.ContainsFunc(r.sentenceCites(i), func(o cite) bool {
			return r.isOf(&o, c) && slices.ContainsFunc(r.sentenceMarks(i), func(m mark) bool {
				isAfter := r.wordsBetween(o.end, m.start) <= maxGap && hasCopula(r.folded[o.end:max(o.end, m.start)])
				return m.class&onlyWord != 0 && (isAfter || r.wordsBetween(m.end, o.start) <= 1)
			})
		})
	}
	return isAlone(a, b) || isAlone(b, a)
}

// isCircular reports whether sentence i chooses for a cause that states nothing, as in "I choose
// 612 because it is the right choice": it has no comparison, property or value, and after the word
// for the cause only listed words.
func (r *reading) isCircular(i int) bool {
	const states = compareWord | contrastWord | groundWord | rejectWord | negationWord
	s := &r.sentences[i]
	if s.classes&(causeWord|chooseWord|states) != causeWord|chooseWord {
		return false
	}
	isFact := func(c cite) bool { return !c.namesProduct() && c.kind != citePrice }
	if slices.ContainsFunc(r.sentenceCites(i), isFact) {
		return false
	}
	return slices.ContainsFunc(r.sentenceMarks(i), func(m mark) bool {
		return m.class&causeWord != 0 && r.classesIn(i, span{s.start, m.start})&chooseWord != 0 && r.isEmpty(i, m.end)
	})
}

// isEmpty reports whether sentence i has, from a byte offset on, at least two listed words and else
// only names.
func (r *reading) isEmpty(i int, start int32) bool {
	isName := map[int32]bool{} // by its start
	for _, c := range r.sentenceCites(i) {
		isName[c.start] = isName[c.start] || c.namesProduct()
	}
	words := 0
	for _, t := range r.sentenceTokens(i) {
		if t.start < start || isName[t.start] {
			continue
		}
		if !r.lexicon.plain[r.folded[t.start:t.end]] {
			return false
		}
		words++
	}
	return words > 1
}

// comparesFigures reports whether a sentence has a comparison sign after a figure: "61 > 50", "feli
// 1548 < kimazo 1678". sentence is an index of r.sentences.
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

// textBetween returns the text between two tokens, or "" if they overlap.
func (p *passage) textBetween(a, b *token) string {
	start := a.textEnd()
	return p.text[start:max(start, b.start)]
}

// citedGrounds reports whether sentence i mentions an attribute value, a model, or a brand as a
// property of a product, and whether it mentions a returned price.
func (r *reading) citedGrounds(i int) (hasValue, hasPrice bool) {
	for _, c := range r.sentenceCites(i) {
		switch c.kind {
		case citeValue, citeCode:
			hasValue = true
		case citeBrand:
			hasValue = hasValue || r.isProperty(&c)
		case citePrice:
			hasPrice = true
		case citeID, citeShop, citeUnknown, citeOrdinal:
		}
	}
	return hasValue, hasPrice
}
