package recipe

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/guard"
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

func viewSFT(r *corpus.SFT) (view, error) {
	v := view{key: r.SessionID, problem: r.ProblemID, cluster: r.Cluster, task: r.TaskType, wanted: r.Reward}
	v.candidate = guard.Candidate{ID: r.SessionID, Text: r.Goal}
	ms, err := chat.Decode(r.Messages)
	if err != nil {
		return v, err
	}
	for _, m := range ms {
		switch m.Role {
		case chat.Assistant:
			v.candidate.Answers = append(v.candidate.Answers, m.Reasoning, m.Content)
			for _, c := range m.Calls {
				v.candidate.Answers = append(v.candidate.Answers, c.Function.Name+" "+string(c.Function.Arguments))
				v.candidate.ProductIDs = append(v.candidate.ProductIDs, recommended(c)...)
			}
		case chat.User:
			v.candidate.Context = append(v.candidate.Context, m.Content)
		}
	}
	return v, nil
}

// recommended are the products that a call recommends.
func recommended(c chat.Call) []string {
	if c.Function.Name != "recommend_product" {
		return nil
	}
	return strings.FieldsFunc(gjson.GetBytes(c.Function.Arguments, "product_ids").String(), func(r rune) bool {
		return strings.ContainsRune(`,[]" `, r)
	})
}

func viewKTO(r *corpus.KTO) (view, error) {
	v := view{key: r.SessionID, problem: r.ProblemID, cluster: r.Cluster, task: r.TaskType}
	if r.Label {
		v.wanted = 1
	} else {
		v.failure = r.SessionID
	}
	v.candidate = textCandidate(r.SessionID, r.Prompt, r.Completion)
	return v, nil
}

func viewPref(r *corpus.Pref) (view, error) {
	v := view{key: r.ChosenSession + " " + r.RejectedSession, problem: r.ProblemID, cluster: r.Cluster, task: r.TaskType}
	if r.Reason != corpus.PairJudge {
		v.wanted, v.failure = 1, r.RejectedSession
	}
	v.candidate = textCandidate(v.key, r.Prompt, r.Chosen, r.Rejected)
	return v, nil
}

// textCandidate is the candidate of a row in text form.
func textCandidate(id string, prompt []corpus.Msg, completions ...[]corpus.Msg) guard.Candidate {
	c := guard.Candidate{ID: id}
	for _, m := range prompt {
		if m.Role == chat.User {
			c.Text = m.Content
		}
	}
	for _, ms := range completions {
		for _, m := range ms {
			if m.Role == chat.Assistant {
				c.Answers = append(c.Answers, m.Content)
			}
		}
	}
	return c
}
