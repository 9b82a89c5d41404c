package shard

import (
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"
)

// readBatch is how many values of a column are decoded at a time.
const readBatch = 64

// columnReader walks the values of one column of a row group. The library's own
// reader of rows keeps no page for the next one: to read a file by it takes
// the memory of all its pages anew.
type columnReader struct {
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	batch  []parquet.Value
	// ready are the values of the batch that were not taken yet.
	ready []parquet.Value
	// drained reports whether page has no more values, spent are the pages whose
	// values were all taken.
	drained bool
	spent   []parquet.Page
}

func newColumnReader(chunk parquet.ColumnChunk) *columnReader {
	return &columnReader{pages: chunk.Pages(), batch: make([]parquet.Value, readBatch)}
}

// fill makes values ready where none are. Behind the last it gives io.EOF.
func (c *columnReader) fill() error {
	for len(c.ready) == 0 {
		if err := c.turn(); err != nil {
			return err
		}
		n, err := c.values.ReadValues(c.batch)
		c.ready, c.drained = c.batch[:n], errors.Is(err, io.EOF)
		switch {
		case c.drained:
		case err != nil:
			return err
		case n == 0:
			return io.ErrNoProgress
		}
	}
	return nil
}

// turn goes to the next page where the open one has no more values.
func (c *columnReader) turn() error {
	if c.page != nil && !c.drained {
		return nil
	}
	if c.page != nil {
		c.spent, c.page = append(c.spent, c.page), nil
	}
	page, err := c.pages.ReadPage()
	if err != nil {
		return err
	}
	c.page, c.values, c.drained = page, page.Values(), false
	return nil
}

// row appends the values of the next row; they are valid until release.
func (c *columnReader) row(row parquet.Row) (parquet.Row, error) {
	for begun := false; ; begun = true {
		err := c.fill()
		if errors.Is(err, io.EOF) && begun {
			return row, nil
		}
		if errors.Is(err, io.EOF) {
			return row, io.ErrUnexpectedEOF
		}
		if err != nil {
			return row, err
		}
		n := 0
		for n < len(c.ready) && (c.ready[n].RepetitionLevel() != 0 || !begun && n == 0) {
			n++
		}
		row, c.ready = append(row, c.ready[:n]...), c.ready[n:]
		if len(c.ready) > 0 {
			return row, nil
		}
	}
}

// release gives the memory of all values that were taken to the next pages.
func (c *columnReader) release() {
	for _, page := range c.spent {
		parquet.Release(page)
	}
	c.spent = c.spent[:0]
}

// close gives back all memory; what was only read is not lost by it.
func (c *columnReader) close() {
	c.release()
	if c.page != nil {
		parquet.Release(c.page)
	}
	_ = c.pages.Close()
}
