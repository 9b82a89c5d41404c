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

// FS is a file system for writing and checking corpora. Tests use it to inject failures. Its
// errors name the path and the operation.
type FS interface {
	MkdirAll(path string) error
	// Create creates or truncates a file.
	Create(path string) (File, error)
	Open(path string) (Source, error)
	ReadDir(path string) ([]fs.DirEntry, error)
	// Rename moves a file or folder within a volume and replaces an existing file.
	Rename(oldPath, newPath string) error
	RemoveAll(path string) error
	// SyncDir flushes a folder to disk, so that the names in it are durable.
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

// Disk is the file system of the machine.
type Disk struct{}

// MkdirAll creates a folder and its parents.
func (Disk) MkdirAll(path string) error { return os.MkdirAll(path, 0o755) }

// Create creates or truncates a file.
func (Disk) Create(path string) (File, error) { return os.Create(path) }

// Open opens a file for reading.
func (Disk) Open(path string) (Source, error) { return os.Open(path) }

// ReadDir returns the entries of a folder, sorted by name.
func (Disk) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// Rename moves a file or folder within one volume.
func (Disk) Rename(oldPath, newPath string) error { return os.Rename(oldPath, newPath) }

// RemoveAll removes a file, or a folder with its content.
func (Disk) RemoveAll(path string) error { return os.RemoveAll(path) }

// SyncDir flushes a folder to disk, so that the names in it are durable.
func (Disk) SyncDir(path string) error { return atomicfile.SyncDir(path) }

// WriteFile writes a file durably and atomically, like package atomicfile, on any FS.
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

// Output is a file being written whose content is counted and hashed.
type Output struct {
	File
	// N is the number of bytes written.
	N    int64
	hash hash.Hash
	// quick is a fast hash of the content. The file is checked with it before it is moved into a
	// corpus.
	quick *xxh3.Hasher
}

// Create creates a file and its folder.
func Create(fsys FS, path string) (*Output, error) {
	if err := fsys.MkdirAll(filepath.Dir(path)); err != nil {
		return nil, err
	}
	f, err := fsys.Create(path)
	return &Output{
		File:  f,
		hash:  sha256.New(),
		quick: xxh3.New(),
	}, err
}

// Write writes b to the file and adds it to the hashes. It implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	n, err := o.File.Write(b)
	o.N += int64(n)
	o.hash.Write(b[:n])
	_, _ = o.quick.Write(b[:n]) // hashes never fail
	return n, err
}

// SHA256 returns the checksum of the content written.
func (o *Output) SHA256() string { return hex.EncodeToString(o.hash.Sum(nil)) }

// Close flushes to disk and closes the file.
func (o *Output) Close() error {
	err := o.Sync()
	return errors.Join(err, o.File.Close())
}

// ResetDir creates an empty folder. It removes an existing one with its content.
func ResetDir(fsys FS, dir string) error {
	if err := fsys.RemoveAll(dir); err != nil {
		return err
	}
	return fsys.MkdirAll(dir)
}

// ReadFile reads a file. It returns an error if the file has more than limit bytes.
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

// WriteJSON writes a value as a JSON file with WriteFile.
func WriteJSON(fsys FS, path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return WriteFile(fsys, path, b)
}

// closeRead closes a file that was only read. The error of closing is ignored, since it cannot
// affect the data.
func closeRead(c io.Closer) { _ = c.Close() }
