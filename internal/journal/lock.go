package journal

import (
	"errors"
	"fmt"
	"os"

	"github.com/gofrs/flock"
)

// IsAt reports whether a lock's file is the one at path: whoever had the lock
// before may have removed it after it was opened here.
func IsAt(lock *flock.Flock, path string) bool {
	mine, err := lock.Stat()
	there, absent := os.Stat(path)
	return err == nil && absent == nil && os.SameFile(mine, there)
}

// Lock takes the lock file at path, which ends with the process however that
// ends. It fails at once where another process has it. Unlocking gives it up for
// good, also where a child that was just started still holds a copy of the file.
func Lock(path string) (unlock func() error, err error) {
	const rights = 0o644
	lock := flock.New(path, flock.SetPermissions(rights))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock run: %w", err)
	}
	if !held {
		return nil, errors.New("lock run: another process is writing it")
	}
	return lock.Unlock, nil
}
