package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/traces"
	"github.com/trajectory-arena/arena/traces/convert"
)

type conversion struct {
	format convert.Format
	runID  string
	inputs []traces.Input
	// progress is told of every trace and file that was read.
	progress *cli.Display

	written int
	lost    map[convert.Loss]int
	unread  cli.Unread
	// named counts the files of a folder by the record that names them.
	named map[string]int
}

func (c *conversion) each(ctx context.Context, write func(t *arena.Trace, text []byte) error) error {
	opt := traces.Defaults()
	opt.RunID = c.runID
	for i := range c.inputs {
		var notRead cli.Unread
		err := notRead.Read(ctx, &c.inputs[i], opt, func(t *arena.Trace) error {
			text, lost, err := convert.Write(t, c.format)
			if err != nil {
				return err
			}
			c.written++
			c.progress.Attempt()
			for _, l := range lost {
				c.lost[l]++
			}
			return write(t, text)
		})
		if err != nil {
			return err
		}
		c.unread.Join(notRead)
		c.progress.Finished(c.inputs[i].Bytes)
	}
	if c.written == 0 {
		why := "no trace could be read"
		if first := c.unread.First; len(first) > 0 {
			why += ": " + first[0]
		}
		return cli.Failed(errors.New(why), "docs/traces.md says what is read")
	}
	return nil
}

func (c *conversion) stream(ctx context.Context) func(io.Writer) error {
	return func(w io.Writer) error {
		before, between, behind := c.format.Around()
		err := c.each(ctx, func(_ *arena.Trace, text []byte) error {
			if _, err := w.Write(append([]byte(before), text...)); err != nil {
				return fmt.Errorf("write trace: %w", err)
			}
			before = between
			return nil
		})
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, behind)
		return err
	}
}

// sessionsPerFolder is the most files that the Hub's viewer takes.
const sessionsPerFolder = 10_000

// folder writes one file a trace under a new folder, all or nothing.
func (c *conversion) folder(ctx context.Context, path string) error {
	if _, err := os.Lstat(path); err == nil {
		return cli.Failed(fmt.Errorf("create folder %s: it exists", path), "name a folder that does not exist yet")
	}
	tmp, err := folderBeside(path)
	if err != nil {
		return cli.Failed(fmt.Errorf("create folder %s: %w", path, cli.Cause(err)), "the folder around -o must exist and take new files")
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // gone already where all went well
	err = c.each(ctx, func(t *arena.Trace, text []byte) error {
		dir := filepath.Join(tmp, fmt.Sprintf("%04d", (c.written-1)/sessionsPerFolder))
		return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, c.fileName(t)), text, 0o644))
	})
	if err != nil {
		return err
	}
	if err = durable(tmp); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("create folder %s: %w", path, cli.Cause(err))
	}
	return atomicfile.SyncDir(filepath.Dir(filepath.Clean(path)))
}

func durable(folder string) error {
	return filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return atomicfile.SyncDir(path)
	})
}

// fileName names a file by its record's hash: ids are other people's words and
// no file names. Equal records, as of two runs, are numbered from the second on.
func (c *conversion) fileName(t *arena.Trace) string {
	c.named[t.RecordSHA256]++
	if n := c.named[t.RecordSHA256]; n > 1 {
		return fmt.Sprintf("%s-%d.jsonl", t.RecordSHA256, n)
	}
	return t.RecordSHA256 + ".jsonl"
}

// folderBeside creates a folder of a new name in that of path, with the rights
// that the user's umask leaves.
func folderBeside(path string) (string, error) {
	name, err := os.MkdirTemp(filepath.Dir(filepath.Clean(path)), ".arena-*")
	if err != nil {
		return "", err
	}
	return name, errors.Join(os.Remove(name), os.Mkdir(name, 0o777))
}

func (c *conversion) tell(w io.Writer) {
	fmt.Fprintf(w, "%d traces written as %s\n", c.written, c.format)
	for _, l := range slices.Sorted(maps.Keys(c.lost)) {
		fmt.Fprintf(w, "lost: %s in %d\n", l, c.lost[l])
	}
	c.unread.Tell(w)
}
