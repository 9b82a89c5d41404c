// Package atomicfile writes files that are whole or not there, however the
// process or the machine ends: under another name first, durably, then renamed.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Unfinished matches the names of files that are not whole yet, as
// filepath.Glob does. A killed process leaves them behind.
const Unfinished = ".new-*"

// File is a file under way. Its errors name the path it will have.
type File struct {
	*os.File
	path string
}

// Create begins the file at path, in the same folder, with the rights that the
// user's umask leaves to new files.
func Create(path string) (*File, error) { return CreateIn(filepath.Dir(path), path) }

// CreateIn begins the file at path in folder, which lies on the same volume; that
// of path need not be there before Commit.
func CreateIn(folder, path string) (*File, error) {
	f, err := os.CreateTemp(folder, Unfinished)
	if err == nil { // os.CreateTemp gives its files to their owner alone
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err == nil {
		f, err = os.OpenFile(f.Name(), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	}
	return &File{f, path}, named(path, err)
}

// Write is io.Writer.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, named(f.path, err)
}

// Commit makes the file durable and puts it at its path, in place of what is
// there. Where it cannot, the file is dropped.
func (f *File) Commit() error {
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return errors.Join(named(f.path, err), os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(filepath.Dir(f.path))
}

// Drop gives the file up. After Commit it does nothing.
func (f *File) Drop() error {
	if err := f.Close(); errors.Is(err, os.ErrClosed) {
		return nil
	}
	return os.Remove(f.Name())
}

// WriteFile writes b to the file at path.
func WriteFile(path string, b []byte) error {
	f, err := Create(path)
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	_, err = f.Write(b)
	return f.End(err)
}

// End commits the file, or drops it where err says that it could not be written.
func (f *File) End(err error) error {
	if err != nil {
		return errors.Join(err, f.Drop())
	}
	return f.Commit()
}

// SyncDir makes the names in a folder durable.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// named tells of path what err tells of the file that is written in its place:
// that one is gone when the error is read.
func named(path string, err error) error {
	if failed, is := errors.AsType[*fs.PathError](err); is {
		failed.Path = path
	}
	return err
}
