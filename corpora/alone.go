package corpora

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ErrBusy says that another process works in the same folder.
var ErrBusy = errors.New("another run works in this folder")

// Alone keeps the making of a corpus at dir for this process until release is
// called: two would take each other's parts for leftovers. The lock lies beside
// dir, goes with release, and ends with its process at the latest.
func Alone(dir string) (release func(), err error) {
	path := Beside(dir, "lock")
	if err = os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("create folder of %s: %w", dir, err)
	}
	for {
		lock, err := locked(path)
		if err != nil {
			return nil, err
		}
		if isAt(lock, path) {
			return func() { _ = errors.Join(os.Remove(path), lock.Unlock()) }, nil // a file that stays behind locks nothing
		}
		_ = lock.Unlock() // who had it removed it after it was opened here
	}
}

func locked(path string) (*flock.Flock, error) {
	lock := flock.New(path)
	got, err := lock.TryLock()
	if err == nil && !got {
		err = ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return lock, nil
}

func isAt(lock *flock.Flock, path string) bool {
	mine, err := lock.Stat()
	there, absent := os.Stat(path)
	return err == nil && absent == nil && os.SameFile(mine, there)
}
