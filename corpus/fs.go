package corpus

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

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
	if err := fsys.MkdirAll(filepath.Dir(path)); err != nil {
		return fmt.Errorf("create folder of %s: %w", path, err)
	}
	temp := path + ".part"
	if err := writeSynced(fsys, temp, data); err != nil {
		return err
	}
	if err := fsys.Rename(temp, path); err != nil {
		return fmt.Errorf("rename %s: %w", temp, err)
	}
	return nil
}

func writeSynced(fsys FS, path string, data []byte) error {
	f, err := fsys.Create(path)
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	if _, err := f.Write(data); err != nil {
		_ = f.Close() // the write's error is the one to tell
		return fmt.Errorf("write %s: %w", path, err)
	}
	return finish(f, path)
}

// finish syncs and closes a written file; all of its data is then durable.
func finish(f File, path string) error {
	if err := f.Sync(); err != nil {
		_ = f.Close() // the sync's error is the one to tell
		return fmt.Errorf("sync %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("close %s: %w", path, err)
	}
	return nil
}

// ReadFile reads a whole file of at most limit bytes.
func ReadFile(fsys FS, path string, limit int64) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer closeRead(f)
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("read %s: larger than %d bytes", path, limit)
	}
	return b, nil
}

// closeRead closes what was only read: nothing can be lost by it.
func closeRead(c io.Closer) { _ = c.Close() }
