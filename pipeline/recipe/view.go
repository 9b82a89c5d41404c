package recipe

import (
	"strings"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// view is what a row is chosen by, whatever its profile.
type view struct {
	finish.Seen
	// failure is the session of the attempt that failed; empty where none did.
	failure string
	// wanted is the row's reward, or 1 and 0 for a label.
	wanted float64
}

// completion is all that the model wrote, for comparing attempts.
func (v *view) completion() []byte { return []byte(strings.Join(v.Candidate.Answers, " ")) }

// look takes a row, given by a pointer, apart.
func look(row any) (v view, err error) {
	v.Seen, err = finish.Look(row)
	switch r := row.(type) {
	case *rows.SFT:
		v.wanted = r.Reward
	case *rows.KTO:
		if r.Label {
			v.wanted = 1
		} else {
			v.failure = r.SessionID
		}
	case *rows.Pref:
		if r.Reason != rows.PairJudge {
			v.wanted, v.failure = 1, r.RejectedSession
		}
	}
	return v, err
}
