package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/traces"
)

// Reading say how the attempts of days are read.
type Reading struct {
	// RunID is the run of records that name none.
	RunID string
	// MaxUnreadable is the share of records that may be unreadable, 0 to 1.
	MaxUnreadable float64
}

// Register adds the flags.
func (f *Reading) Register(c *cobra.Command) {
	c.Flags().Var(runID{&f.RunID}, "run-id", "run of records that name none (default: the file they are in, by its content; stdin for -)")
	f.MaxUnreadable = traces.DefaultMaxUnreadable
	c.Flags().Var(part{&f.MaxUnreadable}, "max-unreadable", "share of records that may be unreadable; beyond it the exit code is 3")
}

// part is the value of a flag from 0 to 1.
type part struct{ of *float64 }

// String is pflag.Value.
func (p part) String() string {
	if p.of == nil {
		return "" // pflag asks the zero value for its default
	}
	return strconv.FormatFloat(*p.of, 'g', -1, 64)
}

// Set is pflag.Value.
func (p part) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return errors.New("a share is a number from 0 to 1")
	}
	*p.of = v
	return nil
}

// Type is pflag.Value.
func (part) Type() string { return "share" }

// identity is what tells attempts apart.
type identity struct{ id, record string }

// Read gives attempt every attempt of an input, in its order, and notes what
// could not be read. Each input has an Unread of its own, joined to the others'
// when it was read.
func (u *Unread) Read(ctx context.Context, in *traces.Input, opt traces.Options, attempt func(*arena.Trace) error) error {
	sum, err := traces.Read(ctx, *in, opt, func(item traces.Item) error {
		if item.Fault != nil {
			u.add(in, item.Fault)
			return nil
		}
		u.ids = append(u.ids, identity{item.Trace.ID, item.Trace.RecordSHA256})
		return attempt(item.Trace)
	})
	u.tally.Add(sum)
	if sum.Cut {
		u.cut = append(u.cut, in.Title())
	}
	return err
}

// Within is the error of a run that could not read too much.
func (u *Unread) Within(most float64) error { return Unreadable(u.tally.Within(most)) }

// Unreadable gives that error its hint and exit code; nil stays nil.
func Unreadable(err error) error {
	if err == nil {
		return nil
	}
	return Limit(err, "fetch the files again that are not whole, or raise --max-unreadable to take what there is")
}

// Warn says of what was joined what Warn says of a corpus.
func (u *Unread) Warn(w io.Writer) { Warn(w, u.cut, u.collisions) }

// Warn says, however quiet a run is, which files are not whole and that attempts
// cannot be told apart.
func Warn(w io.Writer, cut []string, collisions int64) {
	for _, path := range cut[:min(len(cut), mostUnread)] {
		fmt.Fprintf(w, "warning: %s ends early: what it held besides is lost\n", Printable(path))
	}
	if more := len(cut) - mostUnread; more > 0 {
		fmt.Fprintf(w, "warning: and %d more files end early\n", more)
	}
	if collisions > 0 {
		fmt.Fprintf(w, "warning: id_collision: %s the id of another attempt; runs are told apart by eval_run_id, run.json or a folder run=ID\n",
			Counted(int(collisions), "attempt has", "attempts have"))
	}
}
