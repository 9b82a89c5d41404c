package finish

import (
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	text "github.com/trajectory-arena/arena/guard/rows"
)

// The candidates of the rows that a corpus holds: all that stands in one and that
// a model is trained on or shown, as guard.ReadCandidate takes it from a row in any
// trainer's format.

// CandidateOfSFT is the candidate of an attempt.
func CandidateOfSFT(r *rows.SFT) (guard.Candidate, error) {
	turns, err := r.Turns()
	c := guard.CandidateOf(r.SessionID, r.Goal, turns)
	for _, tool := range r.Tools {
		c.Beside = append(c.Beside, text.Leaves(gjson.Parse(tool)))
	}
	c.Beside = append(c.Beside, text.Leaves(gjson.Parse(r.Metadata)))
	return c, err
}

// CandidateOfRL is the candidate of a problem.
func CandidateOfRL(r *rows.RL) guard.Candidate {
	c := guard.CandidateOf(r.ProblemID, rows.Request(r.Prompt), rows.TurnsOf(r.Prompt), r.Gold()...)
	c.Beside = []string{text.Leaves(gjson.Parse(r.Tools))}
	return c
}

// CandidateOfPref is the candidate of a pair.
func CandidateOfPref(r *rows.Pref) guard.Candidate {
	id := r.ChosenSession + " " + r.RejectedSession
	return guard.CandidateOf(id, rows.Request(r.Prompt), rows.TurnsOf(r.Prompt, r.Chosen, r.Rejected))
}

// CandidateOfKTO is the candidate of a labelled attempt.
func CandidateOfKTO(r *rows.KTO) guard.Candidate {
	return guard.CandidateOf(r.SessionID, rows.Request(r.Prompt), rows.TurnsOf(r.Prompt, r.Completion))
}
