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

// protection holds rows against the pinned split and all that is protected.
type protection struct {
	*finish.Protection
	bank  *guard.State
	given []string
	proof Proof
}

// Proof is what shows that nothing protected is in the data of a recipe.
type Proof struct {
	// BankSHA256 names the pinned split, HeldOut counts the entries of held-out
	// files, Clusters and those protected by it.
	BankSHA256 string             `json:"bank_sha256"`
	Clusters   map[guard.Pool]int `json:"clusters"`
	HeldOut    int                `json:"held_out_entries"`
	// Canary says that a planted protected request was caught.
	Canary string `json:"canary"`
	// Outside names the rows whose cluster is not in the train pool.
	Outside []string `json:"rows_outside_train_pool"`
	// Guard is what the tiers found in every row that was looked at.
	Guard *guard.Report `json:"guard"`
}

// protect indexes all that the sources and held-out files protect; the first
// source pins the split.
func protect(sources []*finish.Source, heldOut []string) (*protection, error) {
	if s := sources[0]; !s.Has(corpus.BankName) {
		return nil, fmt.Errorf("read %s: %w", s.Path(corpus.BankName), fs.ErrNotExist)
	}
	known, err := finish.CollectExclusions(sources, heldOut)
	if err != nil {
		return nil, err
	}
	bank := known.Bank
	p := &protection{bank: bank, given: known.HeldOutDigests}
	if p.Protection, err = finish.NewProtection(finish.ProtectedInBank(bank, known.HeldOut), guard.Config{MinDrop: known.MinScore}, bank.Seed); err != nil {
		return nil, err
	}
	p.proof = Proof{BankSHA256: digest.SHA256(bank.Encode()), Clusters: map[guard.Pool]int{}, HeldOut: len(known.HeldOut), Canary: "caught", Outside: []string{}, Guard: guard.NewReport(p.Guard(corpus.SplitTrain))}
	p.proof.Guard.Injection = &p.Injection
	for _, c := range bank.Clusters {
		p.proof.Clusters[c.Pool]++
	}
	return p, nil
}

// The reasons for which the protection drops a row.
const (
	reasonPool = "protected_cluster" // its problem is of a cluster that is held out
	reasonLeak = "leak"              // the guard finds a protected problem in it
)

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
		p[key] = json.RawMessage(arena.Quote(value))
	}
	return json.Marshal(p)
}
