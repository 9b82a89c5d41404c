package finish

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/minhash"
	text "github.com/trajectory-arena/arena/guard/rows"
)

// Seen is what is looked at in a row that a corpus holds, whatever its profile.
type Seen struct {
	*rows.Origin
	// Candidate is all that stands in the row and that a model is trained on or
	// shown, as guard.ReadCandidate takes it from a row in any trainer's format. Its
	// ID tells rows of one corpus apart.
	Candidate guard.Candidate
	// Key is the same for copies of a row.
	Key string
	// Sessions are the attempts that it was made of; none for a problem.
	Sessions []string
	// Score orders rows with one request, higher is better.
	Score float64
	// Figures lack config and split.
	Figures figures.Row
}

// Completion is the signature of all that the model wrote, for comparing attempts.
func (s *Seen) Completion() *minhash.Packed {
	signature := minhash.Sign(strings.Join(s.Candidate.Answers, " "))
	packed := signature.Pack()
	return &packed
}

// Look looks at a row, a pointer to a row type.
func Look(row any) (s Seen, err error) {
	switch r := row.(type) {
	case *rows.SFT:
		s = Seen{Origin: &r.Origin, Sessions: []string{r.SessionID}, Score: r.Reward}
		s.Candidate, err = CandidateOf(r)
	case *rows.RL:
		s = Seen{Origin: &r.Origin}
		s.Candidate = guard.CandidateOf(r.ProblemID, rows.Request(r.Prompt), rows.TurnsOf(r.Prompt), r.Gold()...)
		s.Candidate.Beside = []string{text.Leaves(gjson.Parse(r.Tools))}
		s.Key = s.Candidate.Text + "\n" + r.RewardModel.Truth
	case *rows.Pref:
		s = Seen{Origin: &r.Origin, Sessions: []string{r.ChosenSession, r.RejectedSession}, Score: r.Margin}
		s.Candidate = guard.CandidateOf(strings.Join(s.Sessions, " "), rows.Request(r.Prompt), rows.TurnsOf(r.Prompt, r.Chosen, r.Rejected))
	case *rows.KTO:
		s = Seen{Origin: &r.Origin, Sessions: []string{r.SessionID}, Score: r.Score}
		s.Candidate = guard.CandidateOf(r.SessionID, rows.Request(r.Prompt), rows.TurnsOf(r.Prompt, r.Completion))
	case *rows.Steps:
		s = Seen{Origin: &r.Origin, Sessions: []string{r.SessionID}}
		s.Candidate = guard.Candidate{ID: r.SessionID, Context: []string{r.Prompt}, Answers: r.Completions}
	default:
		return s, fmt.Errorf("look at a row of type %T: no profile has it", row)
	}
	if len(s.Sessions) > 0 {
		s.Key = strings.Join(s.Sessions, "\n")
	}
	s.Figures = figures.Of(row)
	return s, err
}

// CandidateOf is the candidate of an attempt.
func CandidateOf(r *rows.SFT) (guard.Candidate, error) {
	turns, err := r.Turns()
	c := guard.CandidateOf(r.SessionID, r.Goal, turns)
	for _, tool := range r.Tools {
		c.Beside = append(c.Beside, text.Leaves(gjson.Parse(tool)))
	}
	c.Beside = append(c.Beside, text.Leaves(gjson.Parse(r.Metadata)))
	return c, err
}
