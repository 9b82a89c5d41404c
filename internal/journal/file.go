// Package journal keeps what must outlive its process: append-only files whose
// whole entries survive any end of it, and the lock that keeps two processes from
// writing one run.
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

type appended struct {
	mu     sync.Mutex
	file   file
	end    int64
	synced int64
	// lost is the first error of a sync. What was written before it may never
	// reach the disk, and a later sync would not say so.
	lost error
	// syncing is held while the disk works. Who waits for it meanwhile finds its
	// entry synced by whoever comes next: a disk takes about as long for one as
	// for many.
	syncing sync.Mutex
}

// Append writes b at the end, and says where that was. When it returns, b
// survives the end of the process; after the next Sync, that of the machine.
func (a *appended) Append(b []byte) (offset int64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lost != nil {
		return 0, fmt.Errorf("append to journal: %w", a.lost)
	}
	if _, err := a.file.WriteAt(b, a.end); err != nil {
		return 0, fmt.Errorf("append to journal: %w", err)
	}
	offset = a.end
	a.end += int64(len(b))
	return offset, nil
}

// Sync makes all that was appended before survive a crash of the machine. Once it
// failed it fails for good, and so does appending.
func (a *appended) Sync() error {
	wanted, _, _ := a.state()
	a.syncing.Lock()
	defer a.syncing.Unlock()
	end, synced, lost := a.state()
	if lost != nil || synced >= wanted {
		return lost
	}
	err := a.file.Sync()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.lost = fmt.Errorf("sync journal: %w", err)
		return a.lost
	}
	a.synced = end
	return nil
}

func (a *appended) state() (end, synced int64, lost error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.end, a.synced, a.lost
}

// Close syncs and closes the file. What a sync told before is not told again.
func (a *appended) Close() error {
	var err error
	if _, _, lost := a.state(); lost == nil {
		err = a.Sync()
	}
	return errors.Join(err, a.file.Close())
}

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
