package finish

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/digest"
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
		if b, err := os.ReadFile(path); err == nil { // a folder has no bytes of its own
			digests = append(digests, digest.SHA256(b))
		}
	}
	return all, digests, nil
}

// Guarded refuses a source whose bank does not say what was held out from it, as
// that of an earlier version, unless the held-out files that its manifest names
// are given, by their digests.
func (s *Source) Guarded(given []string) error {
	if bank, err := s.Bank(); err != nil || bank != nil && bank.KnowsHeldOut() {
		return err
	}
	for _, in := range s.Manifest.Inputs {
		if in.Kind == "held_out" && in.SHA256 != "" && !slices.Contains(given, in.SHA256) {
			return fmt.Errorf("read %s: %w: a held-out file, sha256 %s, %d problems", s.Dir, ErrNotProtected, in.SHA256, in.Records)
		}
	}
	return nil
}

// Keeps refuses to put a corpus with the bank next in the place of one in dir
// that holds out more. given are the digests of held-out files.
func Keeps(fsys corpus.FS, dir string, next *guard.State, given []string) error {
	old, err := Open(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = old.Guarded(given)
	}
	if err != nil {
		return err
	}
	bank, err := old.Bank()
	if err != nil || bank == nil {
		return err
	}
	if lost := bank.Exposed(next); len(lost) > 0 {
		return fmt.Errorf("replace %s: %w: %d held-out clusters, the first has %q", dir, ErrNotProtected, len(lost), lost[0].HeldOut)
	}
	return nil
}
