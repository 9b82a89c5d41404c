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

// Catalog is an index of product documents by id. It stores the position of each document in its
// file and reads documents on demand, so that the 2.5 million documents of the subnet's own
// catalogue need 274 MiB. The zero value is empty. It is safe for concurrent use once it is
// filled.
type Catalog struct {
	places  map[string]place
	sources []io.ReaderAt
	files   []*os.File
}

// place is where a product is in the catalogue: the index of the file, and offset and length in
// bytes.
type place struct {
	source int32
	length int32
	offset int64
}

// Open adds a file with one JSON document per line. The file must not change until Close. Open
// returns an error for a file without documents, and for a document that cannot be read, is
// longer than maxBytes, or has no product_id or no numeric price. The caller names the file. Of
// several documents with one id, the first counts, as in the subnet's server.
func (c *Catalog) Open(path string, maxBytes int) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open catalogue: %w", err)
	}
	c.files = append(c.files, f)
	return c.index(f, maxBytes)
}

// Close closes the files.
func (c *Catalog) Close() error {
	var err error
	for _, f := range c.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// index reads all products of one of the catalogue's files and records their positions. It returns
// an error for a product of more than maxBytes bytes, and for a file without products.
func (c *Catalog) index(src io.ReaderAt, maxBytes int) error {
	source := int32(len(c.sources))
	c.sources = append(c.sources, src)
	head := make([]byte, 4)
	n, _ := src.ReadAt(head, 0) // Lines returns the error
	if arena.Compressed(head[:n]) {
		return arena.ErrCompressed
	}
	documents := 0
	for line, err := range arena.Lines(io.NewSectionReader(src, 0, math.MaxInt64), maxBytes) {
		if err != nil {
			return err
		}
		p := place{
			source: source,
			offset: line.Offset,
			length: int32(len(line.Text)),
		}
		if err := c.add(line.Text, p); err != nil {
			return fmt.Errorf("line %d: %w", line.Number, err)
		}
		documents++
	}
	if documents == 0 {
		return errors.New("the file holds no document")
	}
	return nil
}

func (c *Catalog) add(line []byte, p place) error {
	var productID, price gjson.Result // the last of each counts
	in := cursor.New(string(line), cursor.Limits{Depth: cursor.MaxDepth, StringBytes: len(line)})
	in.Object(func(key string) {
		switch raw := string(in.Raw()); key {
		case "product_id":
			productID = gjson.Parse(raw)
		case "price":
			price = gjson.Parse(raw)
		}
	})
	if in.End() != nil {
		return errors.New("no valid JSON")
	}
	id := productID.String()
	if id == "" {
		return errors.New("no product_id")
	}
	if price.Type != gjson.Number {
		return fmt.Errorf("product %s has no numeric price", id)
	}
	if c.places == nil {
		c.places = map[string]place{}
	}
	if _, ok := c.places[id]; !ok {
		c.places[strings.Clone(id)] = p // id would keep the line in memory
	}
	return nil
}

// Len returns the number of documents.
func (c *Catalog) Len() int { return len(c.places) }

// Document returns the document with this id. It returns false if there is none or if it can no
// longer be read.
func (c *Catalog) Document(id string) (arena.Raw, bool) {
	p, ok := c.places[id]
	if !ok {
		return "", false
	}
	b := make([]byte, p.length)
	_, _ = c.sources[p.source].ReadAt(b, p.offset) // bytes that were not read are no JSON
	text := strings.TrimSpace(string(b))
	return arena.Raw(text), cursor.Valid(text)
}

// maxCached is the maximum number of products of the catalogue in memory, of about 3 KB each. The
// agents of one day recommend the same few thousand products.
const maxCached = 1 << 13

// documents is a cache of the catalogue's products in the form that the scoring rules need. When it
// is full it is emptied. Products never change.
type documents struct {
	source Products
	mu     sync.RWMutex
	cache  map[string]*document
}

// document is one product of the catalogue, with the fields that the rules read.
type document struct {
	// fields are the fields that the rules read, other than the options.
	fields  value
	options options
	// optionsFault is the reason why the options cannot be read, nil if they can. It matters
	// only if a rule needs the options.
	optionsFault error
}

// document returns the product with this id, nil if the catalogue does not have it.
func (d *documents) document(id string) *document {
	d.mu.RLock()
	doc, ok := d.cache[id]
	d.mu.RUnlock()
	if ok {
		return doc
	}
	text, ok := d.source.Document(id)
	if !ok {
		return nil
	}
	fields := gjson.Parse(string(text))
	doc = &document{fields: pick(fields, "product_id", "shop_id", "title", "price", "service")}
	doc.options, doc.optionsFault = readOptions(pick(fields, "attributes", "sku_options"))

	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.cache) >= maxCached {
		clear(d.cache)
	}
	d.cache[strings.Clone(id)] = doc // id would keep its trace's text in memory
	return doc
}

// Missing returns a warning of problems that ask for a product that is not among products: with the
// catalogue of other problems, every attempt would look like a failure. It is empty if there are none.
func Missing(problems []arena.Problem, products Products) string {
	missing := 0
	for i := range problems {
		for _, r := range problems[i].Rewards {
			if _, ok := products.Document(r.ProductID); !ok && r.ProductID != "" {
				missing++
				break
			}
		}
	}
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d problems ask for a product that is not in the catalogue, so that no attempt may solve them: give --catalog the catalogue of these problems",
		missing, len(problems))
}
