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

// ErrNotProtected says that problems that a corpus keeps out as held out would
// not be kept out of what is made of it, or in its place.
var ErrNotProtected = errors.New("problems that the corpus was guarded against are not given")

// HeldOut reads held-out files. digests name what is in them as manifests do.
func HeldOut(paths []string) (all []guard.Entry, digests []string, err error) {
	for _, path := range paths {
		entries, err := guard.ReadBank(path)
		if err != nil {
			return nil, nil, err
		}
		all, digests = append(all, entries...), append(digests, guard.Digest(entries))
		for _, file := range []string{path, filepath.Join(path, corpus.BankName)} { // a folder has no bytes of its own
			if b, err := os.ReadFile(file); err == nil {
				digests = append(digests, digest.SHA256(b))
			}
		}
	}
	return all, digests, nil
}

// Known is all that the sources of a corpus and held-out files keep out of
// training.
type Known struct {
	// Bank joins their banks; nil where nobody protects anything.
	Bank *guard.State
	// HeldOut are the entries of held-out files, which are in Bank too, and Given
	// names these files as manifests do.
	HeldOut []guard.Entry
	Given   []string
	// Least is the lowest score from which one of the sources dropped rows that come
	// near its own protected requests; 0 where one does not say, or where more is held out.
	Least float64
}

// Gather finds out what every source ever held out, and refuses one of which
// that cannot be known. A request of a source that the guard takes for a protected
// one brings its cluster along: the other members are the same problem in other
// clothes.
func Gather(sources []*Source, heldOut []string) (*Known, error) {
	k := &Known{}
	var err error
	if k.HeldOut, k.Given, err = HeldOut(heldOut); err != nil {
		return nil, err
	}
	var banks []*guard.State
	for _, s := range sources {
		var bank *guard.State
		if bank, err = s.Guarded(k.Given); err != nil {
			return nil, err
		}
		if bank != nil {
			banks = append(banks, bank)
		}
	}
	if len(k.HeldOut) > 0 {
		banks = append(banks, guard.HoldOut(k.HeldOut))
	}
	if len(banks) == 0 {
		return k, nil
	}
	k.Bank = guard.Union(banks[0], banks[1:]...)
	for i, s := range sources {
		least, err := s.threshold()
		if err != nil {
			return nil, err
		}
		if i == 0 || least < k.Least {
			k.Least = least
		}
	}
	if len(k.HeldOut) > 0 {
		k.Least = 0
	}
	return k, k.joinTwins(sources)
}

// threshold is the lexical score from which rows of the source were dropped; 0 where it
// does not say. It is raised where requests are of one template, and a bank alone does not
// tell by how much: which of a cluster's products a request asks for is not in it.
func (s *Source) threshold() (least float64, err error) {
	var leak struct {
		Guard struct{ Threshold float64 }
	}
	const report = "reports/leak.json" // what the guard of a build found, and how it looked
	if s.Has(report) {
		err = corpus.ReadJSON(s.fs, s.Path(report), most, &leak)
	}
	return leak.Guard.Threshold, err
}

// Protecting is the bank with what it protects alone: its training clusters may
// be split again.
func (k *Known) Protecting() *guard.State {
	out := &guard.State{}
	if k.Bank != nil {
		out.Clusters = slices.DeleteFunc(slices.Clone(k.Bank.Clusters), func(c guard.StateCluster) bool { return c.Pool == guard.PoolTrain })
	}
	return out
}

// Guarded gives the bank of the corpus; nil where nothing was held out. It
// refuses a corpus of which a held-out file is not given and that has no bank, or
// one kept at home, to say what was in it.
func (s *Source) Guarded(given []string) (*guard.State, error) {
	bank, err := s.Bank()
	if gone := errors.Is(err, fs.ErrNotExist); err != nil && !gone || bank != nil {
		return bank, err
	}
	asked := s.Manifest.Guards()
	for _, f := range s.Manifest.Files {
		if f.Path == corpus.BankName {
			asked = append(asked, corpus.Input{Kind: corpus.InputBank, SHA256: f.SHA256})
		}
	}
	for _, in := range asked {
		if in.SHA256 != "" && !slices.Contains(given, in.SHA256) {
			return nil, fmt.Errorf("read %s: %w: %s of sha256 %.12s…", s.Dir, ErrNotProtected, in.Kind, in.SHA256)
		}
	}
	return bank, nil
}

// Given are the sha256 of the files that the corpus itself was guarded by.
func (s *Source) Given() []string {
	return slicesx.Map(s.Manifest.Guards(), func(in corpus.Input) string { return in.SHA256 })
}

// Keeps refuses to put a corpus with the bank next, nil for none, in the place of
// one that keeps more out. given name the held-out files of this run.
func Keeps(fsys corpus.FS, dir string, next *guard.State, given []string) error {
	if is, err := corpus.IsCorpus(fsys, dir); err != nil || !is {
		return err // what may not be replaced is not for here
	}
	old, err := Open(fsys, dir)
	if err != nil {
		return err
	}
	bank, err := old.Guarded(given)
	if err != nil || bank == nil {
		return err
	}
	if next == nil {
		next = guard.HoldOut(nil)
	}
	if lost := bank.Exposed(next); len(lost) > 0 {
		return fmt.Errorf("replace %s: %w: %d held-out clusters, the first has %q", dir, ErrNotProtected, len(lost), lost[0].HeldOut)
	}
	return nil
}
