package outcome

import (
	"bytes"
	"fmt"
	"io"
)

// ReadCatalog reads one catalogue into memory.
func ReadCatalog(r io.Reader, limit int) (*Catalog, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	c := &Catalog{}
	return c, c.index(bytes.NewReader(text), limit)
}
