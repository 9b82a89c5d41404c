package bucket

import (
	"context"
	"errors"
	"fmt"
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
func (b *Bucket) Files(ctx context.Context) corpus.FS { return files{ctx, b} }

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

// Open opens an object for reading.
func (f files) Open(name string) (corpus.Source, error) {
	a, err := f.b.blobs.Attributes(f.ctx, key(name))
	if err != nil {
		return nil, absent(err)
	}
	return &object{files: f, key: key(name), size: a.Size, at: a.ModTime, first: -1}, nil
}

// ReadDir lists a folder by name.
func (f files) ReadDir(name string) (out []fs.DirEntry, err error) {
	opt := blob.ListOptions{Delimiter: "/"}
	if dir := key(name); dir != "." {
		opt.Prefix = dir + "/"
	}
	for all := f.b.blobs.List(&opt); ; {
		o, err := all.Next(f.ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, absent(err)
		}
		out = append(out, entry{path.Base(o.Key), o.Size, o.ModTime, o.IsDir})
	}
}

// window is how much is fetched at a time: Parquet is read in many small
// pieces that lie beside each other.
const window = 8 << 20

// object reads one object by windows.
type object struct {
	files
	key  string
	size int64
	at   time.Time
	pos  int64
	// window are the bytes from first on; first is -1 before any was read.
	first  int64
	window []byte
}

func (o *object) Close() error { return nil }
func (o *object) Stat() (fs.FileInfo, error) {
	return entry{path.Base(o.key), o.size, o.at, false}, nil
}

// Read is io.Reader.
func (o *object) Read(b []byte) (int, error) {
	if len(b) > window {
		b = b[:window]
	}
	n, err := o.ReadAt(b, o.pos)
	if o.pos += int64(n); n > 0 {
		err = nil
	}
	return n, err
}

// ReadAt is io.ReaderAt for one goroutine at a time, which is how corpora read.
func (o *object) ReadAt(b []byte, off int64) (int, error) {
	n := 0
	for n < len(b) {
		at := off + int64(n)
		if at >= o.size {
			return n, io.EOF
		}
		if o.first < 0 || at < o.first || at >= o.first+int64(len(o.window)) {
			if err := o.load(at / window * window); err != nil {
				return n, err
			}
		}
		n += copy(b[n:], o.window[at-o.first:])
	}
	return n, nil
}

func (o *object) load(from int64) error {
	r, err := o.b.blobs.NewRangeReader(o.ctx, o.key, from, min(window, o.size-from), nil)
	if err != nil {
		return fmt.Errorf("read %s/%s: %w", o.b.name, o.key, absent(err))
	}
	o.first = -1
	if o.window, err = io.ReadAll(r); err == nil && len(o.window) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("read %s/%s: %w", o.b.name, o.key, err)
	}
	o.first = from
	return nil
}

// entry is an object or a folder of them.
type entry struct {
	name string
	size int64
	at   time.Time
	dir  bool
}

func (e entry) Name() string               { return e.name }
func (e entry) Size() int64                { return e.size }
func (e entry) ModTime() time.Time         { return e.at }
func (e entry) IsDir() bool                { return e.dir }
func (e entry) Sys() any                   { return nil }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }
func (e entry) Type() fs.FileMode          { return e.Mode().Type() }

func (e entry) Mode() fs.FileMode {
	if e.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}
