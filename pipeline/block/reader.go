package block

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math/bits"
	"path/filepath"

	"github.com/fxamacker/cbor/v2"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/filters"
)

// maxFrame bounds one entry of a block: names, numbers and quotes, never
// texts.
const maxFrame = 64 << 20

const maxBody = 1 << 30

// ErrDamaged says that a body is not what was written.
var ErrDamaged = errors.New("the block is damaged")

// Place says where an entry lies in its block's index.
type Place struct {
	Offset int64 `json:"o"`
	Size   int64 `json:"s"`
}

// stored is one file of a block, read piece by piece. It belongs to one goroutine.
type stored struct {
	path  string
	file  corpus.Source
	frame []byte
	coder coder
}

func open(fsys corpus.FS, dir, name string) (stored, error) {
	path := filepath.Join(dir, name)
	f, err := fsys.Open(path)
	return stored{path: path, file: f}, err
}

func (s *stored) Close() { _ = s.file.Close() } // it was only read

// room makes room for a frame of n bytes, at most so many.
func (s *stored) room(n, most int64) error {
	if n < 0 || n > most {
		return s.failed(errShort)
	}
	if int64(cap(s.frame)) < n {
		s.frame = make([]byte, n)
	}
	s.frame = s.frame[:n]
	return nil
}

func (s *stored) at(p Place, most int64) error {
	if err := s.room(p.Size, most); err != nil {
		return err
	}
	_, err := s.file.ReadAt(s.frame, p.Offset)
	return s.failed(err)
}

func (s *stored) failed(err error) error {
	if err != nil {
		err = fmt.Errorf("read %s: %w", s.path, err)
	}
	return err
}

// Reader reads the entries of one block, and their drafts.
type Reader struct {
	stored
	fs     corpus.FS
	bodies stored // open once a draft was asked for
}

// Open opens the index of the block in dir.
func Open(fsys corpus.FS, dir string) (*Reader, error) {
	s, err := open(fsys, dir, indexName)
	return &Reader{stored: s, fs: fsys}, err
}

// At gives the entry at a place, with what was found.
func (r *Reader) At(p Place, parts Part) (*Entry, error) {
	if err := r.at(p, maxFrame); err != nil {
		return nil, err
	}
	x := &Entry{}
	return x, r.decode(parts, x)
}

// All yields all entries in the order of their input, with these parts. An entry is
// valid until the next.
func (r *Reader) All(parts Part) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		in, at, x := bufio.NewReaderSize(r.file, 1<<16), int64(0), &Entry{}
		for {
			err := r.next(in, &at, parts, x)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// next reads into x the entry that is next in the index, and goes behind it with at.
func (r *Reader) next(in *bufio.Reader, at *int64, parts Part, x *Entry) error {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		return r.failed(err)
	}
	if err = r.room(int64(n), maxFrame); err != nil {
		return err
	}
	place := Place{Offset: *at + int64(len(binary.AppendUvarint(nil, n))), Size: int64(n)}
	*at = place.Offset + place.Size
	if _, err = io.ReadFull(in, r.frame); err != nil {
		return r.failed(err)
	}
	*x = Entry{Place: place}
	return r.decode(parts, x)
}

func (r *Reader) decode(parts Part, x *Entry) error {
	skipped, numbers := cbor.RawMessage{}, []byte{}
	into := []any{&x.Head, &x.Found, &x.Sample, &x.Structure}[:1+bits.Len8(uint8(parts))]
	for i := range into[1:] {
		if parts>>i&1 == 0 {
			into[1+i] = &skipped
		}
	}
	if parts&PartStructure != 0 {
		into = append(into, &numbers)
	}
	err := r.coder.unpack(r.frame, maxFrame, into...)
	if err == nil {
		err = filters.DecodeValues(&x.Structure, numbers)
	}
	return r.failed(err)
}

// Draft gives the entry at a place, with what was found, and its draft.
func (r *Reader) Draft(p Place) (*Entry, *Draft, error) {
	x, err := r.At(p, PartFound)
	b, out := &r.bodies, &Draft{}
	if err == nil && b.file == nil {
		*b, err = open(r.fs, filepath.Dir(r.path), bodiesName)
	}
	if err == nil {
		err = b.at(Place{x.Body.Offset, x.Body.Packed}, maxBody)
	}
	if err == nil && crc32.Checksum(b.frame, castagnoli) != x.Body.CRC {
		err = fmt.Errorf("read %s: checksum of the body at %d differs: %w", b.path, x.Body.Offset, ErrDamaged)
	}
	if err == nil {
		err = b.failed(b.coder.unpack(b.frame, maxBody, out))
	}
	return x, out, err
}

// Close closes the block's files.
func (r *Reader) Close() {
	r.stored.Close()
	if r.bodies.file != nil {
		r.bodies.Close()
	}
}
