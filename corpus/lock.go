package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/trajectory-arena/arena/internal/journal"
)

// ErrBusy says that another process works in the same folder.
var ErrBusy = errors.New("another run works in this folder")

// Lock keeps the making of a corpus at dir for this process until release is
// called: two would take each other's parts for leftovers. The lock lies beside
// dir, goes with release, and ends with its process at the latest. So do the
// folders that it took, where nothing else came into them.
func Lock(dir string) (release func(), err error) {
	path := Beside(dir, "lock")
	made := absent(filepath.Dir(path))
	if err = os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	for {
		held, err := Hold(path)
		if err != nil {
			return nil, err
		}
		if journal.IsAt(held, path) {
			return func() {
				_ = errors.Join(os.Remove(path), held.Unlock()) // a file that stays behind locks nothing
				for _, folder := range made {
					_ = os.Remove(folder) // that of a corpus stays, since it is not empty
				}
			}, nil
		}
		_ = held.Unlock() // who had it removed it after it was opened here
	}
}

// absent are the folders of a path that are not there, the deepest first.
func absent(path string) (folders []string) {
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return folders
		}
		folders = append(folders, path)
		path = filepath.Dir(path)
	}
}

// Hold locks the file at path until its process ends, or unlocks it; ErrBusy says
// that another process has it.
func Hold(path string) (*flock.Flock, error) {
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
