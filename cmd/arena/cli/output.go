package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/atomicfile"
)

// WriteWhole writes a file completely or not at all. The path "-" is standard output. If the
// file cannot be created, it fails before it calls write, so that write may do the work of a
// run. An existing device or pipe is written directly.
func WriteWhole(s *Streams, path string, write func(io.Writer) error) error {
	if path == "-" {
		return writeBuffered(s.Out, write)
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return Failed(fmt.Errorf("open %s: %w", path, cause(err)), "-o names a file, or - for standard output")
		}
		err = writeBuffered(f, write)
		return errors.Join(err, f.Close())
	}
	release, f, err := createWhole(path)
	if errors.Is(err, corpus.ErrBusy) {
		return fmt.Errorf("write %s: %w", path, corpus.ErrBusy)
	}
	if err != nil {
		return Failed(fmt.Errorf("create %s: %w", path, cause(err)), "the folder of -o must exist and take new files")
	}
	defer release()
	if err := writeBuffered(f, write); err != nil {
		return errors.Join(err, f.Drop())
	}
	if err := f.Commit(); err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	return nil
}

// createWhole locks the output file at path and creates its temporary file, replacing one that a
// killed run left. The error wraps corpus.ErrBusy if another process writes the same output.
func createWhole(path string) (release func(), f *atomicfile.File, err error) {
	if _, err = os.Stat(filepath.Dir(path)); err != nil {
		return nil, nil, err // corpus.Lock would create the folder
	}
	release, err = corpus.Lock(path)
	if err != nil {
		return nil, nil, err
	}
	f, err = atomicfile.CreateAt(corpus.SiblingPath(path, "new"), path)
	if err != nil {
		release()
		return nil, nil, err
	}
	return release, f, nil
}

// WriteText writes text to a file with WriteWhole.
func WriteText(s *Streams, path, text string) error {
	return WriteWhole(s, path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// WriteFolder writes a folder completely or not at all. write fills a temporary folder next to
// it, which then replaces the folder. The error wraps corpus.ErrBusy if another process writes
// the same folder.
func WriteFolder(path string, write func(dir string) error) error {
	release, err := corpus.Lock(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer release()
	part := corpus.SiblingPath(path, "part")
	err = corpus.ResetDir(corpus.Disk{}, part)
	if err == nil {
		err = write(part)
	}
	if err == nil {
		err = corpus.Swap(corpus.Disk{}, part, filepath.Clean(path))
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(part))
	}
	return err
}

// stickyWriter is a writer that keeps the first error of its writes. Code that prints tables or
// help does not check each write, but a run that lost output must not exit with code 0.
type stickyWriter struct {
	dst io.Writer
	err error
}

func (c *stickyWriter) Write(p []byte) (int, error) {
	n, err := c.dst.Write(p)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

// writeBuffered calls write with a buffered writer on w, and flushes the buffer if write succeeds.
func writeBuffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriter(w)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// cause returns the reason of a file error without operation and path, which the caller adds.
// Any other error is returned unchanged.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	return err
}

// Within reports whether path is folder or is below it.
func Within(folder, path string) bool {
	a, aerr := filepath.Abs(folder)
	b, berr := filepath.Abs(path)
	rel, rerr := filepath.Rel(a, b)
	return errors.Join(aerr, berr, rerr) == nil && filepath.IsLocal(rel)
}
