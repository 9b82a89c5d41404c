package shop

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/shop/index"
	"github.com/trajectory-arena/arena/shop/store"
)

// indexVersion is the version of the index file's sections. A change of the
// analyzer or of a section's layout is a new version.
const indexVersion = 5

// indexInfo is the index file's own account, stored as JSON.
type indexInfo struct {
	CatalogBytes int    `json:"catalog_bytes"`
	CatalogXXH3  string `json:"catalog_xxh3"`
	Documents    int    `json:"documents"`
	// Duplicates counts documents whose id an earlier one has.
	Duplicates int `json:"duplicates"`
	// Blank counts documents left out because nothing in them can be searched.
	Blank int `json:"blank"`
}

type line struct {
	id       string
	at, size int
}

// BuildIndex writes the search index of the JSONL catalogue at path to out. The same
// catalogue gives the same bytes. A line that is no product is an error naming it; one
// of ctx ends the build, out is then half an index.
func BuildIndex(ctx context.Context, catalog string, out io.Writer) (err error) {
	data, unmap, err := store.Map(catalog)
	if err != nil {
		return fmt.Errorf("build index: %w", err)
	}
	defer func() { err = errors.Join(err, unmap()) }()
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
	c := columnWriter{shopNumber: map[string]uint32{}, info: indexInfo{CatalogBytes: len(data), CatalogXXH3: fmt.Sprintf("%016x", xxh3.Hash(data))}}
	c.prices, c.sold, c.places = make([]byte, 0, 8*len(lines)), make([]byte, 0, 8*len(lines)), make([]byte, 0, 12*len(lines))
	text := index.Builder{}
	for _, l := range lines {
		d := readDocument(data[l.at : l.at+l.size])
		if !strings.ContainsFunc(d.contents, func(r rune) bool { return r > ' ' }) { // what Java calls blank is not in the index
			c.info.Blank++
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("build index: %w", err)
		}
		c.add(d, l)
		text.Add(d.contents)
	}
	if err := errors.Join(text.Write(ctx, w), c.write(w)); err != nil {
		return fmt.Errorf("build index: %w", err)
	}
	return w.Close()
}

// catalogLines reads the ids of all lines and sorts by them, bytewise: the
// order of equal scores. Lines of one id keep their order.
func catalogLines(ctx context.Context, data []byte) (lines []line, err error) {
	at, number := 0, 0
	for whole := range bytes.Lines(data) {
		if err = ctx.Err(); err != nil {
			return nil, err
		}
		number++
		if text := bytes.TrimSpace(whole); len(text) > 0 {
			l := line{at: at, size: len(bytes.TrimSuffix(whole, []byte("\n")))}
			if l.id, err = identify(text); err == nil && l.size > math.MaxUint32 {
				err = errors.New("longer than 4 GiB")
			}
			if err != nil {
				return nil, fmt.Errorf("read catalogue line %d: %w", number, err)
			}
			lines = append(lines, l)
		}
		at += len(whole)
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.id, b.id) })
	return lines, nil
}

// columns are the sections beside the text index: one fixed-size value per
// document each, ids and shops as offsets into text.
type columns struct {
	prices, sold, shops, flags, places []byte
	ids, shopNames                     table
}

func (c *columns) sections() []section {
	return []section{
		{"price", &c.prices}, {"sold", &c.sold}, {"shop", &c.shops}, {"flags", &c.flags}, {"place", &c.places},
		{"id-end", &c.ids.ends}, {"id", &c.ids.text}, {"shop-end", &c.shopNames.ends}, {"shop-name", &c.shopNames.text},
	}
}

type section struct {
	name string
	data *[]byte
}

type columnWriter struct {
	columns
	info       indexInfo
	shopNumber map[string]uint32
	lastID     string
}

func (c *columnWriter) add(d document, l line) {
	if c.info.Documents > 0 && d.id == c.lastID {
		c.info.Duplicates++
	}
	c.info.Documents++
	c.lastID = d.id
	c.prices = binary.LittleEndian.AppendUint64(c.prices, math.Float64bits(d.price))
	c.sold = binary.LittleEndian.AppendUint64(c.sold, uint64(d.sold))
	c.shops = binary.LittleEndian.AppendUint32(c.shops, c.shop(d.shopID))
	c.flags = append(c.flags, d.flags)
	c.places = binary.LittleEndian.AppendUint64(c.places, uint64(l.at))
	c.places = binary.LittleEndian.AppendUint32(c.places, uint32(l.size))
	c.ids.add(d.id)
}

// shop numbers shops from 1 in the order they come; 0 is no shop.
func (c *columnWriter) shop(id string) uint32 {
	if id == "" {
		return 0
	}
	n, ok := c.shopNumber[id]
	if !ok {
		n = uint32(len(c.shopNumber) + 1)
		c.shopNumber[strings.Clone(id)] = n // not a part of the whole line
	}
	return n
}

// sortShops numbers the shops anew in the order of their names, so that a
// reader finds one by halving and has nothing to prepare.
func (c *columnWriter) sortShops() {
	renumbered := make([]uint32, len(c.shopNumber)+1)
	for i, id := range slices.Sorted(maps.Keys(c.shopNumber)) {
		renumbered[c.shopNumber[id]] = uint32(i + 1)
		c.shopNames.add(id)
	}
	for at := 0; at < len(c.shops); at += 4 {
		binary.LittleEndian.PutUint32(c.shops[at:], renumbered[binary.LittleEndian.Uint32(c.shops[at:])])
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
