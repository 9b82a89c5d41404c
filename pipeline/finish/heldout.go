package finish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// ErrNotProtected is returned if a new corpus would allow training on problems that an earlier
// corpus excludes. The earlier corpus is the one that it replaces, or one from which it is made.
var ErrNotProtected = errors.New("problems that the corpus was guarded against are not given")

// ReadHeldOut reads files of held-out problems. It returns the problems and the digests by which
// manifests identify the files.
func ReadHeldOut(paths []string) (entries []guard.Entry, digests []string, err error) {
	for _, path := range paths {
		bank, err := guard.ReadBank(path)
		if err != nil {
			return nil, nil, err
		}
		entries = append(entries, bank...)
		digests = append(digests, guard.Digest(bank))
		// A folder is identified by the bank file in it.
		for _, file := range []string{path, filepath.Join(path, corpus.BankName)} {
			if b, err := os.ReadFile(file); err == nil {
				digests = append(digests, digest.SHA256(b))
			}
		}
	}
	return entries, digests, nil
}

// Exclusions are the problems that must not be used for training, from the sources of a corpus
// and from files of held-out problems.
type Exclusions struct {
	// Bank is the union of all banks. It is nil if nothing is protected.
	Bank *guard.State
	// HeldOut are the problems of held-out files. Bank contains them too.
	HeldOut []guard.Entry
	// HeldOutDigests are the digests by which manifests identify the held-out files.
	HeldOutDigests []string
	// MinScore is the lowest lexical score at which the build of a source dropped rows. It is 0
	// if a source does not record the score, or if there are held-out files.
	MinScore float64
	// SameOnly reports that the builds of all sources kept near misses of protected requests. It is
	// false if there are held-out files.
	SameOnly bool
}

// GuardConfig returns the thresholds of a guard that drops no row that the builds of the sources kept.
func (x *Exclusions) GuardConfig() guard.Config {
	return guard.Config{MinDrop: x.MinScore, SameOnly: x.SameOnly}
}

// CollectExclusions collects the problems that the sources and the held-out files protect. It
// returns an error if the problems that a source excludes are unknown. If the guard drops one
// request of a cluster, the whole cluster is protected, because all its members are the same
// problem in other words.
func CollectExclusions(sources []*Source, heldOut []string) (*Exclusions, error) {
	entries, digests, err := ReadHeldOut(heldOut)
	if err != nil {
		return nil, err
	}
	x := &Exclusions{HeldOut: entries, HeldOutDigests: digests}
	var banks []*guard.State
	for _, s := range sources {
		bank, bankErr := s.ProtectedBank(digests)
		if bankErr != nil {
			return nil, bankErr
		}
		if bank != nil {
			banks = append(banks, bank)
		}
	}
	if len(entries) > 0 {
		banks = append(banks, guard.HoldOut(entries))
	}
	if len(banks) == 0 {
		return x, nil
	}
	x.Bank = guard.Union(banks[0], banks[1:]...)

	if len(entries) == 0 {
		if err = x.readThresholds(sources); err != nil {
			return nil, err
		}
	}
	return x, x.joinDuplicates(sources)
}

// readThresholds sets MinScore and SameOnly to those of the builds of the sources. The recorded
// pools of the problems do not suffice to compute MinScore again, since they lack the right answers.
func (x *Exclusions) readThresholds(sources []*Source) error {
	for i, s := range sources {
		leak, err := s.leakReport()
		if err != nil {
			return err
		}
		if i == 0 || leak.Threshold < x.MinScore {
			x.MinScore = leak.Threshold
		}
		x.SameOnly = leak.SameOnly && (i == 0 || x.SameOnly)
	}
	return nil
}

// FrozenBanks returns the citations of the frozen banks with which the corpus was guarded.
func (s *Source) FrozenBanks() ([]string, error) {
	leak, err := s.leakReport()
	return slicesx.FilterMap(leak.Banks, func(b guard.BankReport) (string, bool) {
		return b.Bank, guard.IsCitation(b.Bank)
	}), err
}

// leakReport returns the part of reports/leak.json on the guard, which searches rows for protected
// problems. It returns the zero value if the corpus does not have the file.
func (s *Source) leakReport() (guard.Report, error) {
	const report = "reports/leak.json"
	var leak struct{ Guard guard.Report }
	if !s.Has(report) {
		return leak.Guard, nil
	}
	err := corpus.ReadJSON(s.fs, s.Path(report), maxFileBytes, &leak)
	return leak.Guard, err
}

// ProtectedOnly returns the bank without its training clusters. Those may be split again.
func (x *Exclusions) ProtectedOnly() *guard.State {
	out := &guard.State{}
	if x.Bank != nil {
		out.Clusters = slices.Clone(x.Bank.Clusters)
		out.Clusters = slices.DeleteFunc(out.Clusters, func(c guard.StateCluster) bool {
			return c.Pool == guard.PoolTrain
		})
	}
	return out
}

// ProtectedBank returns the bank of the corpus, nil if nothing was held out. The error is
// ErrNotProtected if the protected problems are unknown: the corpus has no published bank and
// was guarded with a file that is not among digests.
func (s *Source) ProtectedBank(digests []string) (*guard.State, error) {
	bank, err := s.Bank()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if bank != nil {
		return bank, nil
	}
	guards := s.Manifest.GuardInputs()
	for _, f := range s.Manifest.Files {
		if f.Path == corpus.BankName {
			guards = append(guards, corpus.Input{
				Kind:   corpus.InputBank,
				SHA256: f.SHA256,
			})
		}
	}
	for _, in := range guards {
		if in.SHA256 != "" && !slices.Contains(digests, in.SHA256) {
			return nil, fmt.Errorf("read %s: %w: %s of sha256 %.12s…", s.Dir, ErrNotProtected, in.Kind, in.SHA256)
		}
	}
	return nil, nil
}

// GuardDigests returns the SHA-256 of each file with which the corpus was guarded.
func (s *Source) GuardDigests() []string {
	return slicesx.Map(s.Manifest.GuardInputs(), func(in corpus.Input) string {
		return in.SHA256
	})
}

// CheckStillExcluded checks that a new corpus may replace the one in dir. next is the bank of
// the new corpus, nil if it has none. It must protect everything that the old corpus protects;
// otherwise the error is ErrNotProtected. digests identify the held-out files of this run. A
// folder without a corpus passes.
func CheckStillExcluded(
	fsys corpus.FS,
	dir string,
	next *guard.State,
	digests []string,
) error {
	exists, err := corpus.IsCorpus(fsys, dir)
	if err != nil || !exists {
		return err
	}
	old, err := Open(fsys, dir)
	if err != nil {
		return err
	}
	bank, err := old.ProtectedBank(digests)
	if err != nil || bank == nil {
		return err
	}
	if next == nil {
		next = guard.HoldOut(nil)
	}
	if exposed := bank.Exposed(next); len(exposed) > 0 {
		return fmt.Errorf("replace %s: %w: %d held-out clusters, the first has %q", dir, ErrNotProtected, len(exposed), exposed[0].HeldOut)
	}
	return nil
}
