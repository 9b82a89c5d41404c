package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/traces"
)

// dayFlags are what the commands over the attempts of days share.
type dayFlags struct {
	out     string
	reading cli.Reading
	workers int
	noisy   cli.Noise
}

// register adds the flags; workers is the default of -j, told by its words where
// it is 0.
func (f *dayFlags) register(c *cobra.Command, workers int, doc string) {
	c.Flags().StringVarP(&f.out, "output", "o", "-", "output file; - is standard output")
	f.reading.Register(c)
	c.Flags().IntVarP(&f.workers, "jobs", "j", workers, doc)
	cli.ReadsDays(c)
	cli.Replaces(c, "output")
}

// check refuses flags that cannot be meant.
func (f *dayFlags) check() error {
	if f.workers < 1 {
		return cli.Usage(fmt.Errorf("-j is %d", f.workers), "give at least one worker")
	}
	return nil
}

// scan is one reading of days by a command, whose name it has.
type scan struct {
	*dayFlags
	name    string
	streams *cli.Streams
	limits  traces.Limits
	unread  cli.Unread
}

// part is what became of one input.
type part[T any] struct {
	made   []T
	unread cli.Unread
}

// scanned gives what work makes of every attempt of the inputs, in their order;
// inputs are worked on side by side.
func scanned[T any](ctx context.Context, d *scan, inputs []traces.Input, work func(context.Context, *arena.Trace) (T, error)) (all []T, err error) {
	progress := d.noisy.Progress(d.streams)
	defer progress.Done()
	progress.Begin(d.name, len(inputs))
	err = pipeline.Inputs(ctx, inputs, d.workers, func(ctx context.Context, in *traces.Input) (*part[T], error) {
		defer progress.Finished(in.Bytes)
		p := &part[T]{}
		return p, p.unread.Read(ctx, in, d.options(), func(t *arena.Trace) error {
			progress.Attempt()
			made, failed := work(ctx, t)
			p.made = append(p.made, made)
			return failed
		})
	}, func(p *part[T]) error {
		all = append(all, p.made...)
		d.unread.Join(p.unread)
		return nil
	})
	if err != nil {
		return nil, err
	}
	progress.Done()
	d.unread.Warn(d.streams.Err)
	if !d.noisy.Quiet {
		d.unread.Tell(d.streams.Err)
	}
	return all, nil
}

func (d *scan) options() traces.Options {
	return traces.Options{Limits: d.limits, RunID: d.reading.RunID}
}

// say tells people what became of n attempts, and refuses a day that has none.
func (d *scan) say(n int, format string, args ...any) error {
	if !d.noisy.Quiet {
		fmt.Fprintf(d.streams.Err, format, args...)
	}
	if n == 0 {
		return cli.Failed(errors.New("no attempt could be read"), "`arena "+d.name+" --help` says what a DAY is")
	}
	return nil
}
