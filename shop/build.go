package shop

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/shop/index"
	"github.com/trajectory-arena/arena/shop/store"
)

// indexVersion is the version of the index file. It must be increased with any change to the
// analyzer or to the layout of a section.
const indexVersion = 5

// indexInfo is the section "info" of the index file, stored as JSON: the size in bytes and the XXH3
// hash of the catalogue from which the index was built, and counts of its documents (products).
type indexInfo struct {
	CatalogBytes int    `json:"catalog_bytes"`
	CatalogXXH3  string `json:"catalog_xxh3"`
	Documents    int    `json:"documents"`
	// Duplicates is the number of documents that have the id of an earlier document.
	Duplicates int `json:"duplicates"`
	// Blank is the number of documents that are not in the index because they have no text.
	Blank int `json:"blank"`
}

// line is one line of a catalogue: the id of its product, and its position in bytes.
type line struct {
	id           string
	offset, size int
}

// BuildIndex writes the search index of the JSONL catalogue at the path catalog to out. Equal
// catalogues give equal bytes. It returns an error if a line is not a product. If ctx is done,
// out has an incomplete index.
func BuildIndex(ctx context.Context, catalog string, out io.Writer) (err error) {
	data, unmap, err := store.Map(catalog)
	if err != nil {
		return fmt.Errorf("build index: %w", err)
	}
	defer wrong.Close(&err, unmap)
	return writeIndex(ctx, data, out)
}

func writeIndex(ctx context.Context, data []byte, out io.Writer) error {
	lines, err := catalogLines(ctx, data)
	if err != nil {
		return fmt.Errorf("build index: %w", err)
	}
	w, err := store.NewWriter(out, indexVersion)
	if err != nil {
		return fmt.Errorf("build index: %w", err)
	}
	c := columnWriter{
		shopNumbers: map[string]uint32{},
		info: indexInfo{
			CatalogBytes: len(data),
			CatalogXXH3:  fmt.Sprintf("%016x", xxh3.Hash(data)),
		},
	}
	c.prices = make([]byte, 0, 8*len(lines))
	c.sold = make([]byte, 0, 8*len(lines))
	c.places = make([]byte, 0, 12*len(lines))
	text := index.Builder{}
	for _, l := range lines {
		d := readDocument(data[l.offset : l.offset+l.size])
		if isBlank(d.contents) {
			c.info.Blank++
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("build index: %w", err)
		}
		c.add(d, l)
		text.Add(d.contents)
	}
	if err := text.Write(ctx, w); err != nil {
		return fmt.Errorf("build index: %w", err)
	}
	if err := c.write(w); err != nil {
		return fmt.Errorf("build index: %w", err)
	}
	return w.Close()
}

// isBlank reports whether a text has only spaces and ASCII control characters. The index omits
// products with such a text, as the subnet's server does.
func isBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > ' ' })
}

// catalogLines returns the lines of a catalogue sorted by the bytes of their product ids, since
// search results with equal scores have this order. Lines with the same id keep their order. Empty
// lines are left out.
func catalogLines(ctx context.Context, data []byte) ([]line, error) {
	var lines []line
	offset := 0
	number := 0
	for text := range bytes.Lines(data) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		number++
		if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 {
			size := len(bytes.TrimSuffix(text, []byte("\n")))
			id, err := parseID(trimmed)
			if err == nil && size > math.MaxUint32 {
				err = errors.New("longer than 4 GiB")
			}
			if err != nil {
				return nil, fmt.Errorf("read catalogue line %d: %w", number, err)
			}
			lines = append(lines, line{id: id, offset: offset, size: size})
		}
		offset += len(text)
	}
	slicesx.SortByKey(lines, func(l line) string {
		return l.id
	})
	return lines, nil
}

// columns are the sections of the index file other than the text index. In each byte slice, every
// document (product) has one value of a fixed size. ids has the id of each document, shopNames the
// id of each shop.
type columns struct {
	prices, sold, shops, flags, places []byte
	ids, shopNames                     table
}

func (c *columns) sections() []section {
	return []section{
		{"price", &c.prices},
		{"sold", &c.sold},
		{"shop", &c.shops},
		{"flags", &c.flags},
		{"place", &c.places},
		{"id-end", &c.ids.ends},
		{"id", &c.ids.text},
		{"shop-end", &c.shopNames.ends},
		{"shop-name", &c.shopNames.text},
	}
}

// section pairs the name of a section of the index file with the variable that has its content.
type section struct {
	name string
	data *[]byte
}

// columnWriter collects those sections of the index file that have one value for each document
// (product).
type columnWriter struct {
	columns
	info indexInfo
	// shopNumbers maps the id of each shop to a number, counted from 1 in the order of the
	// shops' first products.
	shopNumbers map[string]uint32
	lastID      string
}

func (c *columnWriter) add(d document, l line) {
	if c.info.Documents > 0 && d.id == c.lastID {
		c.info.Duplicates++
	}
	c.info.Documents++
	c.lastID = d.id
	c.prices = binary.LittleEndian.AppendUint64(c.prices, math.Float64bits(d.price))
	c.sold = binary.LittleEndian.AppendUint64(c.sold, uint64(d.sold))
	c.shops = binary.LittleEndian.AppendUint32(c.shops, c.shopNumber(d.shopID))
	c.flags = append(c.flags, d.flags)
	c.places = binary.LittleEndian.AppendUint64(c.places, uint64(l.offset))
	c.places = binary.LittleEndian.AppendUint32(c.places, uint32(l.size))
	c.ids.add(d.id)
}

// shopNumber returns the number of the shop with this id, or 0 for an empty id. A shop that was not
// seen before gets the next number; the first is 1.
func (c *columnWriter) shopNumber(id string) uint32 {
	if id == "" {
		return 0
	}
	n, ok := c.shopNumbers[id]
	if !ok {
		n = uint32(len(c.shopNumbers) + 1)
		c.shopNumbers[strings.Clone(id)] = n // does not keep the line in memory
	}
	return n
}

// sortShops writes the ids of the shops in bytewise order, for binary search. It then replaces
// the shop number of each document by the position of the id in this order, counted from 1.
func (c *columnWriter) sortShops() {
	positions := make([]uint32, len(c.shopNumbers)+1)
	for i, id := range slicesx.SortedKeys(c.shopNumbers) {
		positions[c.shopNumbers[id]] = uint32(i + 1)
		c.shopNames.add(id)
	}
	for i := 0; i < len(c.shops); i += 4 {
		number := binary.LittleEndian.Uint32(c.shops[i:])
		binary.LittleEndian.PutUint32(c.shops[i:], positions[number])
	}
}

func (c *columnWriter) write(w *zip.Writer) error {
	info := asjson.Bytes(c.info)
	c.sortShops()
	for _, s := range append([]section{{"info", &info}}, c.sections()...) {
		if err := store.WriteSection(w, s.name, *s.data); err != nil {
			return err
		}
	}
	return nil
}
