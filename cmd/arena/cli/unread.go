package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/traces"
)

// maxUnread is the maximum number of unreadable records that a run lists one by one, less than a
// screen. maxUnreadOfFile is the maximum for one file, so that a file that is not text does not
// hide the problems of others.
const (
	maxUnread       = 20
	maxUnreadOfFile = 5
)

// Unread counts the records that a run could not read, by reason. First describes the first
// ones.
type Unread struct {
	counts map[traces.Reason]int
	First  []string
	Tally  traces.Tally
	// cut lists the inputs that ended early.
	cut []string
	// ids identify the attempts of one input. When inputs are joined, seen has the ids of all
	// inputs, and collisions counts the attempts that have the id of an earlier attempt but
	// other content.
	ids        []identity
	seen       traces.Collisions
	collisions int64
}

func (u *Unread) add(input *traces.Input, f *traces.Fault) {
	if u.counts == nil {
		u.counts = map[traces.Reason]int{}
	}
	u.counts[f.Reason]++
	if len(u.First) == maxUnreadOfFile {
		return
	}
	place := input.Title()
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, f.Line)
	}
	u.First = append(u.First, text.Line(fmt.Sprintf(
		"%s: %s: %s",
		place,
		f.Reason,
		f.Detail,
	)))
}

// Join adds the unreadable records of a later part of the run.
func (u *Unread) Join(o Unread) {
	if u.counts == nil {
		u.counts = map[traces.Reason]int{}
	}
	for reason, n := range o.counts {
		u.counts[reason] += n
	}
	u.Tally.Merge(o.Tally)
	u.cut = append(u.cut, o.cut...)
	for _, a := range o.ids {
		if u.seen.Add(a.id, a.record) {
			u.collisions++
		}
	}
	u.First = append(u.First, o.First[:min(len(o.First), maxUnread-len(u.First))]...)
}

// Print prints the first unreadable records with their positions, and the number of all by
// reason.
func (u *Unread) Print(w io.Writer) {
	for _, line := range u.First {
		fmt.Fprintf(w, "not read: %s\n", line)
	}
	if more := u.Tally.Faults - len(u.First); more > 0 {
		fmt.Fprintf(w, "not read: and %d more\n", more)
	}
	for _, reason := range slicesx.SortedKeys(u.counts) {
		fmt.Fprintf(w, "%s could not be read: %s\n", Counted(u.counts[reason], "record", "records"), reason)
	}
}

// identity identifies an attempt by its id and the hash of its record. Two attempts with the same
// id and different hashes collide: one of them must get another id.
type identity struct{ id, record string }

// Read calls attempt for every attempt of an input, in order, and counts the records that could
// not be read. Each input needs a separate Unread. Join adds it to that of the run.
func (u *Unread) Read(
	ctx context.Context,
	input *traces.Input,
	opt traces.Options,
	attempt func(*arena.Trace) error,
) error {
	sum, err := traces.Read(ctx, *input, opt, func(item traces.Item) error {
		if item.Fault != nil {
			u.add(input, item.Fault)
			return nil
		}
		u.ids = append(u.ids, identity{item.Trace.ID, item.Trace.RecordSHA256})
		return attempt(item.Trace)
	})
	u.Tally.Add(sum)
	if sum.Cut {
		u.cut = append(u.cut, input.Title())
	}
	return err
}

// Warn prints warnings about the files that end early and about attempts that have the id of
// another one.
func (u *Unread) Warn(w io.Writer) { Warn(w, u.cut, u.collisions) }

// Warn prints which files end early and how many attempts have the id of another one. It prints
// even with the flag -q.
func Warn(w io.Writer, cut []string, collisions int64) {
	for _, path := range cut[:min(len(cut), maxUnread)] {
		fmt.Fprintf(w, "warning: %s ends early: what it held besides is lost\n", text.Line(path))
	}
	if more := len(cut) - maxUnread; more > 0 {
		fmt.Fprintf(w, "warning: and %d more files end early\n", more)
	}
	if collisions > 0 {
		fmt.Fprintf(w, "warning: id_collision: %s the id of another attempt; runs are distinguished by eval_run_id, run.json or a folder run=ID, and attempts of a run at one problem by trial: name the run of each attempt, or number its trial\n",
			Counted(int(collisions), "attempt has", "attempts have"))
	}
}

// WarnIf writes a warning unless it is empty.
func WarnIf(w io.Writer, warning string) {
	if warning != "" {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
}
