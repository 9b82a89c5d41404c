package gates

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// near is how many sentences may lie between the two candidates, the
// preference and the reason: farther apart they are a ramble, not a weighing.
const near = 4

// weighChoice looks for the fourth gate: two rivals in this passage, one
// preferred, a reason beside the preference that the data bears out, and one of
// both recommended.
func (w *weigher) weighChoice(r *reading) {
	all := r.candidates()
	for i := range all {
		for k := i + 1; k < len(all); k++ {
			w.lacks = max(w.lacks, lacksReason)
			if at, found := r.reasonedChoice(&all[i], &all[k]); found {
				w.choice = r.found(at, at, "weighs two returned candidates and prefers one for a reason")
				return
			}
		}
	}
}

// reasonedChoice searches the sentences around the two candidates for a
// preference with a reason, and gives both. A bare list of what each costs is
// none: outside the sentence of the preference a reason must be linked by a
// comparative, a cause, a refusal or a contrast.
func (r *reading) reasonedChoice(a, b *candidate) (at span, found bool) {
	for i := range r.sentences {
		if !a.near(i) || !b.near(i) || !r.prefers(i) && !r.concludes(i) {
			continue
		}
		if r.reasons(i, true) && r.weighs(i, a, b) && r.decides(a, b, i, i) {
			return r.sentences[i].span, true
		}
		if r.becauseAfter(i) && r.decides(a, b, i, i+1) {
			return r.from(i, i+1), true
		}
		for k := max(0, i-near); k <= min(i+near, len(r.sentences)-1); k++ {
			if k != i && r.reasons(k, false) && r.decides(a, b, i, k) {
				return r.from(i, k), true
			}
		}
	}
	return span{}, false
}

// weighs reports whether a sentence does more than name one candidate with its
// brand and price: "my pick is 612 by Kota at 90" is no comparison with what the
// next sentence names.
func (r *reading) weighs(i int, a, b *candidate) bool {
	const linked = compareWord | causeWord | contrastWord | rejectWord | requireWord
	s := &r.sentences[i]
	if s.classes&linked != 0 || slices.Contains(a.sentences, i) && slices.Contains(b.sentences, i) {
		return true
	}
	return slices.ContainsFunc(r.citesOf(i), func(c cite) bool { return c.kind == citeValue || c.kind == citeCode })
}

func (r *reading) from(i, k int) span {
	return span{r.sentences[min(i, k)].start, r.sentences[max(i, k)].end}
}

func (c *candidate) near(i int) bool {
	at, _ := slices.BinarySearch(c.sentences, i-near)
	return at < len(c.sentences) && c.sentences[at] <= i+near
}

// maxConclusion is the length in tokens of a sentence that does no more than
// conclude what went before it.
const maxConclusion = 5

// concludes tells, in any language, whether sentence i does no more than name
// one candidate after several were named before it.
func (r *reading) concludes(i int) bool {
	if r.length(i) > maxConclusion {
		return false
	}
	before := 0
	for k := max(0, i-near); k < i; k++ {
		before += r.namedIn(k)
	}
	return r.namedIn(i) == 1 && before > 1
}

func (r *reading) length(i int) int {
	return int(r.sentences[i].tokens.end - r.sentences[i].tokens.start)
}

// becauseAfter reports whether the next sentence is no more than the cause.
func (r *reading) becauseAfter(i int) bool {
	const cause = causeWord | groundWord
	return i+1 < len(r.sentences) && r.length(i+1) <= 2*maxConclusion && r.sentences[i+1].classes&(cause|seenWord|graderWord) == cause
}

// prefers reports whether sentence i takes one candidate or puts it above
// another. What names a single candidate does so by a choice, by a cause for
// refusing it, or without conditions: to find a fault in one takes no other.
func (r *reading) prefers(i int) bool {
	s := &r.sentences[i]
	concluded := s.classes&chooseWord != 0 && r.length(i) <= maxConclusion
	if !concluded && !r.anchored(i) || s.classes&evenWord != 0 {
		return false
	}
	signed := strings.ContainsAny(r.text[s.start:s.end], ">→") // "A > B", "-> first"
	if s.classes&chooseWord != 0 || signed || r.causeBeside(i, true) {
		return true
	}
	const refused = contrastWord | requireWord
	if r.namedIn(i) > 1 {
		return s.classes&(preferWord|rejectWord) != 0 || s.classes&refused == refused || r.causeBeside(i, false)
	}
	const caused = rejectWord | causeWord
	return s.classes&planWord == 0 && (s.classes&preferWord != 0 || s.classes&refused == refused || s.classes&caused == caused)
}

// causeBeside reads, in any language, "hence 612…", where a causal word right before
// a candidate concludes for it, or, opening, "612…, because", where a sentence that
// opens with a candidate and gives a cause for it at once leaves the choosing unsaid.
func (r *reading) causeBeside(i int, opening bool) bool {
	s := &r.sentences[i]
	for _, c := range r.citesOf(i) {
		if c.kind != citeID && c.kind != citeBrand || opening && (s.tokens.start == s.tokens.end || c.start > r.tokens[s.tokens.start].start) {
			continue
		}
		for _, m := range r.marks[s.marks.start:s.marks.end] {
			beside := c.start >= m.end && c.start <= m.end+1
			if opening {
				beside = m.start >= c.end && m.start <= c.end+2
			}
			if beside && m.class&causeWord != 0 {
				return true
			}
		}
	}
	return false
}

// namedIn counts the ids and brands of a sentence, or what it points at where
// there are more ("the former …, the latter …").
func (r *reading) namedIn(i int) int {
	named := slicesx.CountFunc(r.citesOf(i), func(c *cite) bool { return c.kind == citeID || c.kind == citeBrand })
	s := &r.sentences[i]
	pointed := slicesx.CountFunc(r.marks[s.marks.start:s.marks.end], func(m *mark) bool { return m.class&deicticWord != 0 })
	if pointed > 1 {
		return max(named, pointed)
	}
	return named
}

// anchored reports whether a sentence speaks of the candidates at all: it names
// one, quotes a returned price, or points at one ("the former") without
// meaning to look further. General wisdom about choosing does none of these, nor
// does what speaks to whoever grades.
func (r *reading) anchored(i int) bool {
	s := &r.sentences[i]
	named := func(c cite) bool { return c.kind == citeID || c.kind == citeBrand || c.kind == citePrice }
	points := s.classes&deicticWord != 0 && (s.classes&planWord == 0 || s.classes&(causeWord|contrastWord) != 0)
	return !r.toGrader(i) && (points || r.lettered || slices.ContainsFunc(r.citesOf(i), named))
}

// reasons reports whether a sentence states a ground: a comparative, a cause, a
// refusal or a contrast that rests on price, brand, a value or the like. In
// the sentence of the preference itself naming the ground is enough. That a
// product was listed twice or first is no ground, nor are invented prices; a
// price that a result holds is one where it is linked to the preference or
// held against another figure.
func (r *reading) reasons(i int, own bool) bool {
	if !r.anchored(i) {
		return false
	}
	s := &r.sentences[i]
	if s.classes&(compareWord|seenWord) != 0 {
		return s.classes&compareWord != 0
	}
	values, known := r.groundsIn(i)
	grounded := s.classes&(groundWord|moneyWord) != 0 || values
	linked := s.classes&(causeWord|rejectWord|contrastWord) != 0
	return grounded && (linked || own) || known && (linked && own || r.figuresCompared(s))
}

// figuresCompared reports whether a figure and what it is held against stand on
// both sides of a sign of order: "61 > 50", "feli 1548 < kimazo 1678".
func (r *reading) figuresCompared(s *sentence) bool {
	for k := s.tokens.start + 1; k < s.tokens.end; k++ {
		signs := r.between(k)
		if r.tokens[k-1].number.count > 0 && strings.ContainsAny(signs, "<>≤≥") && !strings.Contains(signs, "->") {
			return true
		}
	}
	return false
}

// between is the text between token k and the one before it; empty where one
// is part of the other.
func (r *reading) between(k int32) string {
	from, to := max(r.tokens[k-1].end, int32(r.tokens[k-1].number.end)), r.tokens[k].start
	return r.text[from:max(from, to)]
}

// groundsIn reports whether a sentence cites values, and prices that results hold.
func (r *reading) groundsIn(i int) (values, known bool) {
	for _, c := range r.citesOf(i) {
		values = values || c.kind == citeValue || c.kind == citeCode || c.kind == citeBrand && r.isProperty(&c)
		known = known || c.kind == citePrice
	}
	return values, known
}
