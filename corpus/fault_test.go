package corpus_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/verify"
	"github.com/trajectory-arena/arena/internal/longtest"
)

var errInjected = errors.New("injected")

// faulty is a disk whose n-th step fails: one of making, writing, syncing,
// closing, opening, reading, listing, renaming and removing.
type faulty struct {
	corpus.Disk
	remaining *int
	// lingers is set where the step that failed was removing, where it is not nil.
	lingers *bool
}

// calm is a faulty disk whose steps all succeed.
func calm() faulty { return faulty{remaining: new(int)} }

// step fails as a disk does: its error names the path.
func (f faulty) step(path string) error {
	*f.remaining--
	if *f.remaining == 0 {
		return &fs.PathError{Op: "step", Path: path, Err: errInjected}
	}
	return nil
}

func (f faulty) MkdirAll(p string) error {
	if err := f.step(p); err != nil {
		return err
	}
	return f.Disk.MkdirAll(p)
}

func (f faulty) Rename(a, b string) error {
	if err := f.step(a); err != nil {
		return err
	}
	return f.Disk.Rename(a, b)
}

func (f faulty) RemoveAll(p string) error {
	if err := f.step(p); err != nil {
		if f.lingers != nil {
			*f.lingers = true
		}
		return err
	}
	return f.Disk.RemoveAll(p)
}

func (f faulty) SyncDir(p string) error { return f.step(p) }

func (f faulty) Create(p string) (corpus.File, error) {
	if err := f.step(p); err != nil {
		return nil, err
	}
	file, err := f.Disk.Create(p)
	return faultyFile{file, f, p}, err
}

func (f faulty) Open(p string) (corpus.Source, error) {
	if err := f.step(p); err != nil {
		return nil, err
	}
	return f.Disk.Open(p)
}

type faultyFile struct {
	corpus.File
	fs   faulty
	path string
}

func (f faultyFile) Write(b []byte) (int, error) {
	if err := f.fs.step(f.path); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

// Sync does not reach the disk: these tests are about order, not durability.
func (f faultyFile) Sync() error { return f.fs.step(f.path) }

func (f faultyFile) Close() error {
	err := f.fs.step(f.path)
	return errors.Join(err, f.File.Close())
}

// TestAssembleFailsCleanlyAtEveryStep makes each step of writing a corpus fail in turn. The error names a
// path, no manifest is left where there was none, and the next run succeeds. Without the
// tag long it tests every fourth step.
func TestAssembleFailsCleanlyAtEveryStep(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]bool{"copied": false, "moved": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyStepFails(t, move)
		})
	}
}

func everyStepFails(t *testing.T, move bool) {
	t.Helper()
	root := t.TempDir()
	steps := 0
	stride := longtest.Pick(1, 4)
	for n := 1; ; n += stride {
		remaining := n
		lingers := false
		s, err := written(t, faulty{remaining: &remaining, lingers: &lingers}, root, 1, move)
		if err == nil {
			if remaining > 0 {
				break
			}
			if !lingers { // which does no harm once the corpus is in its place
				t.Errorf("step %d failed without an error", n)
			}
			continue
		}
		steps++
		if !errors.Is(err, errInjected) || !strings.Contains(err.Error(), root) {
			t.Fatalf("step %d: error %v names no path or cause", n, err)
		}
		if _, readErr := corpus.ReadManifest(corpus.Disk{}, s.dir); readErr == nil {
			checkWhole(t, s.dir, n) // it failed after the swap
		}
		again, err := written(t, calm(), root, 1, move)
		if err != nil {
			t.Fatalf("step %d: the next run: %v", n, err)
		}
		ok(t, os.RemoveAll(again.dir))
	}
	if steps < 60/stride {
		t.Fatalf("only %d steps failed", steps)
	}
}

func checkWhole(t *testing.T, dir string, n int) {
	t.Helper()
	report, err := verify.Corpus(context.Background(), corpus.Disk{}, dir)
	if err != nil || len(report) > 0 {
		t.Fatalf("step %d: a broken corpus has a manifest: %v %v", n, report, err)
	}
}

// TestFailedRunKeepsOldCorpus makes each step fail over an older corpus. The folder then contains the old or
// the new corpus, complete. Without the tag long it tests every third step.
func TestFailedRunKeepsOldCorpus(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if _, err := write(t, calm(), root, 2); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n += longtest.Pick(1, 3) {
		remaining := n
		s, err := write(t, faulty{remaining: &remaining}, root, 1)
		if err == nil && remaining > 0 {
			return
		}
		checkWhole(t, s.dir, n)
	}
}

func TestAssembleRejectsOtherFolders(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	precious := filepath.Join(root, "corpus", "thesis.txt")
	ok(t, os.MkdirAll(filepath.Dir(precious), 0o755))
	ok(t, os.WriteFile(precious, []byte("years"), 0o600))
	if _, err := write(t, corpus.Disk{}, root, 1); err == nil || !strings.Contains(err.Error(), "no corpus") {
		t.Fatalf("error %v", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Fatal(err)
	}
}

// TestAssembleKeepsCopiesNextToTheCorpus checks that no temporary folder has a name that users give to
// copies.
func TestAssembleKeepsCopiesNextToTheCorpus(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s, err := write(t, corpus.Disk{}, root, 1)
	ok(t, err)
	ok(t, os.Rename(s.dir, s.dir+".previous"))
	for range 2 {
		_, err = write(t, corpus.Disk{}, root, 1)
		ok(t, err)
	}
	if _, err := corpus.ReadManifest(corpus.Disk{}, s.dir+".previous"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, ".corpus.previous")); err == nil {
		t.Error("the replaced corpus is left")
	}
}

// TestAssembleRejectsChangedParts checks that one changed bit of a finished file is an error, even
// if its size and all else are unchanged.
func TestAssembleRejectsChangedParts(t *testing.T) {
	t.Parallel()
	for name, move := range map[string]bool{"copied": false, "moved": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			dir := filepath.Join(root, "part")
			ok(t, writePart(t, corpus.Disk{}, dir, 0, 2))
			flip(t, filepath.Join(dir, "data/kto/train-00000.parquet"))
			out := filepath.Join(root, "out")
			err := corpus.Assemble(context.Background(), corpus.Disk{}, out, corpus.Assembly{Parts: []string{dir}, Move: move,
				Manifest: corpus.Manifest{Configuration: []byte("{}")}})
			if err == nil || !strings.Contains(err.Error(), "train-00000.parquet: it is not what was written there") {
				t.Fatalf("error %v", err)
			}
			if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a corpus is there: %v", err)
			}
		})
	}
}

// flip changes one bit in the middle of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	ok(t, err)
	b[len(b)/2] ^= 1
	ok(t, os.WriteFile(path, b, 0o600))
}
