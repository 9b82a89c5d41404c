package block

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"path/filepath"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/filters"
)

const (
	// maxFrame is the maximum size in bytes of one stored entry, which has the results for one
	// record. Entries contain names, numbers and quotes, but no full texts.
	maxFrame = 64 << 20
	// maxBody is the maximum size in bytes of one draft (a rendered training row).
	maxBody = 1 << 30
)

// ErrDamaged is returned if a draft does not have its checksum.
var ErrDamaged = errors.New("the block is damaged")

// Place is the position of an entry in the index file of its block, in bytes.
type Place struct {
	Offset int64 `json:"o"`
	Size   int64 `json:"s"`
}

// blockFile is an open file of a block (the stored results of an input). The file is a sequence of
// frames, each of which is one encoded record: the results or the rendered training row of an
// attempt. A blockFile is not safe for concurrent use.
type blockFile struct {
	path  string
	file  corpus.Source
	frame []byte // the frame that was read last
	coder coder
}

func open(fsys corpus.FS, dir, name string) (blockFile, error) {
	path := filepath.Join(dir, name)
	f, err := fsys.Open(path)
	return blockFile{path: path, file: f}, err
}

func (f *blockFile) Close() { _ = f.file.Close() } // it was only read

// resizeFrame sets the length of the buffer f.frame, into which one stored record is read, to n
// bytes; the content is undefined. It returns an error if n is negative or larger than limit, as in
// a damaged file.
func (f *blockFile) resizeFrame(n, limit int64) error {
	if n < 0 || n > limit {
		return f.wrap(errShort)
	}
	if int64(cap(f.frame)) < n {
		f.frame = make([]byte, n)
	}
	f.frame = f.frame[:n]
	return nil
}

// readFrame reads one stored record, the bytes at position p of the file, into the buffer f.frame.
// It returns an error if the record is larger than limit bytes.
func (f *blockFile) readFrame(p Place, limit int64) error {
	if err := f.resizeFrame(p.Size, limit); err != nil {
		return err
	}
	_, err := f.file.ReadAt(f.frame, p.Offset)
	return f.wrap(err)
}

// wrap returns err with the file's path, or nil if err is nil.
func (f *blockFile) wrap(err error) error {
	if err != nil {
		err = fmt.Errorf("read %s: %w", f.path, err)
	}
	return err
}

// Reader reads the entries and drafts of one block. It is not safe for concurrent use.
type Reader struct {
	fs     corpus.FS
	index  blockFile
	bodies blockFile // opened by the first call of Draft
}

// Open opens the index of the block in dir.
func Open(fsys corpus.FS, dir string) (*Reader, error) {
	index, err := open(fsys, dir, indexName)
	return &Reader{fs: fsys, index: index}, err
}

// Entry returns the entry at position p with the given parts.
func (r *Reader) Entry(p Place, parts Part) (*Entry, error) {
	if err := r.index.readFrame(p, maxFrame); err != nil {
		return nil, err
	}
	x := &Entry{}
	return x, r.decode(parts, x)
}

// All returns an iterator over the entries in the order of the input, with the given parts. An
// entry is valid until the next one is read. The iterator ends at the first error.
func (r *Reader) All(parts Part) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		src := bufio.NewReaderSize(r.index.file, 1<<16)
		offset := int64(0)
		x := &Entry{}
		for {
			next, err := r.next(src, offset, parts, x)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(x, err) || err != nil {
				return
			}
			offset = next
		}
	}
}

// next reads the next entry (stored results for one record) from src into x. offset is the position
// of src in the index file in bytes. It returns the position after the entry. The error is io.EOF
// at the end of the file.
func (r *Reader) next(
	src *bufio.Reader,
	offset int64,
	parts Part,
	x *Entry,
) (int64, error) {
	size, err := binary.ReadUvarint(src)
	if err != nil {
		return 0, r.index.wrap(err)
	}
	if err = r.index.resizeFrame(int64(size), maxFrame); err != nil {
		return 0, err
	}
	if _, err = io.ReadFull(src, r.index.frame); err != nil {
		return 0, r.index.wrap(err)
	}
	prefix := len(binary.AppendUvarint(nil, size))
	place := Place{Offset: offset + int64(prefix), Size: int64(size)}
	*x = Entry{Place: place}
	return place.Offset + place.Size, r.decode(parts, x)
}

// decode decodes the bytes that were read last, one entry (stored results for a record), into x:
// its head and the given parts. All other parts are skipped.
func (r *Reader) decode(parts Part, x *Entry) error {
	var numbers []byte
	values := append(make([]any, 0, 5), &x.Head)
	for i, v := range []any{&x.Found, &x.Sample, &x.Structure} {
		if parts>>i == 0 {
			break
		}
		if parts>>i&1 == 0 {
			v = nil
		}
		values = append(values, v)
	}
	if parts&PartStructure != 0 {
		values = append(values, &numbers)
	}
	if err := r.index.coder.unpack(r.index.frame, maxFrame, values...); err != nil {
		return r.index.wrap(err)
	}
	return r.index.wrap(filters.DecodeValues(&x.Structure, numbers))
}

// Draft returns the entry at position p, with PartFound, and its draft. The error is ErrDamaged
// if the draft does not have its checksum.
func (r *Reader) Draft(p Place) (*Entry, *Draft, error) {
	x, err := r.Entry(p, PartFound)
	if err != nil {
		return nil, nil, err
	}
	d, err := r.DraftOf(x)
	return x, d, err
}

// DraftOf returns the draft of an entry that was read with PartFound. The error is ErrDamaged if the
// draft does not have its checksum.
func (r *Reader) DraftOf(x *Entry) (*Draft, error) {
	var err error
	f := &r.bodies
	if f.file == nil {
		*f, err = open(r.fs, filepath.Dir(r.index.path), bodiesName)
		if err != nil {
			return nil, err
		}
	}
	if err = f.readFrame(Place{x.Body.Offset, x.Body.Packed}, maxBody); err != nil {
		return nil, err
	}
	if crc32.Checksum(f.frame, castagnoli) != x.Body.CRC {
		return nil, fmt.Errorf("read %s: checksum of the body at %d differs: %w", f.path, x.Body.Offset, ErrDamaged)
	}
	d := &Draft{}
	return d, f.wrap(f.coder.unpack(f.frame, maxBody, d))
}

// Close closes the block's files.
func (r *Reader) Close() {
	r.index.Close()
	if r.bodies.file != nil {
		r.bodies.Close()
	}
}
