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

// ErrNotProtected reports that a corpus would expose problems to training that the
// corpus in its place, or a corpus that it is made from, holds out.
var ErrNotProtected = errors.New("problems that the corpus was guarded against are not given")

// ReadHeldOut reads held-out files. It returns their entries and the digests by
// which manifests identify the files.
func ReadHeldOut(paths []string) (entries []guard.Entry, digests []string, err error) {
	for _, path := range paths {
		bank, err := guard.ReadBank(path)
		if err != nil {
			return nil, nil, err
		}
		entries = append(entries, bank...)
		digests = append(digests, guard.Digest(bank))
		// path may be a folder, which has no bytes itself
		for _, file := range []string{path, filepath.Join(path, corpus.BankName)} {
			if b, err := os.ReadFile(file); err == nil {
				digests = append(digests, digest.SHA256(b))
			}
		}
	}
	return entries, digests, nil
}

// Exclusions are the problems that the sources of a corpus and held-out files keep
// out of training.
type Exclusions struct {
	// Bank is the union of all banks, nil if nothing is protected.
	Bank *guard.State
	// HeldOut are the entries of held-out files. Bank contains them, too.
	HeldOut []guard.Entry
	// HeldOutDigests identify the held-out files as manifests do.
	HeldOutDigests []string
	// MinScore is the lowest lexical score from which a source dropped rows near its
	// own protected requests. It is 0 if a source does not record it, or if there are
	// held-out files.
	MinScore float64
}

// CollectExclusions collects what the sources and the held-out files protect. It
// returns an error for a source whose exclusions cannot be known. A cluster of a
// source is protected as a whole if the guard drops one of its requests, because
// its members are the same problem in other words.
func CollectExclusions(sources []*Source, heldOut []string) (*Exclusions, error) {
	entries, digests, err := ReadHeldOut(heldOut)
	if err != nil {
		return nil, err
	}
	x := &Exclusions{HeldOut: entries, HeldOutDigests: digests}
	var banks []*guard.State
	for _, s := range sources {
		bank, err := s.ProtectedBank(digests)
		if err != nil {
			return nil, err
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

	for i, s := range sources {
		score, err := s.dropScore()
		if err != nil {
			return nil, err
		}
		if i == 0 || score < x.MinScore {
			x.MinScore = score
		}
	}
	if len(entries) > 0 {
		x.MinScore = 0
	}
	return x, x.joinDuplicates(sources)
}

// dropScore returns the lexical score from which the build of the source dropped rows. It is 0 if
// the source does not record it. The score cannot be computed again from the bank, which does not
// record for which product of a cluster a request asks.
func (s *Source) dropScore() (float64, error) {
	leak, err := s.leakReport()
	return leak.Threshold, err
}

// FrozenBanks returns the citations of the frozen banks that the corpus was guarded against.
func (s *Source) FrozenBanks() ([]string, error) {
	leak, err := s.leakReport()
	return slicesx.FilterMap(leak.Banks, func(b guard.BankReport) (string, bool) {
		return b.Bank, guard.IsCitation(b.Bank)
	}), err
}

// leakReport returns the guard's part of reports/leak.json, the zero value if the corpus has no such
// file.
func (s *Source) leakReport() (guard.Report, error) {
	const report = "reports/leak.json"
	var leak struct{ Guard guard.Report }
	if !s.Has(report) {
		return leak.Guard, nil
	}
	err := corpus.ReadJSON(s.fs, s.Path(report), maxFileBytes, &leak)
	return leak.Guard, err
}

// ProtectedOnly returns the bank without its training clusters, which may be split
// again.
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

// ProtectedBank returns the bank of the corpus, nil if nothing was held out. The
// error is ErrNotProtected if the corpus has no bank, or has an unpublished one, and
// was guarded by a file that is not among the digests: its problems are unknown
// then.
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

// GuardDigests returns the sha256 of the files that the corpus was guarded by.
func (s *Source) GuardDigests() []string {
	return slicesx.Map(s.Manifest.GuardInputs(), func(in corpus.Input) string {
		return in.SHA256
	})
}

// CheckStillExcluded checks that a corpus with the bank next, nil if it has none,
// may replace the one in dir: next must protect all that the old one protects.
// digests identify the held-out files of this run. The error is ErrNotProtected
// otherwise. A folder without a corpus passes.
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
