package pipeline

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

// staging is the temporary folder of one process. Files are written there and moved to their paths
// in the work folder when they are complete, so that no other process sees a half-written file. The
// folder is locked while its process runs.
type staging struct {
	fs   corpus.FS
	work string
	dir  string
	lock *flock.Flock
	mu   sync.Mutex
}

const (
	stagingFolder = "making"
	stagingLock   = "lock"
	// installPoll is the interval at which a process tries to get the lock under which finished
	// files are moved into the work folder. Another process holds the lock for less than a
	// millisecond.
	installPoll = 5 * time.Millisecond
)

// openStaging creates the temporary folder of this process in the work folder. It removes those of
// processes that were killed.
func openStaging(
	ctx context.Context,
	fsys corpus.FS,
	work string,
) (*staging, error) {
	s := &staging{fs: fsys, work: work}
	parent := filepath.Join(work, stagingFolder)
	if err := fsys.MkdirAll(parent); err != nil {
		return nil, err
	}
	return s, s.withInstallLock(ctx, func() (err error) {
		if err = s.removeAbandoned(parent); err != nil {
			return err
		}
		if s.dir, err = os.MkdirTemp(parent, ""); err != nil {
			return err
		}
		s.lock = flock.New(filepath.Join(s.dir, stagingLock))
		return s.lock.Lock()
	})
}

// removeAbandoned removes the temporary folders in parent that no process has locked, since their
// processes have ended.
func (s *staging) removeAbandoned(parent string) error {
	entries, err := s.fs.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, e := range entries {
		dir := filepath.Join(parent, e.Name())
		lock := flock.New(filepath.Join(dir, stagingLock))
		locked, err := lock.TryLock()
		if locked {
			err = s.fs.RemoveAll(dir)
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
func (s *staging) withInstallLock(ctx context.Context, f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	lock := flock.New(filepath.Join(s.work, "install.lock"))
	if _, err := lock.TryLockContext(ctx, installPoll); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	defer func() { _ = lock.Unlock() }() // the lock ends with the process at the latest
	return f()
}

// install moves staged, a complete folder, to the path target, and replaces what is there. Another
// process may have done the same before: if isGood reports that target is already complete, install
// removes staged instead.
func (s *staging) install(
	ctx context.Context,
	staged, target string,
	isGood func() (bool, error),
) error {
	return s.withInstallLock(ctx, func() error {
		good, err := isGood()
		if err != nil {
			return err
		}
		if good {
			return s.fs.RemoveAll(staged)
		}
		if err = s.fs.RemoveAll(target); err != nil {
			return err
		}
		if err = s.fs.MkdirAll(filepath.Dir(target)); err != nil {
			return err
		}
		return s.fs.Rename(staged, target)
	})
}

// writeJSON writes v as JSON to a temporary file and renames the file to path, so that path never
// has a part of it.
func (s *staging) writeJSON(path string, v any) error {
	staged := filepath.Join(s.dir, filepath.Base(path))
	if err := corpus.WriteJSON(s.fs, staged, v); err != nil {
		return err
	}
	return s.fs.Rename(staged, path)
}

// close removes the process's temporary folder. It ignores errors, since the next process removes
// what remains.
func (s *staging) close() {
	_ = s.fs.RemoveAll(s.dir)
	_ = s.lock.Unlock()
}
