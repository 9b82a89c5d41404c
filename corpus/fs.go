package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/trajectory-arena/arena/internal/atomicfile"
)

// FS is all of a file system that writing and checking a corpus needs. Tests
// make each of its steps fail in turn. Every error names the path and what was
// to be done to it.
type FS interface {
	MkdirAll(path string) error
	// Create makes or truncates a file.
	Create(path string) (File, error)
	Open(path string) (Source, error)
	ReadDir(path string) ([]fs.DirEntry, error)
	// Rename replaces the file at to; both lie on one volume.
	Rename(from, to string) error
	RemoveAll(path string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(path string) error
}

// File is a file being written.
type File interface {
	io.WriteCloser
	Sync() error
}

// Source is a file being read.
type Source interface {
	io.ReadCloser
	io.ReaderAt
	Stat() (fs.FileInfo, error)
}

// Disk is the machine's own file system.
type Disk struct{}

// MkdirAll makes a folder and its parents.
func (Disk) MkdirAll(path string) error { return os.MkdirAll(path, 0o755) }

// Create makes or truncates a file.
func (Disk) Create(path string) (File, error) { return os.Create(path) }

// Open opens a file for reading.
func (Disk) Open(path string) (Source, error) { return os.Open(path) }

// ReadDir lists a folder by name.
func (Disk) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// Rename moves a file or folder within one volume.
func (Disk) Rename(from, to string) error { return os.Rename(from, to) }

// RemoveAll removes a file or a folder with all that it holds.
func (Disk) RemoveAll(path string) error { return os.RemoveAll(path) }

// SyncDir makes the names in a folder durable.
func (Disk) SyncDir(path string) error { return atomicfile.SyncDir(path) }

// WriteFile writes a whole file durably, as atomicfile does, on any file system:
// a reader finds the old file, the new one, or none.
func WriteFile(fsys FS, path string, data []byte) error {
	temp := path + ".part"
	f, err := Create(fsys, temp)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err != nil {
		return errors.Join(err, f.File.Close())
	}
	if err = f.Close(); err != nil {
		return err
	}
	return fsys.Rename(temp, path)
}

// Output is a file under way, counted and hashed.
type Output struct {
	File
	// N is how many bytes were written.
	N    int64
	hash hash.Hash
	// quick is a hash to read the file back by.
	quick *xxh3.Hasher
}

// Create makes a file, and its folder.
func Create(fsys FS, path string) (*Output, error) {
	if err := fsys.MkdirAll(filepath.Dir(path)); err != nil {
		return nil, err
	}
	f, err := fsys.Create(path)
	return &Output{File: f, hash: sha256.New(), quick: xxh3.New()}, err
}

// Write is io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	n, err := o.File.Write(b)
	o.N += int64(n)
	o.hash.Write(b[:n])
	_, _ = o.quick.Write(b[:n]) // as any hash, it never fails
	return n, err
}

// SHA256 is that of what was written.
func (o *Output) SHA256() string { return hex.EncodeToString(o.hash.Sum(nil)) }

// Close makes the file durable.
func (o *Output) Close() error { return errors.Join(o.Sync(), o.File.Close()) }

// Empty makes a folder with nothing in it.
func Empty(fsys FS, dir string) error {
	if err := fsys.RemoveAll(dir); err != nil {
		return err
	}
	return fsys.MkdirAll(dir)
}

// ReadFile reads a whole file of at most limit bytes.
func ReadFile(fsys FS, path string, limit int64) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer closeRead(f)
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("read %s: larger than %d bytes", path, limit)
	}
	return b, err
}

// ReadJSON reads a JSON file of at most limit bytes into v.
func ReadJSON(fsys FS, path string, limit int64, v any) error {
	b, err := ReadFile(fsys, path, limit)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("parse %s: %w", path, err)
	}
	return nil
}

// WriteJSON writes a value as a JSON file, as WriteFile does.
func WriteJSON(fsys FS, path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return WriteFile(fsys, path, b)
}

// closeRead closes what was only read: nothing can be lost by it.
func closeRead(c io.Closer) { _ = c.Close() }
