// Package cli holds what every command shares: the streams, failures with their
// exit codes and hints, progress, settings, and the ways in and out.
package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

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
	return tellError(stderr, misnamed(err, given(c)))
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
