package lexical

import "slices"

// CheckAlone holds the request at a position of the bank against the others but
// those that kindred names, as a text of a stranger would be: words that it alone
// has are no words of the bank.
func (x *Index) CheckAlone(request int, kindred func(other int) bool) Finding {
	f := Finding{Request: -1}
	number, is := slices.BinarySearch(x.entry, request)
	if !is {
		return f
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	var best judged
	p := x.strange(int32(number)) //nolint:gosec // a bank has fewer
	for _, b := range x.candidates(p, s) {
		if kindred(x.entry[b]) {
			continue
		}
		if j := x.judge(b, p); f.Request < 0 || j.beats(best) {
			best, f.Request = j, x.entry[b]
		}
	}
	if f.Request < 0 {
		return f
	}
	f.Score = Logistic(best.score)
	f.Same = f.Score >= leastSame && contradiction(x.bases[best.base].profile, best.part, best.f) == ""
	return f
}

// strange is the profile of a base read as if the bank did not hold it.
func (x *Index) strange(number int32) *profile {
	own := x.bases[number].profile
	p := &profile{tokens: own.tokens, words: make([]*word, len(own.words))}
	for i, w := range own.words {
		if w != nil {
			p.words[i] = x.withoutOwn(w, number)
		}
	}
	p.gather()
	return p
}

func (x *Index) isOwn(id, number int32) bool {
	holders := x.postings[id]
	return len(holders) == 1 && holders[0].base == number
}

func (x *Index) withoutOwn(w *word, number int32) *word {
	if !slices.ContainsFunc(w.matches, func(m match) bool { return x.isOwn(m.id, number) }) {
		return w
	}
	out := *w
	out.matches = slices.DeleteFunc(slices.Clone(w.matches), func(m match) bool { return x.isOwn(m.id, number) })
	if w.id >= 0 && x.isOwn(w.id, number) {
		out.id, out.weight, out.known = -1, weightUnknown, w.near != nil
	}
	if out.id < 0 && len(out.matches) > 0 {
		out.weight = x.vocabulary.strongest(out.matches)
	}
	return &out
}
