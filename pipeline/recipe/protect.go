package recipe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// protection checks that no training row is about a protected problem: it compares each row with
// the recorded pools of the problems and with the texts of all protected problems. It collects the
// findings as evidence for the report.
type protection struct {
	*finish.Protection
	bank *guard.State
	// heldOutDigests identify the held-out files.
	heldOutDigests []string
	proof          Proof
}

// Proof is the evidence that nothing protected is in the data of a recipe.
type Proof struct {
	// BankSHA256 identifies the pinned split.
	BankSHA256 string `json:"bank_sha256"`
	// Clusters counts the clusters by pool.
	Clusters map[guard.Pool]int `json:"clusters"`
	// HeldOut is the number of entries of held-out files.
	HeldOut int `json:"held_out_entries"`
	// Canary is "caught": the guards found a planted protected request.
	Canary string `json:"canary"`
	// Outside are the IDs of the rows of clusters outside the train pool.
	Outside []string `json:"rows_outside_train_pool"`
	// Guard has the findings of the tiers in every checked row.
	Guard *guard.Report `json:"guard"`
}

// newProtection creates the guards against all problems that the sources and the files of held-out
// problems protect. It returns an error if the first source has no bank.json, the record of which
// problems are protected.
func newProtection(sources []*finish.Source, heldOut []string) (*protection, error) {
	if s := sources[0]; !s.Has(corpus.BankName) {
		return nil, fmt.Errorf("read %s: %w", s.Path(corpus.BankName), fs.ErrNotExist)
	}
	x, err := finish.CollectExclusions(sources, heldOut)
	if err != nil {
		return nil, err
	}
	bank := x.Bank
	p := &protection{bank: bank, heldOutDigests: x.HeldOutDigests}
	entries := finish.ProtectedInBank(bank, x.HeldOut)
	if p.Protection, err = finish.NewProtection(entries, x.GuardConfig(), bank.Seed); err != nil {
		return nil, err
	}
	p.proof = Proof{
		BankSHA256: digest.SHA256(bank.Encode()),
		Clusters:   map[guard.Pool]int{},
		HeldOut:    len(x.HeldOut),
		Canary:     "caught",
		Outside:    []string{},
		Guard:      guard.NewReport(p.Guard(corpus.SplitTrain)),
	}
	p.proof.Guard.Injection = &p.Injection
	p.proof.Guard.Honest = &p.Honest
	for _, c := range bank.Clusters {
		p.proof.Clusters[c.Pool]++
	}
	return p, nil
}

// The codes of the reasons for which type protection drops a row.
const (
	reasonPool = "protected_cluster" // its problem is in a cluster outside the train pool
	reasonLeak = "leak"              // the guard finds a protected problem in it
)

// check returns the reason why a row must not be trained on, or "" if it may be. It adds what the
// guard finds to p.proof, the evidence for the report.
func (p *protection) check(v *view) string {
	f := p.Check(corpus.SplitTrain, v.Candidate)
	p.proof.Guard.Add(v.Candidate.ID, f)
	if f.Drop {
		return reasonLeak
	}
	if p.bank.Pool(v.Cluster) != guard.PoolTrain {
		p.proof.Outside = append(p.proof.Outside, v.Candidate.ID)
		return reasonPool
	}
	return ""
}

// ErrNoProblems reports that a corpus has no problem to train on.
var ErrNoProblems = errors.New("the corpus has no training problem that is not protected")

// Problems returns the training problems of the corpus in dir as a problems file: those of its
// rl config's train split that are near no held-out entry and in no protected cluster. Rollouts
// are played at them only, so that no protected problem can be trained on. threshold is the
// lexical score from which a problem was near; the rollouts must be guarded with the same one.
func Problems(
	fsys corpus.FS,
	dir string,
	heldOut []string,
) (text []byte, threshold float64, err error) {
	s, err := finish.Open(fsys, dir)
	if err != nil {
		return nil, 0, err
	}
	p, err := newProtection([]*finish.Source{s}, heldOut)
	if err != nil {
		return nil, 0, err
	}
	var b bytes.Buffer
	err = finish.Rows(s, corpus.ProfileVerlRL, corpus.SplitTrain, func(row *rows.RL) error {
		v, rowErr := newView(row)
		if rowErr != nil || p.check(&v) != "" {
			return rowErr
		}
		line, rowErr := encodeProblem(row)
		b.Write(append(line, '\n'))
		return rowErr
	})
	if err != nil {
		return nil, 0, err
	}
	if b.Len() == 0 {
		return nil, 0, ErrNoProblems
	}
	return b.Bytes(), p.proof.Guard.Threshold, nil
}

// productTask is the task type of which a problems file has a single object as reward. For every
// other task type the reward is a list.
const productTask = "product"

// encodeProblem returns the problem of a row as JSON, in the form of a line of a problems file
// without the newline. It returns an error if the problem's reward specification in the row is
// invalid.
func encodeProblem(row *rows.RL) ([]byte, error) {
	var p map[string]json.RawMessage
	if err := json.Unmarshal([]byte(row.RewardModel.Truth), &p); err != nil {
		return nil, fmt.Errorf("read specification of problem %s: %w", row.ProblemID, err)
	}
	var rewards []json.RawMessage
	if err := json.Unmarshal(p["reward"], &rewards); err != nil {
		return nil, fmt.Errorf("read reward of problem %s: %w", row.ProblemID, err)
	}
	// the scorer expects one object as the reward of a product task
	if len(rewards) == 1 && row.TaskType == productTask {
		p["reward"] = rewards[0]
	}
	for key, value := range map[string]string{"problem_id": row.ProblemID, "query": rows.Request(row.Prompt)} {
		p[key] = json.RawMessage(arena.Quote(value))
	}
	return json.Marshal(p)
}
