package store

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Map maps a file into memory for reading. The pages are shared by all
// processes and read on first use.
func Map(path string) (data []byte, unmap func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("map file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	st, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("map file: %w", err)
	}
	if st.Size() == 0 || !st.Mode().IsRegular() {
		return readWhole(path)
	}
	data, err = unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map %s: %w", path, err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
