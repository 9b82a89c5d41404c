package recipe

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
)

// ErrNotProtected says that a corpus was guarded by held-out files that the
// recipe was not given.
var ErrNotProtected = errors.New("the corpus was guarded by a held-out file that is not given")

// protection holds rows against the pinned split and all that is protected.
type protection struct {
	bank  *guard.State
	text  []byte
	guard *guard.Guard
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

// protect reads the split that the corpus in dir pinned and indexes what it protects,
// with the entries of held-out files. It fails closed.
func protect(fsys corpus.FS, dir string, heldOut []guard.Entry) (*protection, error) {
	const maxBank = 64 << 20
	p := &protection{}
	var err error
	if p.text, err = corpus.ReadFile(fsys, filepath.Join(dir, "bank.json"), maxBank); err != nil {
		return nil, err
	}
	if p.bank, err = guard.ReadState(bytes.NewReader(p.text)); err != nil {
		return nil, err
	}
	none := func(string) bool { return false }
	protected := slices.Concat(heldOut, p.bank.ProtectedIn(guard.PoolEval, "eval", none, none), p.bank.ProtectedIn(guard.PoolNeverTouch, "never-touch", none, none))
	if p.guard, err = guard.New(protected, guard.Config{}); err != nil {
		return nil, err
	}
	planted := p.guard.Injection(p.bank.Seed)
	if err = errors.Join(p.guard.Canary(), planted.Validate()); err != nil {
		return nil, err
	}
	p.proof = Proof{BankSHA256: corpus.SHA256(p.text), Clusters: map[guard.Pool]int{}, HeldOut: len(heldOut), Canary: "caught", Outside: []string{}, Guard: guard.NewReport(p.guard)}
	p.proof.Guard.Injection = &planted
	for _, c := range p.bank.Clusters {
		p.proof.Clusters[c.Pool]++
	}
	return p, nil
}

// The reasons for which the protection drops a row.
const (
	reasonPool = "protected_cluster"
	reasonLeak = "leak"
)

// check holds a row against the split and the guard; empty where it may stay.
func (p *protection) check(v *view) string {
	if p.bank.Pool(v.cluster) != guard.PoolTrain {
		p.proof.Outside = append(p.proof.Outside, v.key)
		return reasonPool
	}
	f := p.guard.Check(v.candidate)
	p.proof.Guard.Add(v.key, f)
	if f.Drop {
		return reasonLeak
	}
	return ""
}

// Guarded refuses to go on without a held-out file that the corpus was guarded
// by: what was protected from its rows must be protected from new ones. given
// are the hashes of the held-out files at hand.
func Guarded(m *corpus.Manifest, given []string) error {
	for _, in := range m.Inputs {
		if in.Kind == "held_out" && in.SHA256 != "" && !slices.Contains(given, in.SHA256) {
			return fmt.Errorf("%w: sha256 %s, %d problems", ErrNotProtected, in.SHA256, in.Records)
		}
	}
	return nil
}
