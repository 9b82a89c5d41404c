package gates

import "strings"

// weighChoice looks for the fourth gate: two rivals in this passage, one
// preferred, and a reason beside the preference.
func (w *weigher) weighChoice(r *reading) {
	all := r.candidates()
	for i := range all {
		for k := i + 1; k < len(all); k++ {
			if !r.rivalPair(&all[i], &all[k]) {
				continue
			}
			w.rivals = true
			from, to := min(all[i].from, all[k].from), max(all[i].to, all[k].to)
			if at, found := r.reasonedChoice(from, to); found {
				s := r.sentences[at].span
				w.choice = r.found(s, s, "weighs two returned candidates and prefers one for a reason")
				return
			}
		}
	}
}

// reasonedChoice searches the sentences that name the two candidates, one
// before and two after, for a preference with a reason in its own sentence or
// the next one to either side.
func (r *reading) reasonedChoice(from, to int) (sentence int, found bool) {
	from, to = max(0, from-1), min(len(r.sentences)-1, to+2)
	for i := from; i <= to; i++ {
		if !r.prefers(i) {
			continue
		}
		if r.reasons(i, true) || i > from && r.reasons(i-1, false) || i < to && r.reasons(i+1, false) {
			return i, true
		}
	}
	return 0, false
}

func (r *reading) prefers(i int) bool {
	if r.toGrader(i) {
		return false
	}
	s := &r.sentences[i]
	const refused = contrastWord | requireWord
	return s.classes&(preferWord|chooseWord|rejectWord) != 0 || s.classes&refused == refused || r.signPrefers(s)
}

// signPrefers reads "A > B" and "-> first" as a preference.
func (r *reading) signPrefers(s *sentence) bool {
	text := r.text[s.start:s.end]
	return strings.Contains(text, " > ") || strings.Contains(text, "->") || strings.Contains(text, "→") || strings.Contains(text, ">>")
}

// reasons tells whether a sentence states a ground: a comparative, a cause, a
// refusal or a contrast that rests on price, brand, a value or the like. In
// the sentence of the preference itself naming the ground is enough. That a
// product was listed twice or first is no ground, nor are invented prices.
func (r *reading) reasons(i int, own bool) bool {
	if r.toGrader(i) {
		return false
	}
	s := &r.sentences[i]
	values, known, unknown := r.groundsIn(i)
	grounded := s.classes&groundWord != 0 || values
	if s.classes&compareWord != 0 && (known || !unknown) {
		return true
	}
	if s.classes&seenWord != 0 {
		return false
	}
	linked := s.classes&(causeWord|rejectWord|contrastWord) != 0 || own
	return grounded && linked
}

// groundsIn tells whether a sentence cites values, prices that results hold,
// and prices that none holds.
func (r *reading) groundsIn(i int) (values, known, unknown bool) {
	for k := range r.cites {
		c := &r.cites[k]
		if c.sentence != i {
			continue
		}
		values = values || c.kind == citeValue || c.kind == citeBrand && r.isProperty(c)
		known = known || c.kind == citePrice
		unknown = unknown || c.kind == citeUnknown
	}
	return values, known, unknown
}
