package recipe

import (
	"strings"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// view is what a row is chosen by, whatever its profile.
type view struct {
	// key tells rows of one source apart.
	key     string
	problem string
	cluster string
	task    string
	// failure is the session of the attempt that failed; empty where none did.
	failure string
	// wanted is the row's reward, or 1 and 0 for a label.
	wanted    float64
	candidate guard.Candidate
}

// completion is all that the model wrote, for comparing attempts.
func (v *view) completion() []byte { return []byte(strings.Join(v.candidate.Answers, " ")) }

func viewSFT(r *rows.SFT) (view, error) {
	v := view{key: r.SessionID, problem: r.ProblemID, cluster: r.Cluster, task: r.TaskType, wanted: r.Reward}
	var err error
	v.candidate, err = finish.CandidateOfSFT(r)
	return v, err
}

func viewKTO(r *rows.KTO) (view, error) {
	v := view{key: r.SessionID, problem: r.ProblemID, cluster: r.Cluster, task: r.TaskType}
	if r.Label {
		v.wanted = 1
	} else {
		v.failure = r.SessionID
	}
	v.candidate = finish.CandidateOfKTO(r)
	return v, nil
}

func viewPref(r *rows.Pref) (view, error) {
	v := view{key: r.ChosenSession + " " + r.RejectedSession, problem: r.ProblemID, cluster: r.Cluster, task: r.TaskType}
	if r.Reason != rows.PairJudge {
		v.wanted, v.failure = 1, r.RejectedSession
	}
	v.candidate = finish.CandidateOfPref(r)
	return v, nil
}
