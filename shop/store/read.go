package store

import (
	"fmt"
	"os"
)

// readWhole is Map for what cannot be mapped: empty files and pipes.
func readWhole(path string) (data []byte, unmap func() error, err error) {
	data, err = os.ReadFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read file: %w", err)
	}
	return data, func() error { return nil }, nil
}
