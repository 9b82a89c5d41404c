package outcome

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// Catalog is a catalogue in memory: the documents as their source wrote them,
// found by id. It is safe for use by several goroutines.
type Catalog struct {
	documents map[string]string
}

// NewCatalog returns an empty catalogue.
func NewCatalog() *Catalog { return &Catalog{documents: map[string]string{}} }

// ReadCatalog reads one catalogue.
func ReadCatalog(r io.Reader, limit int) (*Catalog, error) {
	c := NewCatalog()
	return c, c.Read(r, limit)
}

// Read adds a file of one JSON document a line. It refuses, with its line, a
// document that cannot be read, is longer than limit bytes, or lacks a
// product_id or a numeric price, and a file without documents. Of two
// documents with one id the first counts, as at the subnet's server.
func (c *Catalog) Read(r io.Reader, limit int) error {
	in := bufio.NewReaderSize(r, 64<<10)
	documents := 0
	for number, more := 1, true; more; number++ {
		line, err := readLine(in, limit)
		if more = !errors.Is(err, io.EOF); !more {
			err = nil
		}
		if text := bytes.TrimSpace(line); err == nil && len(text) > 0 {
			err = c.add(string(text))
			documents++
		}
		if err != nil {
			return fmt.Errorf("read catalogue: line %d: %w", number, err)
		}
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

func (c *Catalog) add(text string) error {
	if !gjson.Valid(text) {
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
	if _, known := c.documents[id]; !known {
		c.documents[strings.Clone(id)] = text
	}
	return nil
}

// Len counts the documents.
func (c *Catalog) Len() int { return len(c.documents) }

// Product returns the document with this id.
func (c *Catalog) Product(id string) (*arena.Product, bool) {
	text, ok := c.documents[id]
	if !ok {
		return nil, false
	}
	p, err := arena.ParseProduct([]byte(text))
	return &p, err == nil
}
