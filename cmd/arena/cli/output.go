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

// WriteWhole writes a file all or nothing; - is standard output. Where nothing
// can be written it says so before write is called, so that write may hold the
// work of a whole run. What is there already and is no file, such as a device
// or a pipe, is written to as it is.
func WriteWhole(s *Streams, path string, write func(io.Writer) error) error {
	if path == "-" {
		return buffered(s.Out, write)
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return Failed(fmt.Errorf("open %s: %w", path, cause(err)), "-o names a file, or - for standard output")
		}
		return errors.Join(buffered(f, write), f.Close())
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return Failed(fmt.Errorf("create %s: %w", path, cause(err)), "the folder of -o must exist and take new files")
	}
	if err := buffered(f, write); err != nil {
		return errors.Join(err, f.Drop())
	}
	if err := f.Commit(); err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	return nil
}

// WriteText writes a text as WriteWhole does.
func WriteText(s *Streams, path, text string) error {
	return WriteWhole(s, path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// WriteFolder makes a folder all or nothing: write fills one beside it, which then
// takes its place.
func WriteFolder(path string, write func(dir string) error) error {
	part := corpus.SiblingPath(path, "part")
	err := corpus.ResetDir(corpus.Disk{}, part)
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

// checked is standard output that remembers its first failed write. What prints
// tables or help does not look at each, and data that did not arrive is no
// success.
type checked struct {
	to     io.Writer
	failed error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	if err != nil && c.failed == nil {
		c.failed = err
	}
	return n, err
}

// buffered gives write a buffer over w. A write that failed is told once: the
// buffer would tell it again when flushed.
func buffered(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriter(w)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// cause is what went wrong with a file, without the operation and the name that
// the caller tells already.
func cause(err error) error {
	if path, is := errors.AsType[*fs.PathError](err); is {
		return path.Err
	}
	if link, is := errors.AsType[*os.LinkError](err); is {
		return link.Err
	}
	return err
}

// Within reports whether a path is a folder or lies in it.
func Within(folder, path string) bool {
	a, aerr := filepath.Abs(folder)
	b, berr := filepath.Abs(path)
	rel, rerr := filepath.Rel(a, b)
	return errors.Join(aerr, berr, rerr) == nil && filepath.IsLocal(rel)
}
