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

	"github.com/klauspost/compress/s2"

	"github.com/trajectory-arena/arena/corpora"
)

// maxFrame bounds one entry of a block: names, numbers and quotes, never
// texts.
const maxFrame = 64 << 20

// maxBody bounds one rendered attempt.
const maxBody = 1 << 30

// Entries yields the entries of the block in dir in the order of its input. An
// entry is valid until the next one.
func Entries(fsys corpora.FS, dir string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		path := filepath.Join(dir, indexName)
		f, err := fsys.Open(path)
		if err != nil {
			yield(nil, fmt.Errorf("open %s: %w", path, err))
			return
		}
		defer closeRead(f)
		if err := readEntries(bufio.NewReaderSize(f, 1<<18), yield); err != nil {
			yield(nil, fmt.Errorf("read %s: %w", path, err))
		}
	}
}

func readEntries(r *bufio.Reader, yield func(*Entry, error) bool) error {
	d := &decoder{}
	var frame []byte
	for {
		n, err := binary.ReadUvarint(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n > maxFrame {
			return errShort
		}
		if uint64(cap(frame)) < n {
			frame = make([]byte, n)
		}
		frame = frame[:n]
		if _, err := io.ReadFull(r, frame); err != nil {
			return err
		}
		var x Entry
		d.b = frame
		d.entry(&x)
		if d.err != nil {
			return d.err
		}
		if !yield(&x, nil) {
			return nil
		}
	}
}

// Bodies reads the bodies of one block.
type Bodies struct {
	path   string
	file   corpora.Source
	packed []byte
	plain  []byte
}

// OpenBodies opens the bodies of the block in dir.
func OpenBodies(fsys corpora.FS, dir string) (*Bodies, error) {
	path := filepath.Join(dir, bodiesName)
	f, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &Bodies{path: path, file: f}, nil
}

// Read gives one body; it is valid until the next call.
func (b *Bodies) Read(at Body) ([]byte, error) {
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
		return nil, fmt.Errorf("read %s: checksum of the body at %d differs", b.path, at.Offset)
	}
	plain, err := s2.Decode(b.plain[:cap(b.plain)], b.packed)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", b.path, err)
	}
	b.plain = plain
	return plain, nil
}

// Close closes the file.
func (b *Bodies) Close() error {
	if err := b.file.Close(); err != nil {
		return fmt.Errorf("close %s: %w", b.path, err)
	}
	return nil
}
