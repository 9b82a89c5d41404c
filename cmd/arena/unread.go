package main

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

// unread is what a run could not read: how many records by reason, and the
// first of them with their places.
type unread struct {
	counts map[traces.Reason]int
	first  []string
}

// add notes a record of an input; each input has an unread of its own, joined
// to the others' when it was read.
func (u *unread) add(in *traces.Input, f *traces.Fault) {
	if u.counts == nil {
		u.counts = map[traces.Reason]int{}
	}
	u.counts[f.Reason]++
	if len(u.first) == mostUnreadOfFile {
		return
	}
	place := in.Path
	if in.Name == traces.Stdin {
		place = "standard input"
	}
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, f.Line)
	}
	u.first = append(u.first, clean(fmt.Sprintf("%s: %s: %s", place, f.Reason, f.Detail)))
}

// join adds what another part of the run could not read, the later part.
func (u *unread) join(o unread) {
	if u.counts == nil {
		u.counts = map[traces.Reason]int{}
	}
	for reason, n := range o.counts {
		u.counts[reason] += n
	}
	u.first = append(u.first, o.first[:min(len(o.first), mostUnread-len(u.first))]...)
}

// tell names the records, and counts them by reason.
func (u *unread) tell(w io.Writer) {
	total := 0
	for _, n := range u.counts {
		total += n
	}
	for _, line := range u.first {
		fmt.Fprintf(w, "not read: %s\n", line)
	}
	if more := total - len(u.first); more > 0 {
		fmt.Fprintf(w, "not read: and %d more\n", more)
	}
	for _, reason := range sortedKeys(u.counts) {
		fmt.Fprintf(w, "%s could not be read: %s\n", counted(u.counts[reason], "record", "records"), reason)
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
