package outcome

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// Catalog finds documents by their id. It remembers where each lies and reads
// it when it is asked for, so that the 2.5 million documents of the subnet's own
// catalogue need 274 MiB. Its zero value is empty; it is safe for use by several goroutines once
// it is filled.
type Catalog struct {
	places  map[string]place
	sources []io.ReaderAt
	files   []*os.File
}

type place struct {
	source int32
	length int32
	offset int64
}

// Open adds a file of one JSON document a line, which must stay as it is until
// Close. It refuses, with its line, a document that cannot be read, is longer
// than limit bytes, or lacks a product_id or a numeric price, and a file
// without documents. Of two documents with one id the first counts, as at the
// subnet's server.
func (c *Catalog) Open(path string, limit int) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open catalogue: %w", err)
	}
	c.files = append(c.files, f)
	return c.index(f, limit)
}

// Close closes the files.
func (c *Catalog) Close() error {
	var err error
	for _, f := range c.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

func (c *Catalog) index(src io.ReaderAt, limit int) error {
	source := int32(len(c.sources))
	c.sources = append(c.sources, src)
	head := make([]byte, 4)
	if n, _ := src.ReadAt(head, 0); arena.Compressed(head[:n]) { // a short file is told below
		return fmt.Errorf("read catalogue: %w", arena.ErrCompressed)
	}
	documents := 0
	for line, err := range arena.Lines(io.NewSectionReader(src, 0, math.MaxInt64), limit) {
		if err != nil {
			return fmt.Errorf("read catalogue: %w", err)
		}
		if err := c.add(line.Text, place{source: source, offset: line.Offset, length: int32(len(line.Text))}); err != nil {
			return fmt.Errorf("read catalogue: line %d: %w", line.Number, err)
		}
		documents++
	}
	if documents == 0 {
		return errors.New("read catalogue: the file holds no document")
	}
	return nil
}

func (c *Catalog) add(line []byte, at place) error {
	text := string(line)
	if !cursor.Valid(text) {
		return errors.New("no valid JSON")
	}
	fields := members(gjson.Parse(text), "product_id", "price")
	id := fields[0].String()
	switch {
	case id == "":
		return errors.New("no product_id")
	case fields[1].Type != gjson.Number:
		return fmt.Errorf("product %s has no numeric price", id)
	}
	if c.places == nil {
		c.places = map[string]place{}
	}
	if _, known := c.places[id]; !known {
		c.places[strings.Clone(id)] = at // id is a piece of the line, which may go
	}
	return nil
}

// Len counts the documents.
func (c *Catalog) Len() int { return len(c.places) }

// Document returns the document with this id; not found is also one that can no
// longer be read.
func (c *Catalog) Document(id string) (arena.Raw, bool) {
	at, ok := c.places[id]
	if !ok {
		return "", false
	}
	b := make([]byte, at.length)
	_, _ = c.sources[at.source].ReadAt(b, at.offset) // what cannot be read is no JSON
	text := strings.TrimSpace(string(b))
	return arena.Raw(text), cursor.Valid(text)
}

// kept is how many documents stay read: agents of one day recommend the same
// few thousand products over and over, at about 3 KB each.
const kept = 1 << 13

// documents are products as the rules read them. When enough are kept, keeping
// starts anew. Documents are never changed.
type documents struct {
	from Products
	mu   sync.RWMutex
	read map[string]*document
}

type document struct {
	// fields are those that rules read beside the options.
	fields  value
	options options
	// fault says why its options cannot be read. It counts only where the rules
	// come to them.
	fault error
}

// document is the product with this id; nil where the catalogue has none.
func (d *documents) document(id string) *document {
	d.mu.RLock()
	known, ok := d.read[id]
	d.mu.RUnlock()
	if ok {
		return known
	}
	text, ok := d.from.Document(id)
	if !ok {
		return nil
	}
	fields := gjson.Parse(string(text))
	read := &document{fields: pick(fields, "product_id", "shop_id", "title", "price", "service")}
	read.options, read.fault = readOptions(pick(fields, "attributes", "sku_options"))
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.read) >= kept {
		clear(d.read)
	}
	d.read[strings.Clone(id)] = read // id is a piece of its trace's text, which may go
	return read
}
