package bucket

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
)

// marker is the list of files of a unit, which is a file or folder that several processes share.
// It maps the path of each file, relative to the unit, to the SHA-256 of its content, which is
// the name of the object in the bucket. The path is "." if the unit is a single file.
type marker map[string]string

const markerName = "marker.json"

func (m marker) names(object string) bool {
	return object == markerName || slices.Contains(slices.Collect(maps.Values(m)), object)
}

func (w *Work) upload(start, unit string) (marker, error) {
	m := marker{}
	return m, filepath.WalkDir(start, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		within, err := filepath.Rel(start, name)
		if err != nil {
			return err
		}
		_, sum, err := corpus.HashFile(w.Disk, name)
		if err != nil {
			return err
		}
		m[filepath.ToSlash(within)] = sum
		return w.bucket.upload(
			w.ctx,
			w.Disk,
			name,
			path.Join(unit, sum),
		)
	})
}

// mark writes the marker (the list of files) of a unit, a file or folder that processes share,
// unless another process already wrote one. It returns the marker that is then in the bucket. A
// damaged marker is removed and written again; after maxTries writes it returns an error.
func (w *Work) mark(unit string, m marker) (marker, error) {
	b, err := json.Marshal(m)
	key := path.Join(unit, markerName)
	for n := 0; n < maxTries && err == nil; n++ {
		if err = w.bucket.put(w.ctx, key, b, true); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		first, unread := w.marker(unit)
		if !errors.Is(unread, fs.ErrNotExist) {
			return first, unread
		}
		err = w.bucket.remove(w.ctx, key) // half of one
	}
	return nil, fmt.Errorf("write %s/%s: it does not stay whole: %w", w.bucket.name, key, err)
}

// marker returns the marker (the list of files) of a unit, a file or folder that processes
// share, from memory or from the bucket. The error is fs.ErrNotExist if there is no marker or
// it is incomplete.
func (w *Work) marker(unit string) (marker, error) {
	if m := w.known[unit]; m != nil {
		return m, nil
	}
	key := path.Join(unit, markerName)
	b, err := retried(w.ctx, func() ([]byte, error) {
		var content bytes.Buffer
		err := w.bucket.store.get(w.ctx, key, &content)
		return content.Bytes(), err
	})
	var m marker
	if err == nil && json.Unmarshal(b, &m) != nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("read %s/%s: %w", w.bucket.name, key, err)
	}
	w.known[unit] = m
	return m, nil
}

func (w *Work) forget(unit string) error {
	if w.known[unit] == nil {
		return nil
	}
	delete(w.known, unit)
	return w.bucket.remove(w.ctx, path.Join(unit, markerName))
}

// Sweep removes objects that killed processes left in the bucket. It considers only units that
// this process read or wrote. These are complete, so objects that are not in their markers are
// not needed.
func (w *Work) Sweep() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	items, err := w.bucket.keys(w.ctx, "")
	return errors.Join(err, w.bucket.remove(w.ctx, slices.DeleteFunc(items, func(key string) bool {
		m, known := w.known[path.Dir(key)]
		return !known || m.names(path.Base(key))
	})...))
}
