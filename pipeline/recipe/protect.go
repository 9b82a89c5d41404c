package recipe

import (
	"fmt"
	"io/fs"

	"github.com/trajectory-arena/arena/corpus"
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

// Protected counts the problems that rows were held against.
func (p *Proof) Protected() int {
	n := 0
	for _, bank := range p.Guard.Banks {
		n += bank.Problems
	}
	return n
}

// protect indexes all that the sources and held-out files protect; the first
// source pins the split.
func protect(sources []*finish.Source, heldOut []string) (*protection, error) {
	if s := sources[0]; !s.Has(corpus.BankName) {
		return nil, fmt.Errorf("read %s: %w", s.Path(corpus.BankName), fs.ErrNotExist)
	}
	known, err := finish.Gather(sources, heldOut)
	if err != nil {
		return nil, err
	}
	bank := known.Bank
	p := &protection{bank: bank, given: known.Given}
	if p.Protection, err = finish.Protect(finish.InBank(bank, known.HeldOut), guard.Config{Least: known.Least}, bank.Seed); err != nil {
		return nil, err
	}
	text, err := bank.Encode()
	if err != nil {
		return nil, err
	}
	p.proof = Proof{BankSHA256: digest.SHA256(text), Clusters: map[guard.Pool]int{}, HeldOut: len(known.HeldOut), Canary: "caught", Outside: []string{}, Guard: guard.NewReport(p.Guard(corpus.SplitTrain))}
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
