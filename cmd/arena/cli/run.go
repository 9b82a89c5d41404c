// Package cli holds what every command shares: the streams, failures with their
// exit codes and hints, progress, settings, and the ways in and out.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/spf13/cobra"
)

// Run is the whole program: it parses args, has the command of root that they
// name do what they say, and returns the exit code.
func Run(ctx context.Context, root func(*Streams) *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	profiles := &profiler{}
	format := logFormatOf(args)
	stderr = words{stderr}
	if format == logJSON {
		stderr = &logLines{logger: slog.New(slog.NewJSONHandler(stderr, nil))}
	}
	out := &checked{to: stdout}
	streams := &Streams{In: stdin, Out: out, Err: stderr}
	defer streams.end()
	c := root(streams)
	profiles.flags(c)
	c.PersistentFlags().Var(oneOf(&format, logFormats), "log-format", "what is said on standard error: text, or json for one object a line")
	c.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		if err := enoughAddresses(addressSpace()); err != nil {
			return err
		}
		if err := apart(c, args, stdin); err != nil {
			return err
		}
		return profiles.start()
	}
	c.SetUsageFunc(usage)
	unknown := helpOfKnown(c)
	c.SetArgs(args)
	c.SetIn(stdin)
	c.SetOut(out)
	c.SetErr(stderr)
	c, err := c.ExecuteContextC(ctx)
	err = profiles.stop(cmp.Or(err, *unknown))
	if err == nil {
		err = out.failed
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = &Failure{errors.New("cancelled"), "run the same command again: finished work is kept", ExitCancelled}
	}
	return tellError(stderr, misnamed(explained(err), given(c)))
}

// Streams are the three standard streams of a run, and what is done when it ends.
// Data goes to Out, words for people to Err.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer

	atEnd []func()
}

// AtEnd has something done when the run ends, whatever was noted last first.
func (s *Streams) AtEnd(do func()) { s.atEnd = append(s.atEnd, do) }

func (s *Streams) end() {
	for _, do := range slices.Backward(s.atEnd) {
		do()
	}
}

// cancellable reads from a stream by way of a pipe, which begin fills.
type cancellable struct {
	*io.PipeReader
	begin  func()
	stream io.Reader
}

// Cancellable reads from a stream whose reads may wait for ever, such as a
// terminal, until ctx is done. The stream is not touched before the first read.
func Cancellable(ctx context.Context, stream io.Reader) io.Reader {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(context.Cause(ctx)) }) // a pipe's close never fails
	return cancellable{r, sync.OnceFunc(func() {
		go func() {
			_, err := io.Copy(w, stream)
			_ = w.CloseWithError(err) // likewise
		}()
	}), stream}
}

func (c cancellable) Read(p []byte) (int, error) {
	c.begin()
	return c.PipeReader.Read(p)
}

// Stat says of which file the stream is read, where it is one.
func (c cancellable) Stat() (os.FileInfo, error) {
	if f, ok := c.stream.(*os.File); ok {
		return f.Stat()
	}
	return nil, fs.ErrNotExist
}

// Version is the program's own, as CHANGELOG.md has it. It is written into
// every row, so it changes only when the rows may.
func Version() string { return "0.1.0" }

// NewVersion makes `arena version`.
func NewVersion(s *Streams) *cobra.Command {
	return Command("version", "Print the version, with the commit it was built from", Takes(0, 0), func(*cobra.Command, []string) error {
		_, err := fmt.Fprintf(s.Out, "arena %s%s\n", Version(), built())
		return err
	})
}

func built() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	said := map[string]string{}
	for _, s := range info.Settings {
		said[s.Key] = s.Value
	}
	var b string
	if at := said["vcs.revision"]; at != "" {
		b = " " + at + " of " + said["vcs.time"]
		if said["vcs.modified"] == "true" {
			b += ", changed"
		}
	}
	return b + ", " + info.GoVersion
}
