// Package choose decides which rows become part of a corpus. It records why each other row does
// not, and checks that no record is lost.
//
// Rows are offered best first. Thinner drops copies, near-duplicates and rows beyond the limits
// of a request or an agent. TrimToWeights reduces each source to its share of the tokens. Funnel
// counts the decisions by stage. The choice depends only on the content of the rows.
package choose

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// ErrEmpty is returned if every row was dropped.
var ErrEmpty = errors.New("no row is left to train on")

// Decision is the decision on one record: the stage that removed it and the reason or, if it
// became a row, its split and its rank.
type Decision struct {
	// Stage is the stage that removed the record, "" if none did.
	Stage  string `json:"s,omitempty"`
	Reason string `json:"r,omitempty"`
	// Failed reports whether the reader or a judge failed on the record. The record itself may
	// be good.
	Failed bool   `json:"f,omitempty"`
	Split  string `json:"t,omitempty"`
	// Rank is the rank among the kept attempts at the problem, counted from 1.
	Rank int `json:"n,omitempty"`
	// Place is the rank among all ranked attempts at the problem, counted from 1. It is 0 for an
	// attempt that was not ranked.
	Place int `json:"p,omitempty"`
	// Better and Similarity are the fields of the attempt's Row.
	Better     string  `json:"b,omitempty"`
	Similarity float64 `json:"l,omitempty"`
	// Axis is the filter's decision on who made the calls, after its second pass.
	Axis arena.Axis `json:"a,omitempty"`
	// Stripped reports whether the thinking was removed from a row of the record, because no
	// model wrote it.
	Stripped bool `json:"u,omitempty"`
}

// IsKept reports whether no stage removed the record.
func (d *Decision) IsKept() bool { return d.Stage == "" }

// Record sets the columns of the decision in a row of table attempts.
func (d *Decision) Record(a *rows.Attempt) {
	a.Stage = d.Stage
	a.Reason = d.Reason
	a.Split = d.Split
	switch {
	case d.IsKept():
		a.Fate = rows.FateKept
	case d.Failed:
		a.Fate = rows.FateFailed
	default:
		a.Fate = rows.FateDropped
	}
}

// Funnel counts decisions by stage. It returns an error unless In = Out + Failed + the sum of
// Dropped, at every stage and over all stages.
func Funnel(stages []string, decisions iter.Seq[Decision]) ([]corpus.Stage, error) {
	out := make([]corpus.Stage, len(stages))
	byName := make(map[string]*corpus.Stage, len(stages))
	for i, name := range stages {
		out[i] = corpus.Stage{
			Name:     name,
			Dropped:  map[string]int64{},
			Failures: map[string]int64{},
		}
		byName[name] = &out[i]
	}
	remaining := int64(0)
	for d := range decisions {
		remaining++
		if d.IsKept() {
			continue
		}
		s, ok := byName[d.Stage]
		if !ok {
			return nil, fmt.Errorf("count records: a record left at the unknown stage %q", d.Stage)
		}
		if d.Failed {
			s.Failed++
			s.Failures[d.Reason]++
		} else {
			s.Dropped[d.Reason]++
		}
	}

	for i := range out {
		out[i].In = remaining
		remaining -= out[i].Failed
		for _, n := range out[i].Dropped {
			remaining -= n
		}
		out[i].Out = remaining
	}
	countStripped(out, decisions)
	return out, corpus.CheckFunnel(out)
}

// countStripped sets, for each stage of funnel, how many of the records that passed the stage had
// their thinking removed from the row. A record passes all stages before the one that dropped it.
func countStripped(funnel []corpus.Stage, decisions iter.Seq[Decision]) {
	for d := range decisions {
		if !d.Stripped {
			continue
		}
		for k := range funnel {
			if funnel[k].Name == d.Stage {
				break
			}
			funnel[k].Stripped++
		}
	}
}

// PrintFunnel writes a funnel to w as a text table. The reasons of each stage are in descending
// order of their counts.
func PrintFunnel(w io.Writer, funnel []corpus.Stage) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "stage\tin\tfailed\tdropped\tout\treasons")
	for _, s := range funnel {
		columns := []string{
			s.Name,
			thousands(s.In),
			thousands(s.Failed),
			thousands(s.In - s.Failed - s.Out),
			thousands(s.Out),
			formatReasons(s.Failures, s.Dropped),
		}
		fmt.Fprintln(tw, strings.Join(columns, "\t"))
	}
	_ = tw.Flush() // a closed terminal does not fail the run
	if len(funnel) == 0 {
		return
	}
	for _, s := range funnel {
		if s.NotAsked > 0 {
			fmt.Fprintf(w, "of the attempts that cannot become rows, the judge graded a sample of %s of %s; the others have no grade (not_asked); --set judge.dropped_every=1 grades all\n", thousands(s.Drawn), thousands(s.Drawn+s.NotAsked))
		}
		if s.Undecided > 0 {
			fmt.Fprintf(w, "%s attempts have no grade, because their logs lack replies that would show whether a model wrote the reasons (thinking_undecided)\n", thousands(s.Undecided))
		}
		if s.NotMeasured > 0 {
			fmt.Fprintf(w, "%s attempts passed stage %s without a grade and with weight 1, because the instrument was not measured on their domain (not_measured)\n", thousands(s.NotMeasured), s.Name)
		}
	}
	if n := funnel[len(funnel)-1].Stripped; n > 0 {
		fmt.Fprintf(w, "%s of the rows' attempts have no thinking, because no model reply in their log contains it (thinking_unsaid)\n", thousands(n))
	}
}

// Reasons returns the reasons of all stages of a funnel with their counts, such as "leak_spec 11,
// not_selected 44", stage after stage.
func Reasons(funnel []corpus.Stage) string {
	var counts []map[string]int64
	for _, s := range funnel {
		counts = append(counts, s.Failures, s.Dropped)
	}
	return formatReasons(counts...)
}

func formatReasons(counts ...map[string]int64) string {
	var out []string
	for _, byReason := range counts {
		descending := func(a, b string) int {
			return cmp.Or(cmp.Compare(byReason[b], byReason[a]), strings.Compare(a, b))
		}
		for _, reason := range slices.SortedFunc(maps.Keys(byReason), descending) {
			out = append(out, reason+" "+thousands(byReason[reason]))
		}
	}
	return strings.Join(out, ", ")
}

// thousands formats n with a comma between groups of three digits.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
