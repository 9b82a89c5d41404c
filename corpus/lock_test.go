package corpus_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
)

func TestLockIsExclusive(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "corpus")
	release, err := corpus.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, second := corpus.Lock(dir + "/"); !errors.Is(second, corpus.ErrBusy) {
		t.Errorf("a second one: %v", second)
	}
	other, err := corpus.Lock(dir + "2")
	if err != nil {
		t.Fatal(err)
	}
	other()
	release()
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder that it created remains: %v", err)
	}
}

// TestLockWhileOthersRelease locks and releases one lock from many goroutines: no two ever have it, even
// while its file is removed.
func TestLockWhileOthersRelease(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "corpus")
	var inside sync.Mutex
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for range 200 {
				release, err := corpus.Lock(dir)
				if errors.Is(err, corpus.ErrBusy) {
					continue
				}
				if err != nil || !inside.TryLock() {
					t.Errorf("two at once, or %v", err)
					return
				}
				inside.Unlock()
				release()
			}
		})
	}
	workers.Wait()
}
