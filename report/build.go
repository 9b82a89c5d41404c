package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
)

// Agent is one agent's line on the page of a build.
type Agent struct {
	Name                                      string
	Attempts, Agentic, Scripted, Solved, Kept int
	// Adaptivity is how far its calls depend on results, with its interval.
	Adaptivity string
}

// Level counts the attempts at one level of the judge.
type Level struct {
	Score    float64
	Attempts int
	Kept     int
}

// Lengths are turns and tokens of each attempt of a split, ascending.
type Lengths struct {
	Split         string
	Steps, Tokens []int
}

// Build is what the page of a finished corpus shows.
type Build struct {
	Funnel []corpus.Stage
	Agents []Agent
	Judge  string
	Levels []Level
	Guard  *guard.Report
	// Lengths are those of the splits that hold attempts.
	Lengths []Lengths
}

// maxAgents and maxLeaks bound the tables of a page; the files beside it hold
// all.
const (
	maxAgents = 40
	maxLeaks  = 100
)

// Page lays the build out.
func (b *Build) Page() *Page {
	in, out := b.Funnel[0].In, b.Funnel[len(b.Funnel)-1].Out
	return &Page{
		Title:    "What became of the day",
		Summary:  fmt.Sprintf("%d records were read, %d attempts are training rows.", in, out),
		Sections: []Section{b.funnel(), b.agents(), b.levels(), b.injection(), b.leaks()},
	}
}

func (b *Build) funnel() Section {
	s := Section{Heading: "Funnel", Note: "A record leaves at the first stage that takes it out. In = out + failed + dropped at every stage.",
		Columns: []string{"stage", "in", "failed", "dropped", "out", "reasons"}}
	for _, st := range b.Funnel {
		var words []string
		for _, by := range []map[string]int64{st.Failures, st.Dropped} {
			for _, reason := range slices.Sorted(maps.Keys(by)) {
				words = append(words, fmt.Sprintf("%s %d", reason, by[reason]))
			}
		}
		s.Rows = append(s.Rows, Row{
			Cells: []string{st.Name, whole(st.In), whole(st.Failed), whole(st.In - st.Out - st.Failed), whole(st.Out), strings.Join(words, ", ")},
			Bar:   bar(st.Out, b.Funnel[0].In),
		})
	}
	return s
}

func (b *Build) agents() Section {
	s := Section{Heading: "Agents", Note: "By kept attempts; the bar is the share of attempts in which the model itself acted. agents.json has all.",
		Columns: []string{"agent", "attempts", "agentic", "scripted", "adaptivity", "solved", "kept"}}
	for _, a := range b.Agents[:min(maxAgents, len(b.Agents))] {
		s.Rows = append(s.Rows, Row{
			Cells: []string{a.Name, strconv.Itoa(a.Attempts), strconv.Itoa(a.Agentic), strconv.Itoa(a.Scripted), a.Adaptivity, strconv.Itoa(a.Solved), strconv.Itoa(a.Kept)},
			Bar:   bar(int64(a.Agentic), int64(a.Attempts)),
		})
	}
	return s
}

func (b *Build) levels() Section {
	s := Section{Heading: "Judge " + b.Judge, Columns: []string{"score", "attempts", "kept"}}
	largest := 0
	for _, l := range b.Levels {
		largest = max(largest, l.Attempts)
	}
	for _, l := range b.Levels {
		s.Rows = append(s.Rows, Row{
			Cells: []string{strconv.FormatFloat(l.Score, 'f', 1, 64), strconv.Itoa(l.Attempts), strconv.Itoa(l.Kept)},
			Bar:   bar(int64(l.Attempts), int64(largest)),
		})
	}
	return s
}

func (b *Build) injection() Section {
	s := Section{Heading: "Guard: planted requests", Note: "Protected requests in other clothes, and how many were found; with the 95 % Wilson interval.",
		Columns: []string{"kind", "planted", "found", "interval"}}
	for _, k := range b.Guard.Injection.Kinds {
		s.Rows = append(s.Rows, Row{
			Cells: []string{k.Kind, strconv.Itoa(k.Planted), strconv.Itoa(k.Found), fmt.Sprintf("%.3f to %.3f", k.Low, k.High)},
			Bar:   bar(int64(k.Found), int64(k.Planted)),
		})
	}
	return s
}

func (b *Build) leaks() Section {
	s := Section{Heading: "Guard: attempts dropped", Note: "leak.json has all, with thresholds and counts by bank.",
		Columns: []string{"attempt", "protected problem", "tier", "score", "evidence"}}
	for _, d := range b.Guard.Dropped[:min(maxLeaks, len(b.Guard.Dropped))] {
		s.Rows = append(s.Rows, Row{Cells: []string{d.ID, d.HeldOut, string(d.Tier), strconv.FormatFloat(d.Score, 'f', 3, 64), d.Evidence}})
	}
	return s
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }
