package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// No model makes up an id of ten digits that the shop has: one is hardly chance and
// two of a day are none.
var _ = proof(Proof{
	Check: "told_answers_v2", Reason: "told_answers", Odds: -8,
	Doc: "The answer was known before the shop showed it: a recommended product that no result of the attempt held was found by others, or made-up products of the agent's day turned out to be real.",
	Why: "a product that no result of the attempt held was found by others, or made-up products turned out to be real: no model knows an id",
	Holds: func(s *Sample, a *Agent) bool {
		return a.found.has(s.Unseen) || s.Invented > 0 && told.In(a).Part > 1
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

// Found are the products that the shop showed and somebody took, the replies that models
// gave, and the dialogues, over the day of all agents, by their hashes. It tells an id that
// a model made up from one that it was told.
type Found map[uint64]first

// Add takes in what an agent's attempt took, was told and wrote.
func (f Found) Add(s *Sample, agent string) {
	for _, h := range slices.Concat(s.Taken, s.Replies, []uint64{s.Dialogue}) {
		if h != 0 {
			f[h] = f[h].add(s, agent)
		}
	}
}

func (f Found) has(all []uint64) bool {
	return slices.ContainsFunc(all, func(h uint64) bool { _, ok := f[h]; return ok })
}
