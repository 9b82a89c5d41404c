// Package store is one file of named sections, written once and mapped into
// memory whole. The header names format version, sections and checksums, so
// that opening costs the same for any size and a file of another version, a
// cut file or a damaged header is refused in words.
package store

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"

	"github.com/zeebo/xxh3"
)

// The header: magic (8 bytes), version (4), number of sections (4), then 48
// bytes a section (name 24, offset 8, length 8, xxh3 of the bytes 8), zeros,
// and the CRC-32 of all before it in the last 4 bytes. Little-endian.
const (
	magic      = "arenaidx"
	headerSize = 4096
	entrySize  = 48
	nameSize   = 24
	tableAt    = 16
	maxEntries = (headerSize - tableAt - 4) / entrySize
	align      = 8
)

// ErrVersion is in the chain of the error for a file of another version.
var ErrVersion = errors.New("another version of the format")

type entry struct {
	name           string
	offset, length uint64
	hash           uint64
}

// Writer writes sections one after the other. Close writes the header, and
// only then is the file one.
type Writer struct {
	file    *os.File
	buf     *bufio.Writer
	hash    *xxh3.Hasher
	version uint32
	at      uint64
	entries []entry
}

// NewWriter begins a store in f, which must be empty.
func NewWriter(f *os.File, version uint32) (*Writer, error) {
	const bufferSize = 1 << 20
	w := &Writer{file: f, buf: bufio.NewWriterSize(f, bufferSize), hash: xxh3.New(), version: version, at: headerSize}
	if _, err := w.buf.Write(make([]byte, headerSize)); err != nil {
		return nil, fmt.Errorf("begin store: %w", err)
	}
	return w, nil
}

// Section begins the next section; what is written from now on is in it.
func (w *Writer) Section(name string) error {
	if len(name) > nameSize || len(w.entries) == maxEntries {
		return fmt.Errorf("begin section %s: name or table too long", name)
	}
	w.endSection()
	pad := (align - w.at%align) % align
	if _, err := w.buf.Write(make([]byte, pad)); err != nil {
		return fmt.Errorf("begin section %s: %w", name, err)
	}
	w.at += pad
	w.entries = append(w.entries, entry{name: name, offset: w.at})
	return nil
}

func (w *Writer) endSection() {
	if n := len(w.entries); n > 0 {
		w.entries[n-1].length = w.at - w.entries[n-1].offset
		w.entries[n-1].hash = w.hash.Sum64()
	}
	w.hash.Reset()
}

// Write appends to the section begun last.
func (w *Writer) Write(p []byte) (int, error) {
	w.at += uint64(len(p))
	if _, err := w.hash.Write(p); err != nil {
		return 0, fmt.Errorf("hash section: %w", err)
	}
	return w.buf.Write(p)
}

// Close ends the last section and writes the header. The file stays open.
func (w *Writer) Close() error {
	w.endSection()
	if err := w.buf.Flush(); err != nil {
		return fmt.Errorf("write store: %w", err)
	}
	h := make([]byte, headerSize)
	copy(h, magic)
	binary.LittleEndian.PutUint32(h[8:], w.version)
	binary.LittleEndian.PutUint32(h[12:], uint32(len(w.entries)))
	for i, e := range w.entries {
		b := h[tableAt+i*entrySize:]
		copy(b[:nameSize], e.name)
		binary.LittleEndian.PutUint64(b[nameSize:], e.offset)
		binary.LittleEndian.PutUint64(b[nameSize+8:], e.length)
		binary.LittleEndian.PutUint64(b[nameSize+16:], e.hash)
	}
	binary.LittleEndian.PutUint32(h[headerSize-4:], crc32.ChecksumIEEE(h[:headerSize-4]))
	if _, err := w.file.WriteAt(h, 0); err != nil {
		return fmt.Errorf("write store header: %w", err)
	}
	return nil
}

// File is an open store. Its sections are valid until Close.
type File struct {
	data    []byte
	entries []entry
	unmap   func() error
}

// Open maps the store at path and checks its header.
func Open(path string, version uint32) (*File, error) {
	data, unmap, err := Map(path)
	if err != nil {
		return nil, err
	}
	f := &File{data: data, unmap: unmap}
	if err := f.readHeader(version); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), unmap())
	}
	return f, nil
}

func (f *File) readHeader(version uint32) error {
	if len(f.data) < headerSize || string(f.data[:8]) != magic {
		return errors.New("not a search index")
	}
	h := f.data[:headerSize]
	if crc32.ChecksumIEEE(h[:headerSize-4]) != binary.LittleEndian.Uint32(h[headerSize-4:]) {
		return errors.New("damaged header: wrong checksum")
	}
	if v := binary.LittleEndian.Uint32(h[8:]); v != version {
		return fmt.Errorf("%w: the file has %d, this program reads %d", ErrVersion, v, version)
	}
	n := binary.LittleEndian.Uint32(h[12:])
	if n > maxEntries {
		return fmt.Errorf("damaged header: %d sections", n)
	}
	for i := range n {
		b := h[tableAt+i*entrySize:]
		e := entry{
			name:   string(b[:slices.Index(append(b[:nameSize:nameSize], 0), 0)]),
			offset: binary.LittleEndian.Uint64(b[nameSize:]),
			length: binary.LittleEndian.Uint64(b[nameSize+8:]),
			hash:   binary.LittleEndian.Uint64(b[nameSize+16:]),
		}
		if size := uint64(len(f.data)); e.offset > size || e.length > size-e.offset {
			return fmt.Errorf("section %s ends after the file: it was cut", e.name)
		}
		f.entries = append(f.entries, e)
	}
	return nil
}

// Section gives the bytes of a section, or an error naming the one that is
// not there.
func (f *File) Section(name string) ([]byte, error) {
	for _, e := range f.entries {
		if e.name == name {
			return f.data[e.offset : e.offset+e.length : e.offset+e.length], nil
		}
	}
	return nil, fmt.Errorf("read section %s: not in the file", name)
}

// Verify reads every section and compares its checksum.
func (f *File) Verify() error {
	for _, e := range f.entries {
		if xxh3.Hash(f.data[e.offset:e.offset+e.length]) != e.hash {
			return fmt.Errorf("verify section %s: wrong checksum", e.name)
		}
	}
	return nil
}

// Close unmaps the file.
func (f *File) Close() error { return f.unmap() }
