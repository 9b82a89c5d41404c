package bucket

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"gocloud.dev/blob"

	"github.com/trajectory-arena/arena/corpus"
)

// Files reads the folder as a corpus is read on disk; its root is ".". Nothing
// can be written by it.
func (b *Bucket) Files(ctx context.Context) corpus.FS {
	b.blobs.SetIOFSCallback(func() (context.Context, *blob.ReaderOptions) { return ctx, nil })
	return files{ctx, b}
}

type files struct {
	ctx context.Context //nolint:containedctx // corpus.FS, as io/fs, asks without one
	b   *Bucket
}

var errReadOnly = errors.New("a bucket is written as a whole corpus only")

func (files) MkdirAll(string) error              { return errReadOnly }
func (files) Create(string) (corpus.File, error) { return nil, errReadOnly }
func (files) Rename(string, string) error        { return errReadOnly }
func (files) RemoveAll(string) error             { return errReadOnly }
func (files) SyncDir(string) error               { return errReadOnly }
func key(name string) string                     { return path.Clean(filepath.ToSlash(name)) }

// Open copies an object into the folder for temporary files, where it goes with the
// process at the latest, and opens it there.
func (f files) Open(name string) (corpus.Source, error) {
	dir, err := os.MkdirTemp("", "arena-object-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is open stays readable
	at := filepath.Join(dir, "object")
	if err = f.b.fetch(f.ctx, key(name), at); err != nil {
		return nil, &fs.PathError{Op: "read", Path: f.b.name + "/" + key(name), Err: err}
	}
	return os.Open(at)
}

// ReadDir lists a folder by name.
func (f files) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(f.b.blobs, key(name))
}
