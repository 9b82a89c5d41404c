package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// writeWhole writes a file all or nothing; - is standard output. What is there
// already and is no file, such as a device or a pipe, is written to as it is.
func writeWhole(s *streams, path string, write func(io.Writer) error) error {
	if path == "-" {
		b := bufio.NewWriter(s.out)
		return errors.Join(write(b), b.Flush())
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return writeDevice(path, write)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".arena-*")
	if err != nil {
		return failed(fmt.Errorf("create %s: %w", path, err), "the folder of -o must exist")
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // gone already where all went well
	b := bufio.NewWriter(tmp)
	if err := errors.Join(write(b), b.Flush(), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return nil
}

func writeDevice(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return failed(fmt.Errorf("open %s: %w", path, err), "-o names a file, or - for standard output")
	}
	b := bufio.NewWriter(f)
	return errors.Join(write(b), b.Flush(), f.Close())
}
