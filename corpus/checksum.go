package corpus

import (
	"hash/maphash"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// checksum is what two readings of one file must agree in. It lives within a
// process: its hashes have a seed of their own.
type checksum struct {
	rows    int64
	columns []columnSum
}

func newChecksum(schema *parquet.Schema) checksum {
	return checksum{columns: make([]columnSum, len(schema.Columns()))}
}

// add takes a row in and gives its size in bytes.
func (c *checksum) add(row parquet.Row) (size int64) {
	c.rows++
	for _, v := range row {
		size += c.columns[v.Column()].add(v)
	}
	return size
}

// join takes in the rows that follow.
func (c *checksum) join(next checksum) {
	c.rows += next.rows
	for i := range c.columns {
		c.columns[i].join(next.columns[i])
	}
}

func (c *checksum) equal(other checksum) bool {
	return c.rows == other.rows && slices.Equal(c.columns, other.columns)
}

// columnSum is a polynomial in the values of one column and in their levels,
// which say where rows and lists begin: a file is read back column by column,
// and those of pieces join into that of the whole.
type columnSum struct {
	values int64
	hash   uint64
}

// sumBase is odd, so that no power of it is 0.
const sumBase = 1099511628211

var rowSeed = maphash.MakeSeed()

// add takes a value in and gives its size in bytes.
func (s *columnSum) add(v parquet.Value) (size int64) {
	levels := uint64(v.RepetitionLevel())<<8 | uint64(v.DefinitionLevel())
	content := uint64(0)
	switch {
	case v.IsNull():
		size = 1
	case v.Kind() == parquet.ByteArray:
		b := v.ByteArray()
		content, size = maphash.Bytes(rowSeed, b), int64(len(b))+4
	default:
		content, size = v.Uint64(), 8
	}
	s.values++
	s.hash = (s.hash*sumBase+content)*sumBase + levels
	return size
}

// join takes in the values that follow.
func (s *columnSum) join(next columnSum) {
	power, square := uint64(1), uint64(sumBase)
	for n := 2 * next.values; n > 0; n >>= 1 {
		if n&1 == 1 {
			power *= square
		}
		square *= square
	}
	s.values += next.values
	s.hash = s.hash*power + next.hash
}
