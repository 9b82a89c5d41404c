// Package store reads and writes files of named sections, which are mapped into memory. A store
// is a zip archive with uncompressed members whose comment is the version of the content.
// Opening takes the same time for any size. It fails if the version differs, the file is
// truncated or its directory is damaged.
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

// ErrVersion is the error for a file with another version of the format.
var ErrVersion = errors.New("another version of the format")

// NewWriter returns a writer of a store. The store is complete after the writer is closed.
func NewWriter(w io.Writer, version int) (*zip.Writer, error) {
	z := zip.NewWriter(w)
	return z, wrong.Wrap("begin store", z.SetComment(strconv.Itoa(version)))
}

// CreateSection adds a section and returns a writer for its content. The writer must not be
// used after the next section was added.
func CreateSection(z *zip.Writer, name string) (io.Writer, error) {
	w, err := z.CreateHeader(&zip.FileHeader{
		Name:   name,
		Method: zip.Store,
	})
	return w, wrong.Wrap("begin section "+name, err)
}

// WriteSection adds a section with its content.
func WriteSection(z *zip.Writer, name string, data []byte) error {
	w, err := CreateSection(z, name)
	if err == nil {
		_, err = w.Write(data)
	}
	return wrong.Wrap("write section "+name, err)
}

// File is an open store. Its sections must not be used after Close.
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

// Section returns the content of a section without comparing its checksum.
func (f *File) Section(name string) ([]byte, error) {
	for _, m := range f.files.File {
		if m.Name != name {
			continue
		}
		offset, err := m.DataOffset()
		if err != nil {
			return nil, fmt.Errorf("read section %s: %w", name, err)
		}
		data := f.data[min(offset, int64(len(f.data))):]
		size := m.UncompressedSize64
		if m.Method != zip.Store || size > uint64(len(data)) {
			return nil, fmt.Errorf("read section %s: not stored whole", name)
		}
		return data[:size:size], nil
	}
	return nil, fmt.Errorf("read section %s: not in the file", name)
}

// Verify returns an error if a section does not have its stored checksum.
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

// Close closes the file and removes its mapping.
func (f *File) Close() error { return f.unmap() }

// Map maps a file into memory for reading. The data must not be used after a call of unmap. All
// processes share the pages, which are read on first use.
func Map(path string) (data []byte, unmap func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("map file: %w", err)
	}
	defer wrong.Close(&err, f.Close)
	st, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("map file: %w", err)
	}
	if st.Size() == 0 || !st.Mode().IsRegular() {
		data, err = io.ReadAll(f) // empty files and pipes cannot be mapped
		if err != nil {
			return nil, nil, fmt.Errorf("read file: %w", err)
		}
		return data, func() error { return nil }, nil
	}
	data, err = unix.Mmap(
		int(f.Fd()),
		0,
		int(st.Size()),
		unix.PROT_READ,
		unix.MAP_SHARED,
	)
	if err != nil {
		return nil, nil, fmt.Errorf("map %s: %w", path, err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
