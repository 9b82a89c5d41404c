// Package store is one file of named sections, written once and mapped into
// memory whole: a zip archive of members that are stored as they are, whose comment
// names the version of what is in them. Opening costs the same for any size, and a
// file of another version, a cut file or a damaged directory is refused in words.
package store

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/trajectory-arena/arena/internal/wrong"
)

// ErrVersion is in the chain of the error for a file of another version.
var ErrVersion = errors.New("another version of the format")

// NewWriter begins a store; its Close ends it.
func NewWriter(to io.Writer, version int) (*zip.Writer, error) {
	z := zip.NewWriter(to)
	return z, wrong.Wrap("begin store", z.SetComment(strconv.Itoa(version)))
}

// Section begins the next section; what is written to w, up to the next, is in it.
func Section(z *zip.Writer, name string) (io.Writer, error) {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	return w, wrong.Wrap("begin section "+name, err)
}

// Put writes a whole section.
func Put(z *zip.Writer, name string, data []byte) error {
	w, err := Section(z, name)
	if err == nil {
		_, err = w.Write(data)
	}
	return wrong.Wrap("write section "+name, err)
}

// File is an open store. Its sections are valid until Close.
type File struct {
	data  []byte
	files *zip.Reader
	unmap func() error
}

// Open maps the store at path and reads its directory.
func Open(path string, version int) (*File, error) {
	data, unmap, err := Map(path)
	if err != nil {
		return nil, err
	}
	files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	switch {
	case err != nil:
		err = fmt.Errorf("not a search index, or one that was cut: %w", err)
	case files.Comment != strconv.Itoa(version):
		err = fmt.Errorf("%w: the file has %q, this program reads %d", ErrVersion, files.Comment, version)
	default:
		return &File{data: data, files: files, unmap: unmap}, nil
	}
	return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), unmap())
}

// Section gives the bytes of a section, or an error naming the one that is
// not there.
func (f *File) Section(name string) ([]byte, error) {
	for _, m := range f.files.File {
		if m.Name != name {
			continue
		}
		from, err := m.DataOffset()
		if err != nil {
			return nil, fmt.Errorf("read section %s: %w", name, err)
		}
		left := f.data[min(from, int64(len(f.data))):]
		if m.Method != zip.Store || m.UncompressedSize64 > uint64(len(left)) {
			return nil, fmt.Errorf("read section %s: not stored whole", name)
		}
		return left[:m.UncompressedSize64:m.UncompressedSize64], nil
	}
	return nil, fmt.Errorf("read section %s: not in the file", name)
}

// Verify reads every section and compares its checksum.
func (f *File) Verify() error {
	for _, m := range f.files.File {
		r, err := m.Open()
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		if err != nil {
			return fmt.Errorf("verify section %s: %w", m.Name, err)
		}
	}
	return nil
}

// Close unmaps the file.
func (f *File) Close() error { return f.unmap() }

// Map maps a file into memory for reading. The pages are shared by all
// processes and read on first use.
func Map(path string) (data []byte, unmap func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("map file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	st, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("map file: %w", err)
	}
	if st.Size() == 0 || !st.Mode().IsRegular() {
		if data, err = io.ReadAll(f); err != nil { // empty files and pipes cannot be mapped
			return nil, nil, fmt.Errorf("read file: %w", err)
		}
		return data, func() error { return nil }, nil
	}
	data, err = unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map %s: %w", path, err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
