package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/trajectory-arena/arena/traces"
)

// How many unreadable records are named one by one: enough to find what is wrong
// with a file, and no screenful of it. One file that is no text at all must not
// hide what is wrong with the others.
const (
	mostUnread       = 20
	mostUnreadOfFile = 5
)

// Unread is what a run could not read: how many records by reason, and the
// first of them with their places.
type Unread struct {
	counts map[traces.Reason]int
	First  []string
	tally  traces.Tally
	// cut are the inputs that ended early.
	cut []string
	// ids are those of a part's attempts; once parts are joined, taken has them all
	// and collisions counts those that came later, with other content.
	ids        []identity
	taken      traces.Collisions
	collisions int64
}

// add notes a record of an input.
func (u *Unread) add(in *traces.Input, f *traces.Fault) {
	if u.counts == nil {
		u.counts = map[traces.Reason]int{}
	}
	u.counts[f.Reason]++
	if len(u.First) == mostUnreadOfFile {
		return
	}
	place := in.Title()
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, f.Line)
	}
	u.First = append(u.First, Printable(fmt.Sprintf("%s: %s: %s", place, f.Reason, f.Detail)))
}

// Join adds what another part of the run could not read, the later part.
func (u *Unread) Join(o Unread) {
	if u.counts == nil {
		u.counts = map[traces.Reason]int{}
	}
	for reason, n := range o.counts {
		u.counts[reason] += n
	}
	u.tally.Join(o.tally)
	u.cut = append(u.cut, o.cut...)
	for _, a := range o.ids {
		if u.taken.Add(a.id, a.record) {
			u.collisions++
		}
	}
	u.First = append(u.First, o.First[:min(len(o.First), mostUnread-len(u.First))]...)
}

// Tell names the records, and counts them by reason.
func (u *Unread) Tell(w io.Writer) {
	total := 0
	for _, n := range u.counts {
		total += n
	}
	for _, line := range u.First {
		fmt.Fprintf(w, "not read: %s\n", line)
	}
	if more := total - len(u.First); more > 0 {
		fmt.Fprintf(w, "not read: and %d more\n", more)
	}
	for _, reason := range sortedKeys(u.counts) {
		fmt.Fprintf(w, "%s could not be read: %s\n", Counted(u.counts[reason], "record", "records"), reason)
	}
}

func sortedKeys(m map[traces.Reason]int) []traces.Reason {
	keys := make([]traces.Reason, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
