package corpus_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// storedTable writes a table of groups of leaks, of which each even one was stored before, and returns
// the list of its files.
func storedTable(t *testing.T, dir string, groups []string) []corpus.PartFile {
	t.Helper()
	p, err := corpus.NewPart(corpus.Disk{}, dir, corpus.DefaultLimits)
	ok(t, err)
	p.SetRedactor(redact.New(redact.Options{}))
	s := corpus.NewShards[rows.Leak](p, corpus.Stream{Table: "leaks"})
	for i, path := range groups {
		g := s.Group()
		for k := range 10 {
			ok(t, g.Add(&rows.Leak{ID: fmt.Sprint(i, k), Evidence: "write to someone@example.com", Score: float64(k) / 10}))
		}
		ok(t, g.Close())
		if path != "" {
			ok(t, g.Store(corpus.Disk{}, path))
			g, err = s.Stored(path)
			ok(t, err)
		}
		ok(t, s.Append(g))
	}
	ok(t, s.Close())
	ok(t, p.Close())
	files, err := corpus.ReadPart(corpus.Disk{}, dir)
	ok(t, err)
	return files
}

// TestStoredGroupsAreThoseThatWereEncoded writes a table from stored groups and from new ones. Both
// files are equal, and so is what is recorded of them, such as the redacted secrets.
func TestStoredGroupsAreThoseThatWereEncoded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	encoded := storedTable(t, filepath.Join(dir, "encoded"), make([]string, 3))
	stored := storedTable(t, filepath.Join(dir, "stored"), []string{filepath.Join(dir, "a"), "", filepath.Join(dir, "b")})
	if diff := cmp.Diff(encoded, stored); diff != "" {
		t.Error(diff)
	}
	if len(stored) != 1 || len(stored[0].Redacted) == 0 {
		t.Errorf("nothing is redacted: nothing is shown: %+v", stored)
	}
}

// TestADamagedStoredGroupIsRefused damages each byte of a stored group in turn, and reads it as a group
// of other rows.
func TestADamagedStoredGroupIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "group")
	storedTable(t, filepath.Join(dir, "part"), []string{path})
	p, err := corpus.NewPart(corpus.Disk{}, filepath.Join(dir, "other"), corpus.DefaultLimits)
	ok(t, err)
	leaks := corpus.NewShards[rows.Leak](p, corpus.Stream{Table: "leaks"})
	places := corpus.NewShards[rows.Place](p, corpus.Stream{Table: "places"})
	if _, err = places.Stored(path); !errors.Is(err, corpus.ErrDamaged) {
		t.Errorf("a group of other rows: %v", err)
	}
	if _, err = leaks.Stored(path + ".missing"); !errors.Is(err, corpus.ErrDamaged) {
		t.Errorf("a missing group: %v", err)
	}
	good, err := os.ReadFile(path)
	ok(t, err)
	for i := range good {
		bad := append([]byte{}, good...)
		bad[i] ^= 0x10
		ok(t, os.WriteFile(path, bad[:len(bad)-i%2], 0o600))
		if _, err := leaks.Stored(path); !errors.Is(err, corpus.ErrDamaged) {
			t.Fatalf("byte %d of %d: %v", i, len(good), err)
		}
	}
}
