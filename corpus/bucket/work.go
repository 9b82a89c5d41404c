package bucket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/trajectory-arena/arena/corpus"
)

// Work is a folder of this process as corpus.FS, of which units (folders and files
// that Rename brings to their places) are shared with other processes through a
// bucket.
//
// The files of a unit go up as objects named by their content. Then its marker,
// which names them, is put where none is: of two processes that bring one unit the
// first wins, and both read what it brought. Readers go by markers and verify
// hashes; a listing decides only what is removed.
type Work struct {
	corpus.Disk
	ctx    context.Context //nolint:containedctx // corpus.FS, as io/fs, asks without one
	bucket *Bucket
	files  corpus.FS
	dir    string
	unit   func(rel string) (unit string, shared bool)
	mu     sync.Mutex // of known, and of copying
	known  map[string]marker
}

// NewWork returns a work folder in dir of which a part is shared through a bucket. unit
// returns the unit of a path in dir, with forward slashes, and whether it is shared; a
// shared folder that holds units belongs to none.
func NewWork(
	ctx context.Context,
	b *Bucket,
	dir string,
	unit func(rel string) (string, bool),
) *Work {
	return &Work{
		ctx:    ctx,
		bucket: b,
		files:  b.Files(ctx),
		dir:    dir,
		unit:   unit,
		known:  map[string]marker{},
	}
}

// place returns the path relative to the folder, its unit and the path in the bucket; all
// are empty for a path of this process only.
func (w *Work) place(name string) (rel, unit, within string) {
	rel, err := filepath.Rel(w.dir, name)
	rel = filepath.ToSlash(rel)
	unit, shared := w.unit(rel)
	if err != nil || !shared {
		return "", "", ""
	}
	if unit != "" {
		within = path.Clean("." + rel[len(unit):])
	}
	return rel, unit, within
}

// Open opens a file. One that another process made is copied from the bucket before.
func (w *Work) Open(name string) (corpus.Source, error) {
	_, unit, within := w.place(name)
	if unit == "" {
		return w.Disk.Open(name)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f, missing := w.Disk.Open(name)
	if !errors.Is(missing, fs.ErrNotExist) {
		return f, missing
	}
	m, err := w.marker(unit)
	if err == nil && m[within] == "" {
		err = missing
	}
	if err == nil {
		err = w.copy(path.Join(unit, m[within]), m[within], name)
		if err != nil && w.ctx.Err() == nil { // half of a file, or none: the next run makes the unit again
			err = errors.Join(err, w.forget(unit))
		}
	}
	if err != nil {
		return nil, err
	}
	return w.Disk.Open(name)
}

// copy copies an object to its path in the folder, completely or not at all.
func (w *Work) copy(key, sum, name string) error {
	temp := name + ".copy"
	_, err := retried(w.ctx, func() (any, error) {
		err := w.bucket.fetch(w.ctx, key, temp)
		if _, matches, unread := corpus.HashFile(w.Disk, temp); err == nil && matches != sum {
			err = errors.Join(unread, fmt.Errorf("fetch %s: it does not hold what its name says", key))
		}
		return nil, err
	})
	if err != nil {
		return err
	}
	return os.Rename(temp, name)
}

// Rename moves a file or a folder, and shares it where its new place is a unit. A
// file takes the place of the one there, a folder gives way to it.
func (w *Work) Rename(start, dst string) error {
	_, unit, within := w.place(dst)
	if within != "." {
		return w.Disk.Rename(start, dst)
	}
	m, err := w.upload(start, unit)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	there, err := w.marker(unit)
	if err == nil && m["."] != "" && !maps.Equal(there, m) {
		err = w.forget(unit)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	first, err := w.mark(unit, m)
	switch {
	case err != nil:
		return err
	case maps.Equal(first, m):
		return w.Disk.Rename(start, dst)
	}
	var mine []string
	for _, sum := range m {
		if !first.names(sum) {
			mine = append(mine, path.Join(unit, sum))
		}
	}
	return errors.Join(w.bucket.remove(w.ctx, mine...), w.Disk.RemoveAll(start))
}

// RemoveAll removes a file or a folder. Of a unit the marker goes, and Sweep takes
// the rest; of a shared folder everything.
func (w *Work) RemoveAll(name string) error {
	err := w.Disk.RemoveAll(name)
	rel, unit, within := w.place(name)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case within == ".":
		return errors.Join(err, w.forget(unit))
	case rel == "" || unit != "":
		return err
	}
	items, listed := w.bucket.keys(w.ctx, rel+"/")
	return errors.Join(err, listed, w.bucket.remove(w.ctx, items...))
}

// ReadDir lists a folder by name.
func (w *Work) ReadDir(name string) ([]fs.DirEntry, error) {
	if rel, unit, _ := w.place(name); rel != "" && unit == "" {
		return w.files.ReadDir(rel)
	}
	return w.Disk.ReadDir(name)
}
