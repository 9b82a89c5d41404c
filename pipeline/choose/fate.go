// Package choose decides which of many rows become part of a corpus, says of
// each other one why it does not, and counts that none got lost.
//
// A row is met best first: Thinner leaves out copies, near-duplicates and what a
// request or an agent has too much of; Weigh gives each source its share of what
// stays. Funnel adds up the fates stage by stage. What is chosen depends on the
// content of the rows alone.
package choose

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// ErrEmpty says that every row was left out.
var ErrEmpty = errors.New("no row is left to train on")

// Fate is what became of one record: the stage that took it out and why, or its
// split and its rank where it stayed.
type Fate struct {
	Stage  string `json:"s,omitempty"`
	Reason string `json:"r,omitempty"`
	// Failed reports whether an instrument or the reading failed: the record
	// itself was not judged bad.
	Failed bool   `json:"f,omitempty"`
	Split  string `json:"t,omitempty"`
	// Rank counts from 1 among the attempts at the problem that stayed.
	Rank int `json:"n,omitempty"`
	// Place counts from 1 among all that came to be ranked at the problem, best
	// first; 0 for what did not. Better and Alike are those of its Row.
	Place  int     `json:"p,omitempty"`
	Better string  `json:"b,omitempty"`
	Alike  float64 `json:"l,omitempty"`
	// Axis is the verdict after the look at the agent's whole day.
	Axis arena.Axis `json:"a,omitempty"`
}

// Kept reports whether no stage took the record out.
func (f *Fate) Kept() bool { return f.Stage == "" }

// Word is what tables call the fate.
func (f *Fate) Word() string {
	switch {
	case f.Kept():
		return rows.FateKept
	case f.Failed:
		return rows.FateFailed
	default:
		return rows.FateDropped
	}
}

// Funnel counts fates stage by stage and checks that nothing got lost: In =
// Out + Failed + the sum of Dropped, at every stage and in all.
func Funnel(stages []string, fates []Fate) ([]corpus.Stage, error) {
	out := make([]corpus.Stage, len(stages))
	at := make(map[string]*corpus.Stage, len(stages))
	for i, name := range stages {
		out[i] = corpus.Stage{Name: name, Dropped: map[string]int64{}, Failures: map[string]int64{}}
		at[name] = &out[i]
	}
	for i := range fates {
		f := &fates[i]
		if f.Kept() {
			continue
		}
		s, known := at[f.Stage]
		if !known {
			return nil, fmt.Errorf("count records: a record left at the unknown stage %q", f.Stage)
		}
		if f.Failed {
			s.Failed++
			s.Failures[f.Reason]++
		} else {
			s.Dropped[f.Reason]++
		}
	}
	left := int64(len(fates))
	for i := range out {
		out[i].In = left
		left -= out[i].Failed
		for _, n := range out[i].Dropped {
			left -= n
		}
		out[i].Out = left
	}
	return out, corpus.Balance(out)
}

// PrintFunnel writes a funnel as a table for people: the reasons of each
// stage by count, the largest first.
func PrintFunnel(w io.Writer, funnel []corpus.Stage) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "stage\tin\tfailed\tdropped\tout\treasons")
	for _, s := range funnel {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, thousands(s.In), thousands(s.Failed),
			thousands(s.In-s.Failed-s.Out), thousands(s.Out), reasons(s.Failures, s.Dropped))
	}
	_ = tw.Flush() // words for people: a closed terminal is no failure of the run
}

func reasons(counts ...map[string]int64) string {
	var words []string
	for _, by := range counts {
		order := func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), strings.Compare(a, b)) }
		for _, word := range slices.SortedFunc(maps.Keys(by), order) {
			words = append(words, word+" "+thousands(by[word]))
		}
	}
	return strings.Join(words, ", ")
}

func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
