// Package staging makes files of a work folder complete or not at all: a process writes them in a
// temporary folder of its own, and moves them to their paths when they are complete.
package staging

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/trajectory-arena/arena/corpus"
)

// Area is the temporary folder of one process. Files are written there and moved to their paths
// in the work folder when they are complete, so that no other process sees a half-written file. The
// folder is locked while its process runs.
type Area struct {
	// Dir is the path of the folder.
	Dir  string
	fs   corpus.FS
	work string
	lock *flock.Flock
	mu   sync.Mutex
}

// Folder is the name of the folder, in a work folder, with the temporary folders of all processes.
const Folder = "making"

const (
	lockFile = "lock"
	// installPoll is the interval at which a process tries to get the lock under which finished
	// files are moved into the work folder. Another process holds the lock for less than a
	// millisecond.
	installPoll = 5 * time.Millisecond
)

// Open creates the temporary folder of this process in the work folder. It removes those of
// processes that were killed.
func Open(
	ctx context.Context,
	fsys corpus.FS,
	work string,
) (*Area, error) {
	a := &Area{fs: fsys, work: work}
	parent := filepath.Join(work, Folder)
	if err := fsys.MkdirAll(parent); err != nil {
		return nil, err
	}
	return a, a.withInstallLock(ctx, func() (err error) {
		if err = a.removeAbandoned(parent); err != nil {
			return err
		}
		if a.Dir, err = os.MkdirTemp(parent, ""); err != nil {
			return err
		}
		a.lock = flock.New(filepath.Join(a.Dir, lockFile))
		return a.lock.Lock()
	})
}

// removeAbandoned removes the temporary folders in parent that no process has locked, since their
// processes have ended.
func (a *Area) removeAbandoned(parent string) error {
	entries, err := a.fs.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(parent, e.Name())
		lock := flock.New(filepath.Join(dir, lockFile))
		locked, err := lock.TryLock()
		if locked {
			err = a.fs.RemoveAll(dir)
			_ = lock.Unlock() // its file is removed
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // its process may be closing it
			return err
		}
	}
	return nil
}

// withInstallLock calls f under a lock that excludes all other calls, also those of other processes
// that share the work folder. It returns the error of f, of the lock, or of ctx.
func (a *Area) withInstallLock(ctx context.Context, f func() error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	lock := flock.New(filepath.Join(a.work, "install.lock"))
	if _, err := lock.TryLockContext(ctx, installPoll); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	defer func() { _ = lock.Unlock() }() // the lock ends with the process at the latest
	return f()
}

// Install moves staged, a complete folder, to the path target, and replaces what is there. Another
// process may have done the same before: if isGood reports that target is already complete, Install
// removes staged instead.
func (a *Area) Install(
	ctx context.Context,
	staged, target string,
	isGood func() (bool, error),
) error {
	return a.withInstallLock(ctx, func() error {
		good, err := isGood()
		if err != nil {
			return err
		}
		if good {
			return a.fs.RemoveAll(staged)
		}
		if err = a.fs.RemoveAll(target); err != nil {
			return err
		}
		if err = a.fs.MkdirAll(filepath.Dir(target)); err != nil {
			return err
		}
		return a.fs.Rename(staged, target)
	})
}

// WriteJSON writes v as JSON to a temporary file and renames the file to path, so that path never
// has a part of it.
func (a *Area) WriteJSON(path string, v any) error {
	staged := filepath.Join(a.Dir, filepath.Base(path))
	if err := corpus.WriteJSON(a.fs, staged, v); err != nil {
		return err
	}
	return a.fs.Rename(staged, path)
}

// Close removes the process's temporary folder. It ignores errors, since the next process removes
// what remains.
func (a *Area) Close() {
	_ = a.fs.RemoveAll(a.Dir)
	_ = a.lock.Unlock()
}
