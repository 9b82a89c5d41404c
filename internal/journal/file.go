// Package journal writes append-only files whose complete entries survive any end of the
// process, and locks that keep two processes from writing one run.
package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/gofrs/flock"
)

type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
}

type appendFile struct {
	mu     sync.Mutex
	file   file
	end    int64
	synced int64
	// syncErr is the first error of a sync. Bytes written before it may never reach the
	// disk, and a later sync would not report that.
	syncErr error
	// syncing is locked during a sync. Entries that were appended meanwhile are synced
	// together by the next holder: a disk takes about as long for one as for many.
	syncing sync.Mutex
}

// Append writes b at the end and returns its offset. When it returns, b survives the end of
// the process; after the next Sync, a crash of the machine.
func (a *appendFile) Append(b []byte) (offset int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.syncErr != nil {
		return 0, fmt.Errorf("append to journal: %w", a.syncErr)
	}
	if _, err := a.file.WriteAt(b, a.end); err != nil {
		return 0, fmt.Errorf("append to journal: %w", err)
	}
	offset = a.end
	a.end += int64(len(b))
	return offset, nil
}

// Sync syncs everything appended before it, so that it survives a crash of the machine.
// After its first error Sync and Append always fail.
func (a *appendFile) Sync() error {
	target, _, _ := a.state()
	a.syncing.Lock()
	defer a.syncing.Unlock()
	end, synced, syncErr := a.state()
	if syncErr != nil || synced >= target {
		return syncErr
	}
	err := a.file.Sync()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.syncErr = fmt.Errorf("sync journal: %w", err)
		return a.syncErr
	}
	a.synced = end
	return nil
}

func (a *appendFile) state() (end, synced int64, syncErr error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.end, a.synced, a.syncErr
}

// Close syncs and closes the file. It does not repeat the error of an earlier sync.
func (a *appendFile) Close() error {
	var err error
	if _, _, syncErr := a.state(); syncErr == nil {
		err = a.Sync()
	}
	return errors.Join(err, a.file.Close())
}

// IsAt reports whether the lock's file is the one at path: a previous holder may have
// removed that file after the lock opened it.
func IsAt(lock *flock.Flock, path string) bool {
	lockInfo, err := lock.Stat()
	current, statErr := os.Stat(path)
	return err == nil && statErr == nil && os.SameFile(lockInfo, current)
}

// Lock locks the lock file at path until the process ends, however it ends. It fails at once
// if another process holds the lock. Unlock releases it even if a child process that was
// just started still holds a copy of the descriptor.
func Lock(path string) (unlock func() error, err error) {
	const permissions = 0o644
	lock := flock.New(path, flock.SetPermissions(permissions))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock run: %w", err)
	}
	if !locked {
		return nil, errors.New("lock run: another process is writing it")
	}
	return lock.Unlock, nil
}
