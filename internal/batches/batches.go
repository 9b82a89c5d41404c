// Package batches opens Arrow streams that nobody vouches for. The reader
// beneath believes the sizes in a stream, and memory that it cannot have ends the
// program; so every message is held against its bytes before, and batches are
// written anew for it.
package batches

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

const (
	// mostMeta is the longest description of a batch or of all columns that is
	// read: a batch of two million buffers.
	mostMeta = 64 << 20
	// mostBody is how many bytes a batch may have, unpacked, and how many all
	// dictionaries that are held may have together.
	mostBody = 1 << 30
)

// ErrBroken says that a stream is no Arrow stream, or a damaged one, or that it
// is larger than any that is read.
var ErrBroken = errors.New("broken Arrow stream")

// Open reads the columns' names and types from a stream of size bytes, which may
// be followed by something else. What the reader then returns may still panic:
// the offsets in a batch are looked at when its values are.
func Open(in io.Reader, size int64) (*ipc.Reader, error) {
	m := &messages{in: in, left: size, held: map[int64]int{}}
	return ipc.NewReaderFromMessageReader(m, ipc.WithAllocator(scant{memory.DefaultAllocator}))
}

// scant gives no more memory at a time than a batch may have. It is asked where
// parts of a dictionary are joined, which has sizes of its own.
type scant struct{ memory.Allocator }

func (s scant) Allocate(size int) []byte { return s.Allocator.Allocate(bounded(size)) }

func (s scant) Reallocate(size int, b []byte) []byte {
	return s.Allocator.Reallocate(bounded(size), b)
}

// bounded panics, which the reader beneath turns into an error.
func bounded(size int) int {
	if size < 0 || size > mostBody {
		panic(fmt.Errorf("%w: a dictionary would take %d bytes", ErrBroken, size))
	}
	return size
}
