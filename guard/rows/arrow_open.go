package rows

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// errArrow says that an Arrow stream is damaged, or larger than any that is read.
var errArrow = errors.New("broken Arrow stream")

const (
	// arrowMetaBytes is the longest description of a batch or of all columns that is
	// read: a batch of two million buffers.
	arrowMetaBytes = 64 << 20
	// arrowHeldBytes is how much a batch and all dictionaries may take together,
	// unpacked.
	arrowHeldBytes = 1 << 30
	// arrowPacked is how many times as long as the stream one unpacked buffer may
	// say that it is, where that is more than arrowLeast.
	arrowPacked = 1000
	arrowLeast  = 1 << 20
)

// openArrow opens a stream that nobody vouches for. The reader beneath turns its
// own panics into errors, but believes the sizes that a stream states; those are
// held here against the bytes that there are, and what it asks for is bounded.
func openArrow(in *io.SectionReader) (*ipc.Reader, *allowance, error) {
	mem := &allowance{Allocator: memory.DefaultAllocator, each: arrowLeast + arrowPacked*in.Size()}
	r, err := ipc.NewReaderFromMessageReader(&arrowMessages{in: in, left: in.Size()}, ipc.WithAllocator(mem))
	return r, mem, err
}

// allowance gives no more memory than a batch and the dictionaries may have. What
// it refuses is a panic, which the reader beneath turns into an error.
type allowance struct {
	memory.Allocator
	each, held int64
}

// Allocate is memory.Allocator.
func (a *allowance) Allocate(size int) []byte {
	a.take(size)
	return a.Allocator.Allocate(size)
}

// Reallocate is memory.Allocator.
func (a *allowance) Reallocate(size int, b []byte) []byte {
	a.held -= int64(len(b))
	a.take(size)
	return a.Allocator.Reallocate(size, b)
}

// Free is memory.Allocator.
func (a *allowance) Free(b []byte) {
	a.held -= int64(len(b))
	a.Allocator.Free(b)
}

func (a *allowance) take(size int) {
	if size < 0 || int64(size) > min(a.each, arrowHeldBytes-a.held) {
		panic(fmt.Errorf("%w: a part would take %d bytes", errArrow, size))
	}
	a.held += int64(size)
}

// arrowBare is how many rows and elements are read that no bytes bear out. Each
// takes a bit at least, but for those of columns of nothing but nulls or repeated
// values, which take none however many they are.
const arrowBare = 1 << 20

// check refuses a batch with more rows or elements than its bytes can hold.
func (a *allowance) check(batch arrow.RecordBatch) error {
	longest := 8*a.held + arrowBare
	outside := batch.NumRows() > longest
	var walk func(d arrow.ArrayData)
	walk = func(d arrow.ArrayData) {
		outside = outside || int64(d.Len()) > longest
		for _, child := range d.Children() {
			walk(child)
		}
	}
	for _, column := range batch.Columns() {
		walk(column.Data())
	}
	if outside {
		return fmt.Errorf("%w: a batch has more rows than its bytes can hold", errArrow)
	}
	return nil
}
