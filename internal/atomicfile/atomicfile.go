// Package atomicfile writes files atomically: even if the process or the machine crashes, a file
// is complete or does not exist. A file is first written under another name and synced, then
// renamed.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Unfinished is the pattern, as in filepath.Glob, of the names of incomplete files. A killed
// process leaves such files behind.
const Unfinished = ".new-*"

// File is a file that is being written. Its errors have the path that the file will get.
type File struct {
	*os.File
	path string
}

// Create creates a file that will get the name path, in the same folder. Its permissions are set
// by the user's umask.
func Create(path string) (*File, error) { return CreateIn(filepath.Dir(path), path) }

// CreateIn creates a file in folder that will get the name path. folder must be on the same
// volume as path. The folder of path need not exist before Commit.
func CreateIn(folder, path string) (*File, error) {
	name, err := unusedName(folder)
	if err != nil {
		return nil, withPath(path, err)
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	if err != nil {
		return nil, withPath(path, err)
	}
	return &File{f, path}, nil
}

// CreateAt creates a file with the name temporary that will get the name path. Both must be on
// the same volume. An existing file temporary is replaced, so the caller must be the only writer
// of path.
func CreateAt(temporary, path string) (*File, error) {
	f, err := os.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o666)
	if err != nil {
		return nil, withPath(path, err)
	}
	return &File{f, path}, nil
}

// unusedName returns the path of a file in folder that does not exist: it creates a file with
// os.CreateTemp and removes it again. The file itself is not used, since only its owner could read
// it.
func unusedName(folder string) (string, error) {
	f, err := os.CreateTemp(folder, Unfinished)
	if err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	return f.Name(), os.Remove(f.Name())
}

// Write writes b to the file. It implements io.Writer.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, withPath(f.path, err)
}

// Commit flushes the file to disk and renames it to its path, replacing an existing file. If that
// fails, the new file is removed.
func (f *File) Commit() error {
	err := f.Sync()
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	err = withPath(f.path, err)
	if err == nil {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(filepath.Dir(f.path))
}

// Drop removes the file. After Commit it does nothing.
func (f *File) Drop() error {
	if err := f.Close(); errors.Is(err, os.ErrClosed) {
		return nil
	}
	return os.Remove(f.Name())
}

// WriteFile writes b to the file at path atomically.
func WriteFile(path string, b []byte) error {
	f, err := Create(path)
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	_, err = f.Write(b)
	return f.End(err)
}

// End commits the file if err is nil, and drops it otherwise.
func (f *File) End(err error) error {
	if err != nil {
		return errors.Join(err, f.Drop())
	}
	return f.Commit()
}

// SyncDir flushes a folder to disk, so that the names of its files survive a crash.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		return errors.Join(err, d.Close())
	}
	return d.Close()
}

// withPath sets the path in err to path if err is a PathError. The error would otherwise name
// the temporary file, which no longer exists when a user reads the error.
func withPath(path string, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		pathErr.Path = path
	}
	return err
}
