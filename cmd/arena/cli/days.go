package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/internal/jsonl"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/traces"
)

// DayFlags are what the commands over the attempts of days share.
type DayFlags struct {
	Out     string
	Reading Reading
	Workers int
	Noisy   Noise
}

// Register adds the flags; workers is the default of -j, told by its words where
// it is 0.
func (f *DayFlags) Register(c *cobra.Command, workers int, doc string) {
	Out(c, &f.Out)
	f.Reading.Register(c)
	f.Workers = workers
	Jobs(c, &f.Workers, doc)
	ReadsDays(c)
}

// Scan is one reading of days by a command, whose name it has.
type Scan struct {
	*DayFlags
	Name    string
	Streams *Streams
	Limits  traces.Limits
	Unread  Unread
}

type scanPart[T any] struct {
	made   []T
	unread Unread
}

// Scanned gives what work makes of every attempt of the inputs, in their order;
// inputs are worked on side by side.
func Scanned[T any](ctx context.Context, d *Scan, inputs []traces.Input, work func(context.Context, *arena.Trace) (T, error)) (all []T, err error) {
	progress := d.Noisy.Progress(d.Streams)
	defer progress.Done()
	progress.Begin(d.Name, len(inputs))
	err = inorder.List(ctx, d.Workers, inputs, func(ctx context.Context, in traces.Input) (*scanPart[T], error) {
		defer progress.Finished(in.Bytes)
		p := &scanPart[T]{}
		return p, p.unread.Read(ctx, &in, d.Options(), func(t *arena.Trace) error {
			progress.Attempt()
			made, failed := work(ctx, t)
			p.made = append(p.made, made)
			return failed
		})
	}, func(p *scanPart[T]) error {
		all = append(all, p.made...)
		d.Unread.Join(p.unread)
		return nil
	})
	if err != nil {
		return nil, err
	}
	progress.Done()
	d.Unread.Warn(d.Streams.Err)
	if !d.Noisy.Quiet {
		d.Unread.Tell(d.Streams.Err)
	}
	return all, nil
}

// Write writes a file as WriteWhole does, and refuses days of which too much could not
// be read.
func (d *Scan) Write(write func(io.Writer) error) error {
	if err := WriteWhole(d.Streams, d.Out, write); err != nil {
		return err
	}
	return d.Unread.Tally.CheckShare(d.Reading.MaxUnreadable)
}

// Options are how the attempts are read.
func (d *Scan) Options() traces.Options {
	return traces.Options{Limits: d.Limits, RunID: d.Reading.RunID}
}

// Say tells people what became of n attempts, and refuses a day that has none.
func (d *Scan) Say(n int, format string, args ...any) error {
	if !d.Noisy.Quiet {
		fmt.Fprintf(d.Streams.Err, format, args...)
	}
	if n == 0 {
		return Failed(errors.New("no attempt could be read"), "`arena "+d.Name+" --help` says what a DAY is")
	}
	return nil
}

// Reading say how the attempts of days are read.
type Reading struct {
	// RunID is the run of records that name none.
	RunID string
	// MaxUnreadable is the share of records that may be unreadable, 0 to 1.
	MaxUnreadable float64
}

// Register adds the flags. An empty run is refused: a script whose variable is not
// set would name its run like everybody's.
func (f *Reading) Register(c *cobra.Command) {
	c.Flags().Func("run-id", "run of records that name none, a `string` (default: the file they are in, by its content; stdin for -)", func(name string) error {
		if f.RunID = name; name == "" {
			return errors.New("a run needs a name")
		}
		return nil
	})
	f.MaxUnreadable = traces.DefaultMaxUnreadable
	Share(c, &f.MaxUnreadable, "max-unreadable", "share of records that may be unreadable; beyond it the exit code is 3")
}

// DayInputs lists the files of days; standard input is spooled to a file that is
// there until the run ends.
func (s *Streams) DayInputs(ctx context.Context, days []string) (all []traces.Input, err error) {
	if days, err = s.LocalDays(ctx, days); err != nil {
		return nil, err
	}
	for _, day := range days {
		inputs, err := traces.Discover(day)
		if err != nil {
			return nil, Failed(err, "DAY is a folder, a glob, a file, the URL of a folder in a bucket, or -")
		}
		if day == traces.Stdin {
			dir, err := s.Temporary("arena-spool-")
			if err != nil {
				return nil, err
			}
			if err := inputs[0].Spool(ctx, s.In, dir); err != nil {
				return nil, err
			}
		}
		all = append(all, inputs...)
	}
	slices.SortStableFunc(all, func(a, b traces.Input) int { return cmp.Compare(a.Path, b.Path) })
	return all, nil
}

// LocalDays gives the paths of days as Local does. The folder of a run that has
// not ended is refused: its traces are written with its results, and what is
// there before is none.
func (s *Streams) LocalDays(ctx context.Context, days []string) (paths []string, err error) {
	if paths, err = s.Local(ctx, days); err != nil {
		return nil, err
	}
	for _, day := range paths {
		spec, err := student.ReadFinished(day)
		if spec.Schema == student.SpecSchema && errors.Is(err, student.ErrUnfinished) {
			return nil, err
		}
	}
	return paths, nil
}

// ReadByAttempt reads JSON lines that each speak of one attempt into what they
// say, by the attempt's id. The hint says where such a file comes from.
func ReadByAttempt[T any](path, hint string) (map[string]T, error) {
	said := map[string]T{}
	err := jsonl.Each(path, func(line json.RawMessage) error {
		var id struct {
			Run     string `json:"eval_run_id"`
			Problem string `json:"problem_id"`
		}
		var saying T
		err := cmp.Or(json.Unmarshal(line, &id), json.Unmarshal(line, &saying))
		said[id.Run+"/"+id.Problem] = saying
		return err
	})
	if err != nil {
		return nil, Failed(fmt.Errorf("read %w", err), hint)
	}
	return said, nil
}

// ParseWhere reads the flag --where; nil where it was not given.
func ParseWhere(source string) (*where.Expr, error) {
	expr, err := where.ParseOptional(source)
	if err == nil {
		return expr, nil
	}
	hint := "an example: --where 'judge_score >= 0.7 && n_steps <= 15 && task_type != \"voucher\"'"
	if unknown, is := errors.AsType[*where.Unknown](err); is {
		hint = fmt.Sprintf("did you mean %q? docs/columns.md lists the columns", unknown.Nearest)
	}
	return nil, Usage(fmt.Errorf("read --where: %w", err), hint)
}
