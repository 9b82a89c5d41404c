package gunzip

import (
	"errors"
	"io"
)

const (
	inputBytes = 64 << 10
	// ahead is how much input one turn of the fast loop may look at.
	ahead = 32
)

// input is the compressed file as bytes and, below them, as bits.
type input struct {
	r        io.Reader
	data     [inputBytes]byte
	pos, end int
	ended    bool
	// bits holds count bits that were taken from data, the next one lowest.
	bits  uint64
	count uint
}

// fill reads on until some bytes are ahead or the file ends.
func (in *input) fill() error {
	if in.ended {
		return nil
	}
	in.end = copy(in.data[:], in.data[in.pos:in.end])
	in.pos = 0
	n, err := io.ReadAtLeast(in.r, in.data[in.end:], ahead)
	in.end += n
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		in.ended = true
		return nil
	}
	return err
}

// need makes n bits ready, at most 56.
func (in *input) need(n uint) error {
	for in.count < n {
		if in.pos == in.end {
			if err := in.fill(); err != nil {
				return err
			}
			if in.pos == in.end {
				return io.ErrUnexpectedEOF
			}
		}
		in.bits |= uint64(in.data[in.pos]) << in.count
		in.pos++
		in.count += 8
	}
	return nil
}

// take gives the next n bits, which need made ready.
func (in *input) take(n uint) uint64 {
	v := in.bits & (1<<n - 1)
	in.bits >>= n
	in.count -= n
	return v
}

// read gives n bits.
func (in *input) read(n uint) (int, error) {
	if err := in.need(n); err != nil {
		return 0, err
	}
	return int(in.take(n)), nil
}

// align drops the rest of a byte. Whole bytes stay ready as bits.
func (in *input) align() { in.take(in.count & 7) }

func (in *input) octet() (byte, error) {
	v, err := in.read(8)
	return byte(v), err
}

func (in *input) octets(p []byte) error {
	for i := range p {
		var err error
		if p[i], err = in.octet(); err != nil {
			return err
		}
	}
	return nil
}
