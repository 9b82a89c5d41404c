package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/export"
	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/traces"
	"github.com/trajectory-arena/arena/traces/convert"
)

// conversion holds the flags and the state of one run of arena convert.
type conversion struct {
	format  convert.Format
	out     string
	reading cli.Reading
	quiet   bool

	inputs   []traces.Input
	progress *cli.Display
	written  int
	lost     map[convert.Loss]int
	unread   cli.Unread
	// named counts the written files by the hash of their record, which names them.
	named map[string]int
}

// NewConvert returns `arena convert`.
func NewConvert(s *cli.Streams) *cobra.Command {
	f := conversion{
		lost:  map[convert.Loss]int{},
		named: map[string]int{},
	}
	c := cli.Command("convert IN…", "Turn traces of any format into one format", cli.NumArgs(1, cli.AnyNumber),
		func(c *cobra.Command, paths []string) error {
			return f.run(c.Context(), s, paths)
		})
	cli.Choice(c, &f.format, "to", convert.Formats, "format to write: "+formatNames())
	c.Flags().StringVarP(&f.out, "output", "o", "", "output file, or folder for sessions; - is standard output")
	f.reading.Register(c)
	c.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "nothing on standard error")
	cli.ReadsDays(c)
	cli.Replaces(c, "output")
	return c
}

func formatNames() string {
	return strings.Join(slicesx.Map(convert.Formats, func(f convert.Format) string {
		return string(f)
	}), ", ")
}

func (c *conversion) run(
	ctx context.Context,
	s *cli.Streams,
	paths []string,
) (err error) {
	if c.format == "" {
		return cli.Misuse("no format named", "give one of "+formatNames()+" with --to")
	}
	if c.out == "" {
		return cli.Usage(fmt.Errorf("no output named"), "give -o PATH, or -o - for standard output")
	}
	if c.inputs, err = s.DayInputs(ctx, paths); err != nil {
		return err
	}
	c.progress = cli.Verbosity{Quiet: c.quiet}.Progress(s)
	c.progress.Begin("convert", len(c.inputs))
	if c.format.IsSession() && c.out != "-" {
		err = c.folder(ctx, c.out)
	} else {
		err = cli.WriteWhole(s, c.out, c.stream(ctx))
	}
	c.progress.Done()
	c.unread.Warn(s.Err)
	if err != nil {
		return err
	}
	if !c.quiet {
		s.Notef("%d traces written as %s\n", c.written, c.format)
		for _, l := range slicesx.SortedKeys(c.lost) {
			s.Notef("lost: %s in %d\n", l, c.lost[l])
		}
		c.unread.Print(s.Err)
	}
	return c.unread.Tally.CheckShare(c.reading.MaxUnreadable)
}

func (c *conversion) each(ctx context.Context, write func(t *arena.Trace, text []byte) error) error {
	opt := traces.Defaults()
	opt.RunID = c.reading.RunID
	opt.Limits = c.reading.Limit(opt.Limits)
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
		return cli.Failed(errors.New(why), "docs/traces.md says what is read; --max-record reads longer records")
	}
	return nil
}

func (c *conversion) stream(ctx context.Context) func(io.Writer) error {
	return func(w io.Writer) error {
		prefix, separator, suffix := c.format.Delimiters()
		err := c.each(ctx, func(_ *arena.Trace, text []byte) error {
			if _, err := w.Write(append([]byte(prefix), text...)); err != nil {
				return fmt.Errorf("write trace: %w", err)
			}
			prefix = separator
			return nil
		})
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, suffix)
		return err
	}
}

// sessionFile matches the paths of sessions in the folder that has them.
var sessionFile = regexp.MustCompile(`^\d{4,}/[0-9a-f]{64}(-\d+)?\.jsonl$`)

// checkSessions returns an error if the folder at path has a file that is no session.
func checkSessions(path string) error {
	err := corpus.VisitUnlisted(corpus.Disk{}, path, ".", nil, func(name string) error {
		if sessionFile.MatchString(name) {
			return nil
		}
		return fmt.Errorf("write %s: %s is no session, and %w", path, name, corpus.ErrUnlisted)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cli.DefaultHint(err, "name a folder that does not exist yet")
}

// folder writes a session for each trace into a folder. If the folder exists, it may hold nothing but
// sessions, all of which are replaced.
func (c *conversion) folder(ctx context.Context, path string) error {
	if err := checkSessions(path); err != nil {
		return err
	}
	err := cli.WriteFolder(path, func(tmp string) error {
		err := c.each(ctx, func(t *arena.Trace, text []byte) error {
			dir := filepath.Join(tmp, fmt.Sprintf("%04d", (c.written-1)/export.MaxSessions))
			// The record's hash names the file, since ids may not be file names. Equal
			// records, as of two runs, are numbered from the second on.
			name := t.RecordSHA256
			if c.named[name]++; c.named[name] > 1 {
				name += fmt.Sprintf("-%d", c.named[name])
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, name+".jsonl"), text, 0o644)
		})
		if err != nil {
			return err
		}
		return filepath.WalkDir(tmp, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return atomicfile.SyncDir(path)
		})
	})
	return cli.DefaultHint(err, "the folder around -o must take new files")
}
