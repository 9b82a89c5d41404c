package corpus

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus/chat"
)

// Finding is one broken promise of a corpus.
type Finding struct {
	// Path is the file it was found in, relative to the corpus.
	Path string
	// What says what is wrong.
	What string
	// Leak is true where a split sees what another one is graded by.
	Leak bool
}

// String is the finding in one line.
func (f Finding) String() string { return f.Path + ": " + f.What }

// Verify checks every promise of a corpus again from its files alone: sizes,
// hashes, rows, schemas, the card's counts, the funnel's arithmetic, the
// messages, and that no cluster, problem or product is in two splits. It gives
// all findings, and an error where it could not check.
func Verify(ctx context.Context, fsys FS, dir string) ([]Finding, error) {
	m, err := ReadManifest(fsys, dir)
	if err != nil {
		return nil, err
	}
	v := verifier{fs: fsys, dir: dir, m: m, seen: newSightings()}
	if err := v.all(ctx); err != nil {
		return nil, err
	}
	slices.SortStableFunc(v.found, func(a, b Finding) int { return cmp.Compare(a.Path, b.Path) })
	return v.found, nil
}

type verifier struct {
	fs    FS
	dir   string
	m     *Manifest
	found []Finding
	seen  sightings
	// whole are the files that are what the manifest says; only they are read
	// further.
	whole map[string]bool
	// tools are those of the row before and schema what was read of them.
	tools  []string
	schema chat.Schema
}

func (v *verifier) all(ctx context.Context) error {
	if err := Balance(v.m.Funnel); err != nil {
		v.say(ManifestName, "%v", err)
	}
	v.whole = map[string]bool{}
	listed := map[string]bool{ManifestName: true}
	for i := range v.m.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		listed[v.m.Files[i].Path] = true
		if err := v.file(&v.m.Files[i]); err != nil {
			return err
		}
	}
	err := strangers(v.fs, v.dir, ".", listed, func(name string) error {
		v.say(name, "the manifest does not name this file") // loaders take files by patterns
		return nil
	})
	if err != nil {
		return err
	}
	for i := range v.m.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		v.content(ctx, &v.m.Files[i])
	}
	v.card()
	v.bank()
	if err := v.secrets(ctx); err != nil {
		return err
	}
	v.found = append(v.found, v.seen.overlaps()...)
	return nil
}

func (v *verifier) say(path, what string, args ...any) {
	v.found = append(v.found, Finding{Path: path, What: fmt.Sprintf(what, args...)})
}

func (v *verifier) full(rel string) string { return filepath.Join(v.dir, filepath.FromSlash(rel)) }

// file holds one file's bytes against the manifest.
func (v *verifier) file(f *FileEntry) error {
	size, sum, err := fileDigest(v.fs, v.full(f.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.say(f.Path, "the file is missing")
	case err != nil:
		return err
	case size != f.Bytes:
		v.say(f.Path, "%d bytes, the manifest says %d", size, f.Bytes)
	case sum != f.SHA256:
		v.say(f.Path, "sha256 %s, the manifest says %s", sum, f.SHA256)
	default:
		v.whole[f.Path] = true
	}
	return nil
}

// fileDigest gives a file's size and sha256.
func fileDigest(fsys FS, full string) (int64, string, error) {
	h := sha256.New()
	n, err := hashed(fsys, full, h)
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// hashed puts a whole file through a hash and gives its size.
func hashed(fsys FS, full string, hash io.Writer) (int64, error) {
	f, err := fsys.Open(full)
	if err != nil {
		return 0, fmt.Errorf("open %s: %w", full, err)
	}
	defer closeRead(f)
	n, err := io.Copy(hash, f)
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", full, err)
	}
	return n, nil
}
