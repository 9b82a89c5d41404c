package shop

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/journal"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/shop/index"
	"github.com/trajectory-arena/arena/shop/store"
)

// Catalog is a product catalogue with its search index, both mapped into
// memory. It is safe for concurrent use until Close.
type Catalog struct {
	info  indexInfo
	text  *index.Index
	data  []byte
	file  *store.File
	unmap func() error

	columns
}

// table is a column of strings, stored as their joined text and the end offset of each string in
// 4 bytes. To keep opening fast, the offsets are not checked. In a damaged file, a string
// outside the text reads as empty.
type table struct{ ends, text []byte }

func (t *table) add(s string) {
	t.text = append(t.text, s...)
	t.ends = binary.LittleEndian.AppendUint32(t.ends, uint32(len(t.text)))
}

func (t table) get(i int) string {
	start := uint32(0)
	if i > 0 {
		start = binary.LittleEndian.Uint32(t.ends[4*(i-1):])
	}
	end := binary.LittleEndian.Uint32(t.ends[4*i:])
	if start > end || uint64(end) > uint64(len(t.text)) {
		return ""
	}
	return string(t.text[start:end])
}

// find returns the index of s in a table that is sorted bytewise, and true. If s is not in the
// table, it returns the index at which s would be, and false.
func (t table) find(s string) (int, bool) {
	return sort.Find(len(t.ends)/4, func(i int) int {
		return strings.Compare(s, t.get(i))
	})
}

// Open opens the JSONL catalogue at path. It returns arena.ErrCompressed for a compressed
// catalogue. indexPath is the path of an index that BuildIndex wrote. If indexPath is empty,
// Open builds the index, which takes about two seconds for 100,000 products, and stops if ctx is
// done.
func Open(ctx context.Context, path, indexPath string) (*Catalog, error) {
	c := &Catalog{}
	var err error
	if c.data, c.unmap, err = store.Map(path); err != nil {
		return nil, fmt.Errorf("open catalogue: %w", err)
	}
	switch {
	case arena.Compressed(c.data):
		err = arena.ErrCompressed
	case indexPath == "":
		c.file, err = temporaryIndex(ctx, c.data)
	default:
		c.file, err = store.Open(indexPath, indexVersion)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open catalogue %s: %w", path, err), c.unmap())
	}
	if err := c.readSections(); err != nil {
		return nil, errors.Join(fmt.Errorf("open catalogue %s: %w", path, err), c.Close())
	}
	return c, nil
}

func temporaryIndex(ctx context.Context, data []byte) (*store.File, error) {
	folder, remove, err := journal.TemporaryFolder("arena-index-")
	if err != nil {
		return nil, err
	}
	defer remove() // a mapped file needs no name
	tmp, err := os.Create(filepath.Join(folder, "index"))
	if err != nil {
		return nil, err
	}
	err = writeIndex(ctx, data, tmp)
	err = errors.Join(err, tmp.Close())
	if err != nil {
		return nil, err
	}
	return store.Open(tmp.Name(), indexVersion)
}

func (c *Catalog) readSections() error {
	var info []byte
	for _, s := range append([]section{{"info", &info}}, c.sections()...) {
		var err error
		if *s.data, err = c.file.Section(s.name); err != nil {
			return err
		}
	}
	if err := json.Unmarshal(info, &c.info); err != nil {
		return fmt.Errorf("read index info: %w", err)
	}
	var err error
	if c.text, err = index.Open(c.file); err != nil {
		return err
	}
	return c.checkSections()
}

// checkSections returns an error if the index was built from a catalogue of another size, or if its
// sections have different numbers of documents. It compares only lengths. Verify compares
// checksums.
func (c *Catalog) checkSections() error {
	n := c.info.Documents
	if c.info.CatalogBytes != len(c.data) {
		return fmt.Errorf("the index was built of another catalogue: %d bytes, this one has %d", c.info.CatalogBytes, len(c.data))
	}
	fits := c.text.Documents() == n && len(c.prices) == 8*n && len(c.sold) == 8*n && len(c.shops) == 4*n &&
		len(c.flags) == n && len(c.places) == 12*n && len(c.ids.ends) == 4*n && len(c.shopNames.ends)%4 == 0
	if !fits {
		return errors.New("damaged index: its sections do not fit together")
	}
	return nil
}

// Verify returns an error if the catalogue or the index does not have its stored checksum.
func (c *Catalog) Verify() error {
	if got := fmt.Sprintf("%016x", xxh3.Hash(c.data)); got != c.info.CatalogXXH3 {
		return errors.New("verify catalogue: it changed since the index was built")
	}
	return c.VerifyIndex()
}

// VerifyIndex returns an error if the index does not have its stored checksums.
func (c *Catalog) VerifyIndex() error { return c.file.Verify() }

// Close closes the index and the catalogue. Their memory must not be used afterwards.
func (c *Catalog) Close() error {
	err := c.file.Close()
	return errors.Join(err, c.unmap())
}

// Len returns the number of products that can be searched.
func (c *Catalog) Len() int { return c.info.Documents }

// Checksum returns the hash of the catalogue, by which run folders identify it.
func (c *Catalog) Checksum() string { return c.info.CatalogXXH3 }

// Document returns the catalogue line of the product with this id, the first if there are
// several. It returns false if there is none.
func (c *Catalog) Document(id string) (arena.Raw, bool) {
	i, ok := c.ids.find(id)
	if !ok {
		return "", false
	}
	return arena.Raw(c.raw(i)), true
}

// Has reports whether the catalogue has a product with this id.
func (c *Catalog) Has(id string) bool {
	_, ok := c.ids.find(id)
	return ok
}

// shopNumber returns the number, counted from 1, that the index gives to the shop with this id. It
// returns 0 if the catalogue has no product of that shop.
func (c *Catalog) shopNumber(id string) uint32 {
	i, ok := c.shopNames.find(id)
	if !ok {
		return 0
	}
	return uint32(i + 1)
}

// raw returns the catalogue line of document i, a product as JSON. It returns nil if a damaged
// index has an offset outside the catalogue.
func (c *Catalog) raw(i int) []byte {
	offset := binary.LittleEndian.Uint64(c.places[12*i:])
	size := uint64(binary.LittleEndian.Uint32(c.places[12*i+8:]))
	if offset > uint64(len(c.data)) || size > uint64(len(c.data))-offset {
		return nil
	}
	return c.data[offset : offset+size]
}

func (c *Catalog) product(i int) (python.Value, error) { return python.Loads(string(c.raw(i))) }

func (c *Catalog) price(i uint32) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(c.prices[8*i:]))
}

func (c *Catalog) soldCount(i uint32) int64 {
	return int64(binary.LittleEndian.Uint64(c.sold[8*i:]))
}

func (c *Catalog) shopOf(i uint32) uint32 { return binary.LittleEndian.Uint32(c.shops[4*i:]) }
