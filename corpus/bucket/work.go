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
	"strings"
	"sync"

	"github.com/trajectory-arena/arena/corpus"
)

// Work is a local folder, as a corpus.FS, in which some files and folders are shared with other
// processes through a bucket. A shared file or folder is called a unit. It becomes visible to
// other processes when Rename moves it to its final path.
//
// The files of a unit are uploaded as objects named by the hash of their content. Then the
// unit's marker, the list of these names, is written unless one exists. If two processes create
// the same unit, the first one wins and both read its files. Open finds a file by its unit's
// marker and verifies its hash.
type Work struct {
	corpus.Disk
	ctx    context.Context //nolint:containedctx // corpus.FS, as io/fs, asks without one
	bucket *Bucket
	files  corpus.FS
	dir    string
	// unit returns the unit that contains a path, and whether the path is shared. The unit is ""
	// for a shared folder that contains units.
	unit func(rel string) (unit string, shared bool)
	mu   sync.Mutex // protects known and the copying of files from the bucket
	// known maps each unit that this process has read or written to its marker.
	known map[string]marker
}

// NewWork returns the folder dir as a Work that shares a part of it through a bucket. unit
// returns the unit (the shared file or folder) that contains a path, and whether the path is
// shared. Paths are relative to dir and have forward slashes. For a shared folder that contains
// units, the unit is "".
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

// place returns where a path of the work folder is in the bucket. A unit is a file or folder that
// several processes share. rel is the path relative to the work folder, unit the path of the unit
// that contains it, and within the path inside the unit, "." for the unit itself. All are "" if the
// path is not shared; unit and within are "" for a folder above the units.
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

// Open opens a file. If a shared file is not on the local disk, or another process has replaced it,
// Open copies it from the bucket first.
func (w *Work) Open(name string) (corpus.Source, error) {
	_, unit, within := w.place(name)
	if unit == "" {
		return w.Disk.Open(name)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f, missing := w.Disk.Open(name)
	if missing == nil {
		if w.isCurrent(unit) {
			return f, nil
		}
		_ = f.Close() // it was only read
	} else if !errors.Is(missing, fs.ErrNotExist) {
		return nil, missing
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

// isCurrent reports whether the local files of a unit are those that its marker names. Only a file
// directly in the work folder is ever replaced by one with another content, such as the plan; the names
// of all other units say what is in them.
func (w *Work) isCurrent(unit string) bool {
	before := w.known[unit]
	if before == nil || strings.Contains(unit, "/") {
		return true
	}
	delete(w.known, unit)
	m, err := w.marker(unit)
	return err == nil && maps.Equal(m, before)
}

// copy copies the object named key to the local file name, completely or not at all. It returns
// an error if the SHA-256 of the content is not sum.
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

// Rename moves a file or folder. If dst is a unit, Rename also uploads the unit for other
// processes. If another process already uploaded the unit with other content, a file replaces
// that content, but a folder is discarded and the other content remains.
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

// RemoveAll removes a file or folder. For a unit it also removes the marker in the bucket;
// without the marker, the unit does not exist for other processes, although its objects remain.
// For a shared folder that contains units it removes all objects.
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

// ReadDir returns the entries of a folder, sorted by name. The entries of a shared folder that
// contains units are read from the bucket.
func (w *Work) ReadDir(name string) ([]fs.DirEntry, error) {
	if rel, unit, _ := w.place(name); rel != "" && unit == "" {
		return w.files.ReadDir(rel)
	}
	return w.Disk.ReadDir(name)
}
