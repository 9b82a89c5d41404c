// Package gunzip reads gzip files as gzip(1) does.
package gunzip

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// Reader reads the text of the members of a gzip file. It ignores zeros after the last member, with
// which tapes and block devices fill a file up.
type Reader struct {
	stored *bufio.Reader
	member *gzip.Reader
}

// NewReader returns a reader of the gzip file that stored begins with. The error is that of the
// header of the first member.
func NewReader(stored *bufio.Reader) (*Reader, error) {
	member, err := gzip.NewReader(stored)
	if err != nil {
		return nil, err
	}
	member.Multistream(false)
	return &Reader{stored, member}, nil
}

// Read reads text. The error is io.EOF at the end of the last member, io.ErrUnexpectedEOF within a
// member, and an error of the decompression for everything else that follows a member.
func (r *Reader) Read(p []byte) (int, error) {
	for {
		n, err := r.member.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if n > 0 { // the next call meets the end of the member again
			return n, nil
		}
		if err = r.skipZeros(); err != nil {
			return 0, err
		}
		if err = r.member.Reset(r.stored); err != nil {
			return 0, err
		}
		r.member.Multistream(false)
	}
}

// skipZeros reads zeros up to the next byte of another value. The error is io.EOF if there is none.
func (r *Reader) skipZeros() error {
	for {
		b, err := r.stored.ReadByte()
		if err != nil {
			return err
		}
		if b != 0 {
			return r.stored.UnreadByte()
		}
	}
}
