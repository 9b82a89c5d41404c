package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/atomicfile"
)

func TestAFileAppearsWhenItIsComplete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	if err := atomicfile.WriteFile(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("before Commit: %q, %v", b, err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "new" {
		t.Errorf("after Commit: %q, %v", b, err)
	}
	if err := f.Drop(); err != nil {
		t.Errorf("Drop after Commit: %v", err)
	}
	holds(t, dir, "page.html")
}

func TestADroppedFileLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := atomicfile.Create(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Drop(); err != nil {
		t.Error(err)
	}
	holds(t, dir)
}

// TestAFolderInTheWay checks that a folder is not replaced by a file, and that no temporary file
// remains next to it.
func TestAFolderInTheWay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.MkdirAll(filepath.Join(path, "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.WriteFile(path, []byte("x")); err == nil {
		t.Error("no error")
	}
	holds(t, dir, "a")
}

func TestRightsAreThoseOfNewFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	full := filepath.Join(dir, "whole")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.WriteFile(full, nil); err != nil {
		t.Fatal(err)
	}
	a, errA := os.Stat(plain)
	b, errB := os.Stat(full)
	if errA != nil || errB != nil || a.Mode() != b.Mode() {
		t.Errorf("%v, %v: %v, %v", a, b, errA, errB)
	}
}

func TestErrorsNameThePath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "missing", "a")
	err := atomicfile.WriteFile(path, nil)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), ".new-") {
		t.Errorf("got %v", err)
	}
}

func TestAFileBegunInAnotherFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "later", "a")
	f, err := atomicfile.CreateIn(dir, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, "later")
}

func holds(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the folder holds %q, want %q", got, want)
	}
}
