package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/student"
	"github.com/trajectory-arena/arena/traces"
)

// DayFlags are the flags that all commands for days of attempts have.
type DayFlags struct {
	Out     string
	Reading Reading
	Workers int
	Noisy   Verbosity
}

// Register adds the flags to c. workers is the default of -j. doc is the help text of -j.
func (f *DayFlags) Register(c *cobra.Command, workers int, doc string) {
	Out(c, &f.Out)
	f.Reading.Register(c)
	f.Workers = workers
	Jobs(c, &f.Workers, doc)
	ReadsDays(c)
}

// Scan is one pass of a command over the attempts of one or more days.
type Scan struct {
	*DayFlags
	Name    string
	Streams *Streams
	Limits  traces.Limits
	Unread  Unread
}

type scanPart[T any] struct {
	results []T
	unread  Unread
}

// ScanAttempts returns the results of work for every attempt of the inputs, in order. Several
// inputs are processed in parallel.
func ScanAttempts[T any](
	ctx context.Context,
	d *Scan,
	inputs []traces.Input,
	work func(context.Context, *arena.Trace) (T, error),
) (results []T, err error) {
	progress := d.Noisy.Progress(d.Streams)
	defer progress.Done()
	progress.Begin(d.Name, len(inputs))
	err = inorder.List(ctx, d.Workers, inputs, func(ctx context.Context, in traces.Input) (*scanPart[T], error) {
		defer progress.Finished(in.Bytes)
		p := &scanPart[T]{}
		return p, p.unread.Read(ctx, &in, d.Options(), func(t *arena.Trace) error {
			progress.Attempt()
			result, workErr := work(ctx, t)
			p.results = append(p.results, result)
			return workErr
		})
	}, func(p *scanPart[T]) error {
		results = append(results, p.results...)
		d.Unread.Join(p.unread)
		return nil
	})
	if err != nil {
		return nil, err
	}
	progress.Done()
	d.Unread.Warn(d.Streams.Err)
	if !d.Noisy.Quiet {
		d.Unread.Print(d.Streams.Err)
	}
	return results, nil
}

// Write writes the output file with WriteWhole. It then returns an error if the share of records
// that could not be read is above Reading.MaxUnreadable.
func (d *Scan) Write(write func(io.Writer) error) error {
	if err := WriteWhole(d.Streams, d.Out, write); err != nil {
		return err
	}
	return d.Unread.Tally.CheckShare(d.Reading.MaxUnreadable)
}

// Options returns the options for reading attempts.
func (d *Scan) Options() traces.Options {
	return traces.Options{Limits: d.Reading.Limit(d.Limits), RunID: d.Reading.RunID}
}

// Report prints a summary. It returns an error if n, the number of attempts, is 0.
func (d *Scan) Report(n int, format string, args ...any) error {
	if !d.Noisy.Quiet {
		d.Streams.Notef(format, args...)
	}
	if n == 0 {
		return Failed(errors.New("no attempt could be read"), "`arena list formats` lists what is read, in JSON, Parquet or Arrow, and no tables of text such as CSV; unpack xz, bzip2 and archives first")
	}
	return nil
}

// Reading are the flags for reading attempts.
type Reading struct {
	// RunID is the id of the run for records that do not name one.
	RunID string
	// MaxUnreadable is the maximum share of unreadable records, from 0 to 1.
	MaxUnreadable float64
	RecordLimit
}

// RecordLimit is the flag for the maximum size of a record. Every command that reads attempts has it.
type RecordLimit struct {
	// maxRecord is in MiB, 0 for the configured one.
	maxRecord int64
}

// Limit returns limits with the maximum record size that the user set.
func (f *RecordLimit) Limit(limits traces.Limits) traces.Limits {
	if f.maxRecord > 0 {
		limits.LineBytes = f.maxRecord << 20
		limits.StringBytes = max(limits.StringBytes, int(limits.LineBytes))
	}
	return limits
}

// Register adds the flag to c.
func (f *RecordLimit) Register(c *cobra.Command) {
	c.Flags().Func("max-record", "maximum size of a record in `MiB`, at most 1024 (default 64): memory is about three times as much", func(text string) (err error) {
		f.maxRecord, err = strconv.ParseInt(text, 10, 64)
		if err == nil && (f.maxRecord < 1 || f.maxRecord > 1024) {
			return errors.New("want 1 to 1024")
		}
		return err
	})
}

// Register adds the flags to c. It rejects an empty run id, which would come from an unset
// variable in a script.
func (f *Reading) Register(c *cobra.Command) {
	c.Flags().Func("run-id", "run of records that name none, a `string` (default: the file they are in, by its content; stdin for -)", func(name string) error {
		if f.RunID = name; name == "" {
			return errors.New("a run needs a name")
		}
		return nil
	})
	f.RecordLimit.Register(c)
	f.MaxUnreadable = traces.DefaultMaxUnreadable
	Share(c, &f.MaxUnreadable, "max-unreadable", "share of records that may be unreadable; beyond it the exit code is 3")
}

// DayInputs returns the input files of days, sorted by path. Standard input is copied to a file
// that exists until the run ends.
func (s *Streams) DayInputs(ctx context.Context, days []string) (merged []traces.Input, err error) {
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
		merged = append(merged, inputs...)
	}
	slicesx.SortByKey(merged, func(x traces.Input) string {
		return x.Path
	})
	return merged, nil
}

// LocalDays returns local paths for days (see Local). It rejects the folder of an unfinished
// evaluation, whose traces are written only at the end.
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

// MaxLabelBytes is the maximum length in bytes of a line in a file of judgements or labels. Lines are
// much shorter, since a quoted passage has some hundred characters.
const MaxLabelBytes = 16 << 20

// ReadByAttempt reads JSON lines that each describe one attempt, each attempt once. It returns them
// in a map by the id of the attempt. hint is added to an error and describes what a line must have.
func ReadByAttempt[T any](path, hint string) (map[string]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Failed(err, hint)
	}
	defer f.Close() //nolint:errcheck // only read
	values := map[string]T{}
	err = agreement.EachAttempt(f, MaxLabelBytes, func(key agreement.Key, text []byte) error {
		var value T
		lineErr := json.Unmarshal(text, &value)
		values[key.Run+"/"+key.Problem] = value
		return lineErr
	})
	if err != nil {
		return nil, Failed(fmt.Errorf("read %s: %w", path, err), hint+", each attempt once")
	}
	return values, nil
}

// ParseWhere parses the value of the flag --where. It returns nil if the value is empty.
func ParseWhere(source string) (*where.Expr, error) {
	expr, err := where.ParseOptional(source)
	if err == nil {
		return expr, nil
	}
	hint := "an example: --where 'judge_score >= 0.7 && n_steps <= 15 && success'"
	if unknown, ok := errors.AsType[*where.Unknown](err); ok {
		hint = fmt.Sprintf("did you mean %q? docs/columns.md lists the columns", unknown.Nearest)
	} else if strings.Contains(source, "null") {
		hint = "known.COLUMN is true where the column has a value, such as in --where '!known.model'"
	}
	return nil, Usage(fmt.Errorf("read --where: %w", err), hint)
}
