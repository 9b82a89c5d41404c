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
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/traces"
)

// ErrBroken is returned if a source corpus fails its verification.
var ErrBroken = errors.New("a source does not verify")

// maxFileBytes is the maximum size in bytes of a bank.json (the file with the pool, such as train
// or held-out, of each problem) or of a report that is read.
const maxFileBytes = 256 << 20

// Source is a finished corpus from which rows are read.
type Source struct {
	Dir      string
	Manifest *corpus.Manifest
	// SHA256 and Bytes are the hash and the size of the manifest file.
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
	size, sum, err := corpus.HashFile(fsys, filepath.Join(dir, corpus.ManifestName))
	return &Source{
		Dir:      dir,
		Manifest: m,
		SHA256:   sum,
		Bytes:    size,
		fs:       fsys,
	}, err
}

// Verify returns ErrBroken if the files of the source do not agree with its manifest. Withheld
// files are no error.
func (s *Source) Verify(ctx context.Context) error {
	findings, err := verify.Corpus(ctx, s.fs, s.Dir)
	if err != nil {
		return err
	}
	findings = slices.DeleteFunc(findings, func(f verify.Finding) bool {
		return f.Withheld
	})
	if len(findings) > 0 {
		return fmt.Errorf("read %s: %w: %s", s.Dir, ErrBroken, findings[0])
	}
	return nil
}

// Bank returns the split that the source records in its bank file. It returns nil if there is
// none.
func (s *Source) Bank() (*guard.State, error) {
	if !s.Has(corpus.BankName) {
		return nil, nil
	}
	b, err := corpus.ReadFile(s.fs, s.Path(corpus.BankName), maxFileBytes)
	if err != nil {
		return nil, err
	}
	if err = s.Manifest.CheckFile(corpus.BankName, b); err != nil {
		return nil, fmt.Errorf("read bank of %s: %w", s.Dir, err)
	}
	bank, err := guard.ReadState(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path(corpus.BankName), err)
	}
	return bank, nil
}

// Input returns the entry of this source in the manifest of a corpus that is made from it.
func (s *Source) Input(kind string) corpus.Input {
	return corpus.Input{
		Kind:    kind,
		SHA256:  s.SHA256,
		Bytes:   s.Bytes,
		Records: int64(len(s.Manifest.Files)),
	}
}

// Has reports whether the manifest lists the file.
func (s *Source) Has(path string) bool {
	return slices.ContainsFunc(s.Manifest.Files, func(f corpus.FileEntry) bool {
		return f.Path == path
	})
}

// HasTable reports whether the source has the named table of the ledger.
func (s *Source) HasTable(name string) bool { return s.Has(tablePath(name)) }

func tablePath(name string) string { return "tables/" + name + ".parquet" }

// Path returns the path of a file of the source on disk.
func (s *Source) Path(rel string) string { return filepath.Join(s.Dir, filepath.FromSlash(rel)) }

// Files returns the paths of a profile's shards in a split. It leaves out turns that were
// derived from the rows of another config.
func (s *Source) Files(profile, split string) []string {
	out := slicesx.FilterMap(s.Manifest.Files, func(f corpus.FileEntry) (string, bool) {
		return f.Path, f.Profile == profile && f.Split == split && !corpus.IsDerived(f.Config)
	})
	slices.Sort(out)
	return out
}

// Rows calls visit for each row of a profile in a split, in order. It stops at the first error.
func Rows[T any](
	s *Source,
	profile, split string,
	visit func(*T) error,
) error {
	for _, path := range s.Files(profile, split) {
		if err := corpus.ReadRows(s.fs, s.Path(path), visit); err != nil {
			return err
		}
	}
	return nil
}

// Table calls visit for each row of a ledger table. It does nothing if the source does not have
// the table.
func Table[T any](
	s *Source,
	name string,
	visit func(*T) error,
) error {
	if !s.HasTable(name) {
		return nil
	}
	return corpus.ReadRows(s.fs, s.Path(tablePath(name)), visit)
}

// EnclosingCorpora opens the corpora whose folders contain the inputs. Problems that these hold
// out must stay held out of a corpus that is made from their rows.
func EnclosingCorpora(fsys corpus.FS, inputs []traces.Input) ([]*Source, error) {
	var out []*Source
	visited := map[string]bool{}
	for i := range inputs { // by index: another goroutine may still hash an input
		name := inputs[i].Path
		if name == traces.Stdin {
			continue
		}
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, fmt.Errorf("find the corpus around %s: %w", name, err)
		}
		for dir := filepath.Dir(path); !visited[dir]; dir = filepath.Dir(dir) {
			visited[dir] = true
			exists, err := corpus.IsCorpus(fsys, dir)
			if err != nil {
				return nil, err
			}
			if !exists {
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
