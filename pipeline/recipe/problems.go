package recipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// ErrNoProblems says that a corpus has no problem to train on.
var ErrNoProblems = errors.New("the corpus has no training problem that is not protected")

// Problems gives the training problems of the corpus in dir as a problems file: those of
// its rl config's train split that no held-out entry and no protected cluster
// is near to. They are the only ones that rollouts are played at, so that no
// protected problem can come to be trained on. threshold is the lexical score from
// which that was said: rollouts at them are held to no other.
func Problems(fsys corpus.FS, dir string, heldOut []string) (text []byte, threshold float64, err error) {
	s, err := finish.Open(fsys, dir)
	if err != nil {
		return nil, 0, err
	}
	p, err := protect([]*finish.Source{s}, heldOut)
	if err != nil {
		return nil, 0, err
	}
	var b bytes.Buffer
	err = finish.Rows(s, corpus.ProfileVerlRL, corpus.SplitTrain, func(row *rows.RL) error {
		v, bad := look(row)
		if bad != nil || p.check(&v) != "" {
			return bad
		}
		line, bad := problem(row)
		b.Write(append(line, '\n'))
		return bad
	})
	if err == nil && b.Len() == 0 {
		err = ErrNoProblems
	}
	return b.Bytes(), p.proof.Guard.Threshold, err
}

// productTask is the task type of the only tasks whose reward is no list.
const productTask = "product"

func problem(row *rows.RL) ([]byte, error) {
	var p map[string]json.RawMessage
	if err := json.Unmarshal([]byte(row.RewardModel.Truth), &p); err != nil {
		return nil, fmt.Errorf("read specification of problem %s: %w", row.ProblemID, err)
	}
	var rewards []json.RawMessage
	if err := json.Unmarshal(p["reward"], &rewards); err != nil {
		return nil, fmt.Errorf("read reward of problem %s: %w", row.ProblemID, err)
	}
	// A product task's reward is one object; the scorer takes it as it is.
	if len(rewards) == 1 && row.TaskType == productTask {
		p["reward"] = rewards[0]
	}
	for key, value := range map[string]string{"problem_id": row.ProblemID, "query": rows.Request(row.Prompt)} {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encode problem %s: %w", row.ProblemID, err)
		}
		p[key] = text
	}
	return json.Marshal(p)
}
