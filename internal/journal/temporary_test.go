package journal

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestTemporaryFoldersOfKilledProcessesAreRemoved holds that a folder without a lock, as a killed
// process leaves it, is removed by the next one, and nothing else is.
func TestTemporaryFoldersOfKilledProcessesAreRemoved(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	kept := []string{"arena-view-mine", "site.temporary"}
	for _, name := range append(kept, "arena-spool-1.temporary") {
		if err := os.MkdirAll(filepath.Join(tmp, name, "files"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	first, removeFirst, err := TemporaryFolder("arena-spool-")
	if err != nil {
		t.Fatal(err)
	}
	second, removeSecond, err := TemporaryFolder("arena-view-")
	if err != nil {
		t.Fatal(err)
	}
	kept = append(kept, filepath.Base(first), filepath.Base(second))
	entries, err := os.ReadDir(tmp)
	if err != nil || len(entries) != len(kept) {
		t.Errorf("got %v, want %q: %v", entries, kept, err)
	}
	removeFirst()
	removeSecond()
	if entries, err = os.ReadDir(tmp); err != nil || len(entries) != 2 || strings.HasSuffix(entries[0].Name(), ".temporary") {
		t.Errorf("after the end: got %v, %v", entries, err)
	}
}

// TestTemporaryFoldersAtOnce creates folders while others remove what they find without a lock. Each
// folder is there until its owner removes it.
func TestTemporaryFoldersAtOnce(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for range 200 {
				folder, remove, err := TemporaryFolder("arena-index-")
				if err == nil {
					err = os.WriteFile(filepath.Join(folder, "index"), nil, 0o600)
				}
				if err != nil {
					t.Error(err)
					return
				}
				remove()
			}
		})
	}
	workers.Wait()
}
