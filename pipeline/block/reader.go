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

// Reader reads the entries of one block. It belongs to one goroutine.
type Reader struct {
	path  string
	file  corpus.Source
	frame []byte
	coder coder
}

// Open opens the index of the block in dir.
func Open(fsys corpus.FS, dir string) (*Reader, error) {
	path := filepath.Join(dir, indexName)
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	return &Reader{path: path, file: f}, nil
}

// Close closes the index.
func (r *Reader) Close() { _ = r.file.Close() } // it was only read

// At gives the entry at a place.
func (r *Reader) At(p Place) (*Entry, error) {
	if err := r.size(p.Size); err != nil {
		return nil, err
	}
	if _, err := r.file.ReadAt(r.frame, p.Offset); err != nil {
		return nil, fmt.Errorf("read %s: %w", r.path, err)
	}
	return r.decode(false)
}

// Entries yields all entries in the order of their input.
func (r *Reader) Entries() iter.Seq2[*Entry, error] { return r.all(false) }

// Heads yields all entries with no more than who made them, and their samples.
func (r *Reader) Heads() iter.Seq2[*Entry, error] { return r.all(true) }

func (r *Reader) all(headOnly bool) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		in, at := bufio.NewReaderSize(r.file, 1<<18), int64(0)
		for {
			x, err := r.next(in, &at, headOnly)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// next gives the entry that is next in the index, and goes behind it with at.
func (r *Reader) next(in *bufio.Reader, at *int64, headOnly bool) (*Entry, error) {
	n, err := binary.ReadUvarint(in)
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err == nil {
		err = r.size(int64(n))
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.path, err)
	}
	place := Place{Offset: *at + int64(len(binary.AppendUvarint(nil, n))), Size: int64(n)}
	*at = place.Offset + place.Size
	if _, err = io.ReadFull(in, r.frame); err != nil {
		return nil, fmt.Errorf("read %s: %w", r.path, err)
	}
	x, err := r.decode(headOnly)
	if err == nil {
		x.Place = place
	}
	return x, err
}

func (r *Reader) size(n int64) error {
	if n < 0 || n > maxFrame {
		return fmt.Errorf("read %s: %w", r.path, errShort)
	}
	if int64(cap(r.frame)) < n {
		r.frame = make([]byte, n)
	}
	r.frame = r.frame[:n]
	return nil
}

func (r *Reader) decode(headOnly bool) (*Entry, error) {
	x := &Entry{}
	into := any(x)
	if headOnly {
		into = &x.Head
	}
	if err := r.coder.unpack(r.frame, maxFrame, into); err != nil {
		return nil, fmt.Errorf("read %s: %w", r.path, err)
	}
	return x, nil
}

// Bodies reads the bodies of one block.
type Bodies struct {
	path   string
	file   corpus.Source
	packed []byte
	coder  coder
}

// OpenBodies opens the bodies of the block in dir.
func OpenBodies(fsys corpus.FS, dir string) (*Bodies, error) {
	path := filepath.Join(dir, bodiesName)
	f, err := fsys.Open(path)
	return &Bodies{path: path, file: f}, err
}

// Read gives one draft.
func (b *Bodies) Read(at Body) (*Draft, error) {
	if at.Packed < 0 || at.Packed > maxBody || at.Bytes > maxBody {
		return nil, fmt.Errorf("read %s: %w", b.path, errShort)
	}
	if int64(cap(b.packed)) < at.Packed {
		b.packed = make([]byte, at.Packed)
	}
	b.packed = b.packed[:at.Packed]
	if _, err := b.file.ReadAt(b.packed, at.Offset); err != nil {
		return nil, fmt.Errorf("read %s: %w", b.path, err)
	}
	if crc32.Checksum(b.packed, castagnoli) != at.CRC {
		return nil, fmt.Errorf("read %s: checksum of the body at %d differs: %w", b.path, at.Offset, ErrDamaged)
	}
	out := &Draft{}
	if err := b.coder.unpack(b.packed, maxBody, out); err != nil {
		return nil, fmt.Errorf("read %s: %w", b.path, err)
	}
	return out, nil
}

// Close closes the file.
func (b *Bodies) Close() { _ = b.file.Close() } // it was only read
