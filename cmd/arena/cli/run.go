// Package cli holds what every command shares: the streams, failures with their
// exit codes and hints, progress, settings, and the ways in and out.
package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
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
		stderr = newLogLines(stderr)
	}
	out := &checked{to: stdout}
	streams := &Streams{In: stdin, Out: out, Err: stderr}
	defer streams.end()
	c := root(streams)
	profiles.flags(c)
	c.PersistentFlags().Var(&format, "log-format", "what is said on standard error: text, or json for one object a line")
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

// cancellable reads from a stream whose reads may wait for ever, such as a
// terminal, until ctx is done. The stream is not touched before the first
// read.
type cancellable struct {
	ctx    context.Context //nolint:containedctx // io.Reader asks without one
	stream io.Reader
	once   sync.Once
	pipe   *io.PipeReader
}

// Cancellable makes one of a stream.
func Cancellable(ctx context.Context, stream io.Reader) io.Reader {
	return &cancellable{ctx: ctx, stream: stream}
}

// Read is io.Reader.
func (c *cancellable) Read(p []byte) (int, error) {
	c.once.Do(func() {
		r, w := io.Pipe()
		c.pipe = r
		context.AfterFunc(c.ctx, func() { _ = w.CloseWithError(context.Cause(c.ctx)) }) // a pipe's close never fails
		go func() {
			_, err := io.Copy(w, c.stream)
			_ = w.CloseWithError(err) // likewise
		}()
	})
	return c.pipe.Read(p)
}

// Stat says of which file the stream is read, where it is one.
func (c *cancellable) Stat() (os.FileInfo, error) {
	if f, ok := c.stream.(*os.File); ok {
		return f.Stat()
	}
	return nil, fs.ErrNotExist
}
