package corpora

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/parquet-go/parquet-go"
)

// checksum is what two readings of one file must agree in. It lives within a
// process: its hash has a seed of its own. The hash is a polynomial in the
// hashes of the rows, so that those of pieces join into that of the whole.
type checksum struct {
	rows int64
	hash uint64
}

// checksumBase is odd, so that no power of it is 0.
const checksumBase = 1099511628211

// join takes in the rows that follow.
func (c *checksum) join(next checksum) {
	power := uint64(1)
	for range next.rows {
		power *= checksumBase
	}
	c.rows += next.rows
	c.hash = c.hash*power + next.hash
}

// summed takes rows in. Each is laid out as bytes and hashed at once: most have
// a hundred values of a few bytes.
type summed struct {
	checksum
	row []byte
}

var rowSeed = maphash.MakeSeed()

// add takes a row in and gives its size in bytes.
func (s *summed) add(row parquet.Row) (size int64) {
	s.row = s.row[:0]
	for _, v := range row {
		s.row = append(s.row, byte(v.RepetitionLevel()), byte(v.DefinitionLevel()), byte(v.Column()))
		size += s.value(v)
	}
	s.join(checksum{1, maphash.Bytes(rowSeed, s.row)})
	return size
}

// longValue is the length from which on a value's own hash stands for it: to
// copy it would cost as much as to hash it.
const longValue = 256

func (s *summed) value(v parquet.Value) int64 {
	switch {
	case v.IsNull():
		return 1
	case v.Kind() == parquet.ByteArray:
		b := v.ByteArray()
		s.row = binary.LittleEndian.AppendUint64(s.row, uint64(len(b)))
		if len(b) < longValue {
			s.row = append(s.row, b...)
		} else {
			s.row = binary.LittleEndian.AppendUint64(s.row, maphash.Bytes(rowSeed, b))
		}
		return int64(len(b)) + 4
	default:
		s.row = binary.LittleEndian.AppendUint64(s.row, v.Uint64())
		return 8
	}
}
