package finish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/minhash"
	text "github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// RowView has the properties of a row that do not depend on the row's profile.
type RowView struct {
	*rows.Origin
	// Candidate has all texts of the row that a model is trained on or shown, as
	// guard.ReadCandidate reads them from a row of any training format. Its ID is unique within
	// a corpus.
	Candidate guard.Candidate
	// Key is equal for copies of a row.
	Key string
	// Sessions are the IDs of the attempts from which the row was made. It is empty for a row
	// that was made from a problem.
	Sessions []string
	// Score is the order in which rows with the same request are preferred. Higher is better.
	Score   float64
	Figures figures.Row
}

// Completion returns the MinHash signature of all texts that the model wrote. Attempts are
// compared by it.
func (v *RowView) Completion() *minhash.Packed {
	signature := minhash.Sign(strings.Join(v.Candidate.Answers, " "))
	return new(signature.Pack())
}

// ViewRow returns the view of a row. row must be a pointer to a row type.
func ViewRow(row any) (RowView, error) {
	v, err := newRowView(row)
	if err != nil {
		return v, err
	}
	if len(v.Sessions) > 0 {
		v.Key = strings.Join(v.Sessions, "\n")
	}
	v.Figures = figures.RowOf(row)
	return v, nil
}

// newRowView returns the properties that rows of all formats share, except the figures. row is a
// pointer to a row. Only a row of config rl, which is made from a problem and not from an attempt,
// gets a key. It returns an error for an unknown type.
func newRowView(row any) (RowView, error) {
	var v RowView
	switch r := row.(type) {
	case *rows.SFT:
		v = RowView{
			Origin:   &r.Origin,
			Sessions: []string{r.SessionID},
			Score:    r.Reward,
		}
		messages, err := chat.Decode(r.Messages)
		v.Candidate = CandidateOf(r, messages, ToolTexts(r.Tools))
		return v, err
	case *rows.RL:
		v = RowView{Origin: &r.Origin}
		v.Candidate = problemCandidate(r)
		v.Key = v.Candidate.Text + "\n" + r.RewardModel.Truth
	case *rows.Pref:
		v = RowView{
			Origin:   &r.Origin,
			Sessions: []string{r.ChosenSession, r.RejectedSession},
			Score:    r.Margin,
		}
		turns := rows.TextTurns(r.Prompt, r.Chosen, r.Rejected)
		v.Candidate = guard.NewCandidate(
			strings.Join(v.Sessions, " "),
			rows.Request(r.Prompt),
			turns,
		)
	case *rows.KTO:
		v = RowView{
			Origin:   &r.Origin,
			Sessions: []string{r.SessionID},
			Score:    r.Score,
		}
		v.Candidate = guard.NewCandidate(
			r.SessionID,
			rows.Request(r.Prompt),
			rows.TextTurns(r.Prompt, r.Completion),
		)
	case *rows.Steps:
		v = RowView{
			Origin:   &r.Origin,
			Sessions: []string{r.SessionID},
		}
		v.Candidate = guard.Candidate{
			ID:      r.SessionID,
			Context: []string{r.Prompt},
			Answers: r.Completions,
		}
	default:
		return v, fmt.Errorf("look at a row of type %T: no profile has it", row)
	}
	return v, nil
}

func problemCandidate(r *rows.RL) guard.Candidate {
	c := guard.NewCandidate(
		r.ProblemID,
		rows.Request(r.Prompt),
		rows.TextTurns(r.Prompt),
		r.GoldItems()...,
	)
	c.Metadata = []string{text.Leaves(gjson.Parse(r.Tools))}
	return c
}

// CandidateOf returns the guard's candidate for an attempt with these messages. toolTexts are
// the results of ToolTexts for the attempt's tools.
func CandidateOf(
	r *rows.SFT,
	messages []chat.Message,
	toolTexts []string,
) guard.Candidate {
	c := guard.NewCandidate(r.SessionID, r.Goal, rows.MessageTurns(messages))
	c.Metadata = append(slices.Clip(toolTexts), text.Leaves(gjson.Parse(r.Metadata)))
	return c
}

// ToolTexts returns the texts in each tool definition.
func ToolTexts(tools []string) []string {
	return slicesx.Map(tools, func(tool string) string {
		return text.Leaves(gjson.Parse(tool))
	})
}
