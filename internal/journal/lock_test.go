package journal

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestALockIsGivenUp checks that a lock is released even while child processes are started, which
// hold copies of all files for a moment.
func TestALockIsGivenUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	const rounds, starts = 3000, 100
	var starting sync.WaitGroup
	starting.Go(func() {
		for range starts {
			if err := exec.Command(os.Args[0], "-test.run=^$").Run(); err != nil {
				t.Error(err)
			}
		}
	})
	for range rounds {
		unlock, err := Lock(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Lock(path); err == nil {
			t.Fatal("locked twice")
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
	}
	starting.Wait()
}
