package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// TemporaryFolder creates a folder in the system's folder for temporary files. Its name begins with
// prefix, which begins with "arena-". It also removes the folders of processes that were killed, which
// may hold copies of whole inputs: those that no process has locked. remove removes the folder with
// its content.
func TemporaryFolder(prefix string) (folder string, remove func(), err error) {
	// No output has such a name by chance. A path that is no valid pattern keeps what was left behind.
	abandoned, _ := filepath.Glob(filepath.Join(os.TempDir(), "arena-*.temporary"))
	for _, old := range abandoned {
		lock := flock.New(old, flock.SetFlag(os.O_RDONLY))
		if locked, _ := lock.TryLock(); locked {
			discard(lock)
		}
	}
	for {
		if folder, err = os.MkdirTemp("", prefix+"*.temporary"); err != nil {
			return "", nil, err
		}
		lock := flock.New(folder, flock.SetFlag(os.O_RDONLY))
		err = lock.Lock()
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process removed the folder before it was opened
		}
		// Where folders cannot be locked, nobody can lock this one to remove it.
		if err != nil || IsAt(lock, folder) {
			return folder, func() { discard(lock) }, nil //nolint:nilerr // as above
		}
		_ = lock.Unlock() // another process removed the folder before it was locked
	}
}

// discard removes the folder that is locked, and unlocks it. The next run removes what remains.
func discard(lock *flock.Flock) {
	_ = os.RemoveAll(lock.Path())
	_ = lock.Unlock()
}
