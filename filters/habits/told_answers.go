package habits

import (
	"cmp"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// No model makes up an id of ten digits that the shop has: one is hardly chance and
// two of a day are none.
var _ = listed(&Proofs, Proof{
	Check: "told_answers_v2", Reason: "told_answers", Odds: -8,
	Doc: "The answer was known before the shop showed it: a recommended product that no result of the attempt held was found by others, or made-up products of the agent's day turned out to be real.",
	Why: "a product that no result of the attempt held was found by others, or made-up products turned out to be real: no model knows an id",
	Holds: func(s *Sample, a *Agent) bool {
		found := slices.ContainsFunc(s.Unseen, func(id uint64) bool { return a.found.taken[id] })
		return found || s.Invented > 0 && told.In(a).Part > 1
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

// Found is what the day of all agents holds, by hashes. None of its maps has pointers: a
// season has millions of replies.
type Found struct {
	// taken are the products that the shop showed and somebody took, by which an id that a
	// model made up is told from one that it was told.
	taken map[uint64]bool
	// replies say when each reply first came, in Unix milliseconds.
	replies   map[uint64]int64
	dialogues map[uint64]first
}

// NewFound is a day without attempts.
func NewFound() Found {
	return Found{map[uint64]bool{}, map[uint64]int64{}, map[uint64]first{}}
}

// Add takes in what an agent's attempt took, was told and wrote.
func (f Found) Add(s *Sample, agent string) {
	for _, id := range s.Taken {
		f.taken[id] = true
	}
	begun := cmp.Or(s.Begun, math.MaxInt64)
	for _, reply := range s.Replies {
		if x, known := f.replies[reply]; !known || begun < x {
			f.replies[reply] = begun
		}
	}
	if s.Dialogue != 0 {
		f.dialogues[s.Dialogue] = f.dialogues[s.Dialogue].add(begun, evidence.HashText(agent))
	}
}
