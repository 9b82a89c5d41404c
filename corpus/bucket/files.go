package bucket

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/journal"
)

// Files returns the folder as a read-only file system with the root ".". A corpus is read from
// it as from disk.
func (b *Bucket) Files(ctx context.Context) corpus.FS {
	return files{ctx, b}
}

// files is a read-only file system over a folder of a bucket. Its writing methods return
// errReadOnly.
type files struct {
	ctx    context.Context //nolint:containedctx // corpus.FS, as io/fs, asks without one
	bucket *Bucket
}

var errReadOnly = errors.New("a bucket is written as a complete corpus only")

func (files) MkdirAll(string) error              { return errReadOnly }
func (files) Create(string) (corpus.File, error) { return nil, errReadOnly }
func (files) Rename(string, string) error        { return errReadOnly }
func (files) RemoveAll(string) error             { return errReadOnly }
func (files) SyncDir(string) error               { return errReadOnly }

// objectKey returns the name of the object that has the content of the file with this path. Name and
// path are relative to the bucket's folder.
func objectKey(name string) string { return path.Clean(filepath.ToSlash(name)) }

// Open copies an object to a temporary file and opens the file. The system removes the file when
// it is closed or the process ends.
func (f files) Open(name string) (corpus.Source, error) {
	dir, remove, err := journal.TemporaryFolder("arena-object-")
	if err != nil {
		return nil, err
	}
	defer remove() // an open file stays readable
	file := filepath.Join(dir, "object")
	key := objectKey(name)
	if err = f.bucket.fetch(f.ctx, key, file); err != nil {
		return nil, &fs.PathError{
			Op:   "read",
			Path: f.bucket.name + "/" + key,
			Err:  err,
		}
	}
	return os.Open(file)
}

// ReadDir returns the entries of a folder, sorted by name. For a folder without objects, other
// than the root, the error is fs.ErrNotExist.
func (f files) ReadDir(name string) ([]fs.DirEntry, error) {
	prefix := objectKey(name) + "/"
	if prefix == "./" {
		prefix = ""
	}
	keys, err := f.bucket.keys(f.ctx, prefix)
	if err != nil {
		return nil, err
	}
	if len(keys) == 0 && prefix != "" {
		return nil, &fs.PathError{
			Op:   "open",
			Path: f.bucket.name + "/" + prefix,
			Err:  fs.ErrNotExist,
		}
	}

	var entries []fs.DirEntry
	last := dirEntry{}
	for _, key := range keys { // sorted, so that the objects of a folder follow each other
		first, _, isFolder := strings.Cut(strings.TrimPrefix(key, prefix), "/")
		entry := dirEntry{name: first, isFolder: isFolder}
		if first != "" && entry != last {
			entries = append(entries, entry)
			last = entry
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		return strings.Compare(a.Name(), b.Name())
	})
	return entries, nil
}

// dirEntry is an entry of a folder: an object, or a folder that contains objects.
type dirEntry struct {
	name     string
	isFolder bool
}

func (e dirEntry) Name() string               { return e.name }
func (e dirEntry) IsDir() bool                { return e.isFolder }
func (e dirEntry) Info() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

func (e dirEntry) Type() fs.FileMode {
	if e.isFolder {
		return fs.ModeDir
	}
	return 0
}
