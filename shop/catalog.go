package shop

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/trajectory-arena/arena"
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

// table is a column of strings: the end of each in 4 bytes, and their text. A
// string whose place is not within the text, as in a damaged file, is empty:
// to look at all of them first would make opening slow.
type table struct{ ends, text []byte }

func (t *table) add(s string) {
	t.text = append(t.text, s...)
	t.ends = binary.LittleEndian.AppendUint32(t.ends, uint32(len(t.text)))
}

func (t table) at(i int) string {
	from, to := uint32(0), binary.LittleEndian.Uint32(t.ends[4*i:])
	if i > 0 {
		from = binary.LittleEndian.Uint32(t.ends[4*(i-1):])
	}
	if from > to || uint64(to) > uint64(len(t.text)) {
		return ""
	}
	return string(t.text[from:to])
}

func (t table) find(s string) (int, bool) {
	return sort.Find(len(t.ends)/4, func(i int) int { return strings.Compare(s, t.at(i)) })
}

// Open opens the JSONL catalogue at path; a compressed one is arena.ErrCompressed.
// indexPath names an index that BuildIndex made of it; where it is empty, the
// index is built on the spot, which takes about two seconds per 100,000
// products; ctx ends that.
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
	tmp, err := os.CreateTemp("", "arena-index-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // a mapped file needs no name; a leftover is the system's to clean
	if err := errors.Join(writeIndex(ctx, data, tmp), tmp.Close()); err != nil {
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

// checkSections refuses an index that was built of other data. The length and
// the ends of the catalogue tell in no time; Verify reads it all.
func (c *Catalog) checkSections() error {
	n := c.info.Documents
	if c.info.CatalogBytes != len(c.data) {
		return fmt.Errorf("the index was built of another catalogue: %d bytes, this one has %d", c.info.CatalogBytes, len(c.data))
	}
	if c.text.Documents() != n || len(c.prices) != 8*n || len(c.sold) != 8*n || len(c.shops) != 4*n || len(c.flags) != n ||
		len(c.places) != 12*n || len(c.ids.ends) != 4*n || len(c.shopNames.ends)%4 != 0 {
		return errors.New("damaged index: its sections do not fit together")
	}
	return nil
}

// Verify reads the whole index and the whole catalogue and compares their
// checksums.
func (c *Catalog) Verify() error {
	if got := fmt.Sprintf("%016x", xxh3.Hash(c.data)); got != c.info.CatalogXXH3 {
		return errors.New("verify catalogue: it changed since the index was built")
	}
	return c.VerifyIndex()
}

// VerifyIndex reads the whole index and compares its checksums.
func (c *Catalog) VerifyIndex() error { return c.file.Verify() }

// Close gives the mapped memory back.
func (c *Catalog) Close() error { return errors.Join(c.file.Close(), c.unmap()) }

// Len is how many products can be searched.
func (c *Catalog) Len() int { return c.info.Documents }

// Checksum is the hash of the catalogue's bytes, which names it in run folders.
func (c *Catalog) Checksum() string { return c.info.CatalogXXH3 }

// Document is the catalogue's own text of a product; of several with one id, of
// the first.
func (c *Catalog) Document(id string) (arena.Raw, bool) {
	i, ok := c.ids.find(id)
	if !ok {
		return "", false
	}
	return arena.Raw(c.raw(i)), true
}

// Has reports whether a product with that id can be looked up.
func (c *Catalog) Has(id string) bool {
	_, ok := c.ids.find(id)
	return ok
}

// shop is the number of a shop, counted from 1; 0 if it has no product.
func (c *Catalog) shop(id string) uint32 {
	i, known := c.shopNames.find(id)
	if !known {
		return 0
	}
	return uint32(i + 1)
}

func (c *Catalog) raw(i int) []byte {
	at, size := binary.LittleEndian.Uint64(c.places[12*i:]), uint64(binary.LittleEndian.Uint32(c.places[12*i+8:]))
	if at > uint64(len(c.data)) || size > uint64(len(c.data))-at {
		return nil
	}
	return c.data[at : at+size]
}

func (c *Catalog) product(i int) (python.Value, error) { return python.Loads(string(c.raw(i))) }

func (c *Catalog) price(i uint32) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(c.prices[8*i:]))
}

func (c *Catalog) soldCount(i uint32) int64 {
	return int64(binary.LittleEndian.Uint64(c.sold[8*i:]))
}

func (c *Catalog) shopOf(i uint32) uint32 { return binary.LittleEndian.Uint32(c.shops[4*i:]) }
