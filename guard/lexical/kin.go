package lexical

import (
	"context"
	"math/bits"
	"slices"
)

// kin finds the requests of one bank that would be dropped for each other. It
// goes from each request to those it has not reached, so that of thousands that
// are all alike no two of the reached are compared.
type kin struct {
	*Index
	scratch *scratch
	// touching list, for each vocabulary id, the requests with a word that comes
	// near it, and how near: postings seen from the text.
	touching [][]posting
	// reached, by base, are in a group; waiting are those of the present group
	// whose own neighbours were not looked for. count counts the reached, gone
	// those that the lists do not hold any more.
	reached []bool
	waiting []int32
	count   int
	gone    int
}

// Join calls join with the positions of requests of which one would be dropped
// for the other, so that all that are joined so, directly or through others, are
// one group. The only error is that of ctx.
func Join(ctx context.Context, bank []Request, join func(i, j int)) error {
	x := New(bank)
	k := &kin{Index: x, scratch: x.newScratch(), touching: make([][]posting, len(x.vocabulary.stems)), reached: make([]bool, len(x.bases))}
	k.noteTouching()
	for i := range x.bases {
		if k.reached[i] {
			continue
		}
		k.reach(int32(i))
		for len(k.waiting) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			for _, j := range k.visit() {
				join(x.entry[i], x.entry[j])
			}
		}
	}
	return nil
}

func (k *kin) noteTouching() {
	s := k.scratch
	for i, b := range k.bases {
		for _, id := range s.touchAll(b.profile) {
			k.touching[id] = append(k.touching[id], posting{int32(i), s.best[id]})
			s.best[id] = 0
		}
	}
}

func (k *kin) reach(base int32) {
	k.reached[base] = true
	k.count++
	k.waiting = append(k.waiting, base)
}

// visit returns the requests that one waiting request reaches, in either
// direction.
func (k *kin) visit() []int32 {
	at := k.waiting[len(k.waiting)-1]
	k.waiting = k.waiting[:len(k.waiting)-1]
	k.forget()
	from := len(k.waiting)
	text := k.bases[at].profile
	for _, b := range k.candidates(text, k.scratch) {
		if !k.reached[b] && k.judge(b, text).score >= dropLogOdds {
			k.reach(b)
		}
	}
	for _, t := range k.covering(at) {
		if !k.reached[t] && k.judge(at, k.bases[t].profile).score >= dropLogOdds {
			k.reach(t)
		}
	}
	return k.waiting[from:]
}

// covering returns the requests of which at is a candidate.
func (k *kin) covering(at int32) []int32 {
	b, s := k.bases[at], k.scratch
	s.bases = s.bases[:0]
	for _, t := range b.terms {
		for _, post := range k.touching[t.id] {
			s.add(post.base, post.weight*t.sim)
		}
	}
	for i, n := range b.profile.numbers {
		w := float32(k.numberWeight(n))
		for _, post := range k.holders[b.amounts[i]] {
			s.add(post.base, w)
		}
	}
	kept := s.bases[:0]
	for _, t := range s.bases {
		agree := bits.OnesCount8(b.profile.services & k.bases[t].profile.services)
		if s.cover[t]+weightService*float32(agree) >= leastCover*k.totals[at] {
			kept = append(kept, t)
		}
		s.cover[t] = 0
	}
	slices.Sort(kept)
	return kept
}

// forget takes the reached out of all lists once they are half of what is in
// them.
func (k *kin) forget() {
	if since := k.count - k.gone; since == 0 || 2*since < len(k.bases)-k.gone {
		return
	}
	k.gone = k.count
	for _, lists := range [][][]posting{k.postings, k.touching, k.holders} {
		for id, list := range lists {
			lists[id] = slices.DeleteFunc(list, func(p posting) bool { return k.reached[p.base] })
		}
	}
}
