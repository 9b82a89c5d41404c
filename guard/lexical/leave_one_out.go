package lexical

import (
	"math"
	"slices"

	"github.com/trajectory-arena/arena/internal/stats"
)

// CheckLeaveOneOut compares the request at this index of the bank with the other requests, as if
// the bank did not contain it: words that only this request has are unknown. It skips requests for
// which related reports true. Drop and Evidence of the result are not set.
func (x *Index) CheckLeaveOneOut(request int, related func(position int) bool) Finding {
	f := Finding{Request: -1}
	number, ok := slices.BinarySearch(x.entry, request)
	if !ok {
		return f
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	best := comparison{score: math.Inf(-1)}
	p := x.profileWithoutSelf(int32(number)) //nolint:gosec // a bank has fewer
	for _, b := range x.candidates(p, s) {
		if related(x.entry[b]) {
			continue
		}
		c := x.compare(b, p, min(best.score, sameLogOdds), s)
		if c.isBetterThan(best) {
			best = c
			f.Request = x.entry[b]
		}
		f.Same = f.Same || c.score >= sameLogOdds && x.asksSame(c) && unread(x.bases[c.base].profile, c.part, c.features[template]) == ""
	}
	if f.Request < 0 {
		return f
	}
	f.Score = stats.Logistic(best.score)
	return f
}

// profileWithoutSelf returns the parsed form that the request x.bases[number] would have if it were
// not protected itself: words that only this request has are unknown. It serves to check the
// request against the other ones as if it were new.
func (x *Index) profileWithoutSelf(number int32) *profile {
	indexed := x.bases[number].profile
	p := &profile{
		tokens: indexed.tokens,
		words:  make([]*word, len(indexed.words)),
	}
	for i, w := range indexed.words {
		if w != nil {
			p.words[i] = x.withoutSelf(w, number)
		}
	}
	p.collect()
	return p
}

// isOnlyIn reports whether the word stem with this vocabulary id occurs in the request
// x.bases[number] and in no other request.
func (x *Index) isOnlyIn(id, number int32) bool {
	bases := x.postings[id]
	return len(bases) == 1 && bases[0] == number
}

// withoutSelf returns the word w as it would be parsed if the request x.bases[number] were not
// protected: without its matches to stems that only this request has. It returns w itself if w has
// no such match. It serves to check a protected request against the other ones.
func (x *Index) withoutSelf(w *word, number int32) *word {
	isSelf := func(m match) bool { return x.isOnlyIn(m.id, number) }
	if !slices.ContainsFunc(w.matches, isSelf) {
		return w
	}
	out := *w
	out.matches = slices.DeleteFunc(slices.Clone(w.matches), isSelf)
	if w.id >= 0 && x.isOnlyIn(w.id, number) {
		out.id = -1
		out.weight = weightUnknown
		out.known = w.synonyms != nil
	}
	if out.id < 0 && len(out.matches) > 0 {
		out.weight = x.vocabulary.bestWeight(out.matches)
	}
	return &out
}
