package text

import (
	"fmt"
	"io"
)

// ReadAll returns the content of r. It returns an error if there are more than limit bytes, and then
// reads no more than one of them.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("larger than %d bytes", limit)
	}
	return b, err
}
