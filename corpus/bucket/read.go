package bucket

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"time"

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

// failed is what came of an object, by its name.
func (f files) failed(key string, err error) error {
	return &fs.PathError{Op: "read", Path: f.b.name + "/" + key, Err: absent(err)}
}

// Open opens an object for reading.
func (f files) Open(name string) (corpus.Source, error) {
	a, err := f.b.blobs.Attributes(f.ctx, key(name))
	if err != nil {
		return nil, f.failed(key(name), err)
	}
	o := &object{files: f, Attributes: a, key: key(name), first: -1}
	o.SectionReader = io.NewSectionReader(windowed{o}, 0, a.Size)
	return o, nil
}

// ReadDir lists a folder by name.
func (f files) ReadDir(name string) ([]fs.DirEntry, error) {
	return fs.ReadDir(f.b.blobs, key(name))
}

// window is how much is fetched at a time: Parquet is read in many small
// pieces that lie beside each other.
const window = 8 << 20

// object reads one object by windows.
type object struct {
	files
	*blob.Attributes
	*io.SectionReader
	key string
	// window are the bytes from first on; first is -1 before any was read.
	first  int64
	window []byte
}

func (o *object) Close() error               { return nil }
func (o *object) Stat() (fs.FileInfo, error) { return info{o}, nil }

// windowed is io.ReaderAt for one goroutine at a time, which is how corpora read.
type windowed struct{ *object }

func (o windowed) ReadAt(b []byte, off int64) (int, error) {
	n := 0
	for n < len(b) {
		at := off + int64(n)
		if at >= o.Attributes.Size {
			return n, io.EOF
		}
		if o.first < 0 || at < o.first || at >= o.first+int64(len(o.window)) {
			if err := o.load(at / window * window); err != nil {
				return n, o.failed(o.key, err)
			}
		}
		n += copy(b[n:], o.window[at-o.first:])
	}
	return n, nil
}

func (o *object) load(from int64) error {
	r, err := o.b.blobs.NewRangeReader(o.ctx, o.key, from, min(window, o.Attributes.Size-from), nil)
	if err != nil {
		return err
	}
	o.first = -1
	if o.window, err = io.ReadAll(r); err == nil && len(o.window) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err = errors.Join(err, r.Close()); err == nil {
		o.first = from
	}
	return err
}

// info tells of an object.
type info struct{ of *object }

func (i info) Name() string       { return path.Base(i.of.key) }
func (i info) Size() int64        { return i.of.Attributes.Size }
func (i info) ModTime() time.Time { return i.of.ModTime }
func (i info) Mode() fs.FileMode  { return 0o644 }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return i.of.Attributes }
