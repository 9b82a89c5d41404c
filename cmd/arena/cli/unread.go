package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/traces"
)

// How many unreadable records are named one by one: enough to find what is wrong
// with a file, and no screenful of it. One file that is no text at all must not
// hide what is wrong with the others.
const (
	maxUnread       = 20
	maxUnreadOfFile = 5
)

// Unread is what a run could not read: how many records by reason, and the
// first of them with their places.
type Unread struct {
	counts map[traces.Reason]int
	First  []string
	Tally  traces.Tally
	// cut are the inputs that ended early.
	cut []string
	// ids are those of a part's attempts; once parts are joined, taken has them all
	// and collisions counts those that came later, with other content.
	ids        []identity
	taken      traces.Collisions
	collisions int64
}

func (u *Unread) add(in *traces.Input, f *traces.Fault) {
	if u.counts == nil {
		u.counts = map[traces.Reason]int{}
	}
	u.counts[f.Reason]++
	if len(u.First) == maxUnreadOfFile {
		return
	}
	place := in.Title()
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, f.Line)
	}
	u.First = append(u.First, text.Line(fmt.Sprintf("%s: %s: %s", place, f.Reason, f.Detail)))
}

// Join adds what another part of the run could not read, the later part.
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
		if u.taken.Add(a.id, a.record) {
			u.collisions++
		}
	}
	u.First = append(u.First, o.First[:min(len(o.First), maxUnread-len(u.First))]...)
}

// Tell names the records, and counts them by reason.
func (u *Unread) Tell(w io.Writer) {
	for _, line := range u.First {
		fmt.Fprintf(w, "not read: %s\n", line)
	}
	if more := u.Tally.Faults - len(u.First); more > 0 {
		fmt.Fprintf(w, "not read: and %d more\n", more)
	}
	for _, reason := range slices.Sorted(maps.Keys(u.counts)) {
		fmt.Fprintf(w, "%s could not be read: %s\n", Counted(u.counts[reason], "record", "records"), reason)
	}
}

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
	u.Tally.Add(sum)
	if sum.Cut {
		u.cut = append(u.cut, in.Title())
	}
	return err
}

// Warn says of what was joined what Warn says of a corpus.
func (u *Unread) Warn(w io.Writer) { Warn(w, u.cut, u.collisions) }

// Warn says, however quiet a run is, which files are not whole and that attempts
// cannot be told apart.
func Warn(w io.Writer, cut []string, collisions int64) {
	for _, path := range cut[:min(len(cut), maxUnread)] {
		fmt.Fprintf(w, "warning: %s ends early: what it held besides is lost\n", text.Line(path))
	}
	if more := len(cut) - maxUnread; more > 0 {
		fmt.Fprintf(w, "warning: and %d more files end early\n", more)
	}
	if collisions > 0 {
		fmt.Fprintf(w, "warning: id_collision: %s the id of another attempt; runs are told apart by eval_run_id, run.json or a folder run=ID\n",
			Counted(int(collisions), "attempt has", "attempts have"))
	}
}
