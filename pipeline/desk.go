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

// desk is the folder in which one process makes what then goes into the work
// folder under its name, whole: two processes on one shard end in the same
// bytes. Its lock tells a process that lives from one that was killed.
type desk struct {
	fs   corpus.FS
	work string
	dir  string
	lock *flock.Flock
	mu   sync.Mutex
}

const (
	desksFolder = "making"
	deskLock    = "lock"
	// installEvery is how long a process waits for one that puts a folder in its
	// place: that takes less than a millisecond.
	installEvery = 5 * time.Millisecond
)

// sitDown makes a desk, and clears those of processes that were killed.
func sitDown(ctx context.Context, fsys corpus.FS, work string) (*desk, error) {
	d := &desk{fs: fsys, work: work}
	all := filepath.Join(work, desksFolder)
	if err := fsys.MkdirAll(all); err != nil {
		return nil, err
	}
	return d, d.alone(ctx, func() (err error) {
		if err = d.clear(all); err != nil {
			return err
		}
		if d.dir, err = os.MkdirTemp(all, ""); err != nil {
			return err
		}
		d.lock = flock.New(filepath.Join(d.dir, deskLock))
		return d.lock.Lock()
	})
}

func (d *desk) clear(all string) error {
	left, err := d.fs.ReadDir(all)
	if err != nil {
		return err
	}
	for _, e := range left {
		dir := filepath.Join(all, e.Name())
		lock := flock.New(filepath.Join(dir, deskLock))
		gone, err := lock.TryLock()
		if gone {
			err = d.fs.RemoveAll(dir)
			_ = lock.Unlock() // its file is removed
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // its process leaves just now
			return err
		}
	}
	return nil
}

// alone lets do be the only one that changes names in the work folder.
func (d *desk) alone(ctx context.Context, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	lock := flock.New(filepath.Join(d.work, "install.lock"))
	if _, err := lock.TryLockContext(ctx, installEvery); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	defer func() { _ = lock.Unlock() }() // a lock ends with its process at the latest
	return do()
}

// install moves a folder that was made at the desk to where it belongs, unless
// another process has put one there meanwhile that there finds good.
func (d *desk) install(ctx context.Context, made, to string, there func() (bool, error)) error {
	return d.alone(ctx, func() error {
		good, err := there()
		if err != nil {
			return err
		}
		if good {
			return d.fs.RemoveAll(made)
		}
		if err = d.fs.RemoveAll(to); err != nil {
			return err
		}
		if err = d.fs.MkdirAll(filepath.Dir(to)); err != nil {
			return err
		}
		return d.fs.Rename(made, to)
	})
}

func (d *desk) put(path string, v any) error {
	made := filepath.Join(d.dir, filepath.Base(path))
	if err := corpus.WriteJSON(d.fs, made, v); err != nil {
		return err
	}
	return d.fs.Rename(made, path)
}

func (d *desk) leave() {
	_ = d.fs.RemoveAll(d.dir) // what stays is cleared by the next process
	_ = d.lock.Unlock()       // likewise
}
