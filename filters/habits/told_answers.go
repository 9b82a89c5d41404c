package habits

import "github.com/trajectory-arena/arena/filters/evidence"

// No model makes up an id of ten digits that the shop has: one is hardly chance and
// two of a day are none.
var _ = proof(Proof{
	Check: "told_answers_v2", Reason: "told_answers", Odds: -8,
	Doc: "The answer was known before the shop showed it: a recommended product that no result of the attempt held was found by others, or made-up products of the agent's day turned out to be real.",
	Why: "a product that no result of the attempt held was found by others, or made-up products turned out to be real: no model knows an id",
	holds: func(s *Sample, a *Agent) bool {
		return a.offered.has(s.Unseen) || s.Invented > 0 && told.In(a).Part > 1
	},
})

var told = counted("attempts in which a reply named a product before the shop showed it", func(a *evidence.Attempt) (t Tally) {
	t.add(a.Prescient > 0)
	return t
})

// maxTaken bounds the products of one recommendation; requests ask for at most
// three or four.
const maxTaken = 8

// answer notes which products were recommended, and which of them no result
// held.
func (s *Sample) answer(a *evidence.Attempt) {
	if a.Recommended == nil {
		return
	}
	ids := a.Recommended.Act.IDs
	for _, id := range ids[:min(len(ids), maxTaken)] {
		if a.Known(id, len(a.Claims)) {
			s.Taken = append(s.Taken, evidence.HashText(id))
		} else {
			s.Unseen = append(s.Unseen, evidence.HashText(id))
		}
	}
}

// Offered are products that the shop showed and somebody took, over the day of
// all agents, by the hashes of their ids. It tells an id that a model made up
// from one that it was told.
type Offered map[uint64]struct{}

// Add takes in what an attempt took.
func (o Offered) Add(s *Sample) {
	for _, id := range s.Taken {
		o[id] = struct{}{}
	}
}

// has reports whether one of the ids is on offer.
func (o Offered) has(ids []uint64) bool {
	for _, id := range ids {
		if _, ok := o[id]; ok {
			return true
		}
	}
	return false
}
