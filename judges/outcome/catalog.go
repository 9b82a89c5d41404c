package outcome

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
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

// place is where a document lies.
type place struct {
	source int32
	length int32
	offset int64
}

// ReadCatalog reads one catalogue into memory.
func ReadCatalog(r io.Reader, limit int) (*Catalog, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	c := &Catalog{}
	return c, c.index(bytes.NewReader(text), limit)
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
	in := bufio.NewReaderSize(io.NewSectionReader(src, 0, math.MaxInt64), 64<<10)
	at := place{source: int32(len(c.sources))}
	c.sources = append(c.sources, src)
	documents := 0
	for number, more := 1, true; more; number++ {
		line, err := readLine(in, limit)
		if more = !errors.Is(err, io.EOF); !more {
			err = nil
		}
		if err == nil && len(bytes.TrimSpace(line)) > 0 {
			at.length = int32(len(line))
			err = c.add(line, at)
			documents++
		}
		if err != nil {
			return fmt.Errorf("read catalogue: line %d: %w", number, err)
		}
		at.offset += int64(len(line))
	}
	if documents == 0 {
		return errors.New("read catalogue: the file holds no document")
	}
	return nil
}

// readLine returns the next line; the last one comes with io.EOF. The memory
// is used again by the next call.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	line = bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		var part []byte
		part, err = in.ReadSlice('\n')
		if line = append(line, part...); len(line) > limit {
			return nil, fmt.Errorf("longer than %d bytes", limit)
		}
	}
	return line, err
}

func (c *Catalog) add(text []byte, at place) error {
	if !gjson.ValidBytes(text) {
		return errors.New("no valid JSON")
	}
	fields := members(gjson.ParseBytes(text), "product_id", "price")
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
		c.places[id] = at
	}
	return nil
}

// Len counts the documents.
func (c *Catalog) Len() int { return len(c.places) }

// Product returns the document with this id; not found is also one that can no
// longer be read.
func (c *Catalog) Product(id string) (*arena.Product, bool) {
	at, ok := c.places[id]
	if !ok {
		return nil, false
	}
	text := make([]byte, at.length)
	if _, err := c.sources[at.source].ReadAt(text, at.offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, false
	}
	p, err := arena.ParseProduct(bytes.TrimSpace(text))
	return &p, err == nil
}
