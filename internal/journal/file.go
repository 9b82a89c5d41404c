// Package journal writes append-only files whose complete entries survive a crash of the
// process. It also has locks that prevent two processes from writing the same run.
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
	// syncErr is the first error of a sync. Bytes written before it may never reach the disk,
	// and a later sync would not report this.
	syncErr error
	// syncing is locked during a sync. Entries that are appended in the meantime are synced
	// together by the next holder, since a sync of many entries takes about as long as a sync of
	// one.
	syncing sync.Mutex
}

// Append writes b at the end of the file and returns its offset. When it returns, b survives a
// crash of the process. After the next Sync, b also survives a crash of the machine.
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

// Sync flushes everything that was appended before to disk, so that it survives a crash of the
// machine. After its first error, Sync and Append always fail.
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

// Close flushes to disk and closes the file. It does not repeat the error of an earlier sync.
func (a *appendFile) Close() error {
	var err error
	if _, _, syncErr := a.state(); syncErr == nil {
		err = a.Sync()
	}
	return errors.Join(err, a.file.Close())
}

// IsAt reports whether the file of a lock is still the one at path. A previous holder may have
// removed the file after the lock opened it.
func IsAt(lock *flock.Flock, path string) bool {
	lockInfo, err := lock.Stat()
	current, statErr := os.Stat(path)
	return err == nil && statErr == nil && os.SameFile(lockInfo, current)
}

// Lock locks the lock file at path until unlock is called or the process ends. It returns an
// error if another process holds the lock. unlock releases the lock even if a child process
// still has a copy of the file descriptor.
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
