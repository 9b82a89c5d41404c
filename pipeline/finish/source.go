package finish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/verify"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/traces"
)

// ErrBroken says that a source does not keep its promises.
var ErrBroken = errors.New("a source does not verify")

const most = 256 << 20

// Source is a finished corpus that rows are taken of, known by its content.
type Source struct {
	Dir      string
	Manifest *corpus.Manifest
	// SHA256 is that of its manifest, Bytes the manifest's size.
	SHA256 string
	Bytes  int64
	fs     corpus.FS
}

// Open reads the manifest of the corpus in dir.
func Open(fsys corpus.FS, dir string) (*Source, error) {
	m, err := corpus.ReadManifest(fsys, dir)
	if err != nil {
		return nil, err
	}
	b, err := corpus.ReadFile(fsys, filepath.Join(dir, corpus.ManifestName), most)
	if err != nil {
		return nil, err
	}
	return &Source{Dir: dir, Manifest: m, SHA256: digest.SHA256(b), Bytes: int64(len(b)), fs: fsys}, nil
}

// Verify refuses a source that breaks a promise.
func (s *Source) Verify(ctx context.Context) error {
	found, err := verify.Corpus(ctx, s.fs, s.Dir)
	found = slices.DeleteFunc(found, func(f verify.Finding) bool { return f.Withheld })
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("read %s: %w: %s", s.Dir, ErrBroken, found[0])
	}
	return err
}

// Bank is the split that the source pins; nil where it pins none.
func (s *Source) Bank() (*guard.State, error) {
	if !s.Has(corpus.BankName) {
		return nil, nil
	}
	b, err := corpus.ReadFile(s.fs, s.Path(corpus.BankName), most)
	if err != nil {
		return nil, err
	}
	bank, err := guard.ReadState(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("read bank of %s: %w", s.Dir, err)
	}
	return bank, nil
}

// Input names the source in the manifest of what is made of it.
func (s *Source) Input(kind string) corpus.Input {
	return corpus.Input{Kind: kind, SHA256: s.SHA256, Bytes: s.Bytes, Records: int64(len(s.Manifest.Files))}
}

// Has reports whether the manifest names a file.
func (s *Source) Has(path string) bool {
	return slices.ContainsFunc(s.Manifest.Files, func(f corpus.FileEntry) bool { return f.Path == path })
}

// HasTable reports whether the source has a table of the ledger.
func (s *Source) HasTable(name string) bool { return s.Has(tablePath(name)) }

func tablePath(name string) string { return "tables/" + name + ".parquet" }

// Path is where a file of the source lies.
func (s *Source) Path(rel string) string { return filepath.Join(s.Dir, filepath.FromSlash(rel)) }

// Files are the shards of a profile in a split. Turns cut out of the
// rows of another config are left out.
func (s *Source) Files(profile, split string) []string {
	var out []string
	for _, f := range s.Manifest.Files {
		if f.Profile == profile && f.Split == split && !corpus.Derived(f.Config) {
			out = append(out, f.Path)
		}
	}
	slices.Sort(out)
	return out
}

// Rows reads the rows of a profile in a split, in order.
func Rows[T any](s *Source, profile, split string, visit func(*T) error) error {
	for _, path := range s.Files(profile, split) {
		if err := corpus.Rows(s.fs, s.Path(path), visit); err != nil {
			return err
		}
	}
	return nil
}

// Table reads the rows of a table of the ledger; none where it is not there.
func Table[T any](s *Source, name string, visit func(*T) error) error {
	if !s.HasTable(name) {
		return nil
	}
	return corpus.Rows(s.fs, s.Path(tablePath(name)), visit)
}

// Around opens the corpora that inputs are files of: what these keep out of
// training stays out of what is made of their rows.
func Around(fsys corpus.FS, inputs []traces.Input) ([]*Source, error) {
	var out []*Source
	seen := map[string]bool{}
	for i := range inputs { // by position: the rest of an input may still be hashed
		name := inputs[i].Path
		if name == traces.Stdin {
			continue
		}
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, fmt.Errorf("find the corpus around %s: %w", name, err)
		}
		for dir := filepath.Dir(path); !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			is, err := corpus.IsCorpus(fsys, dir)
			if err != nil {
				return nil, err
			}
			if !is {
				continue
			}
			s, err := Open(fsys, dir)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
	}
	return out, nil
}
