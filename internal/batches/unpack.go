package batches

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// The field of the table BodyCompression, and its values.
const (
	compressionCodec = 0

	codecLZ4  = 0
	codecZstd = 1
)

const (
	// lengthBytes before a compressed buffer are its length, or say that it is
	// stored.
	lengthBytes = 8
	stored      = -1
	// mostWindow is that of zstd's highest level.
	mostWindow = 128 << 20
)

// unpack decompresses every buffer of a batch. The memory grows with what comes
// out: the length that is written before it only says where it ends.
func (b *batch) unpack(codec byte) error {
	open, err := opener(codec)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for i, buffer := range b.buffers {
		start := out.Len()
		if err := unpackBuffer(&out, b.body[buffer[0]:][:buffer[1]], open); err != nil {
			return fmt.Errorf("unpack buffer of Arrow batch: %w", cut(err))
		}
		b.buffers[i] = [2]int64{int64(start), int64(out.Len() - start)}
		out.Write(make([]byte, -out.Len()&7)) // numbers lie at multiples of their sizes
	}
	b.body = out.Bytes()
	return nil
}

func opener(codec byte) (func(packed []byte) (io.Reader, error), error) {
	switch codec {
	case codecLZ4:
		z := lz4.NewReader(nil)
		return func(packed []byte) (io.Reader, error) { z.Reset(bytes.NewReader(packed)); return z, nil }, nil
	case codecZstd:
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow))
		return func(packed []byte) (io.Reader, error) { return z, z.Reset(bytes.NewReader(packed)) }, err
	default:
		return nil, fmt.Errorf("%w: it is compressed in a way that has no name", ErrBroken)
	}
}

func unpackBuffer(out *bytes.Buffer, packed []byte, open func([]byte) (io.Reader, error)) error {
	if len(packed) == 0 {
		return nil
	}
	n, packed := int64(binary.LittleEndian.Uint64(packed)), packed[lengthBytes:]
	if n == stored {
		out.Write(packed)
		n = 0
	}
	if room := mostBody - int64(out.Len()); n < 0 || n > room {
		return fmt.Errorf("%w: %d bytes where there is room for %d", ErrBroken, n, room)
	}
	if n == 0 {
		return nil
	}
	from, err := open(packed)
	if err != nil {
		return err
	}
	_, err = io.CopyN(out, from, n)
	return err
}
