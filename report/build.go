package report

import (
	"fmt"
	"maps"
	"slices"
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
		s.row(bar(st.Out, b.Funnel[0].In), st.Name, st.In, st.Failed, st.In-st.Out-st.Failed, st.Out, strings.Join(words, ", "))
	}
	return s
}

func (b *Build) agents() Section {
	s := Section{Heading: "Agents", Note: "By kept attempts; the bar is the share of attempts in which the model itself acted. agents.json has all.",
		Columns: []string{"agent", "attempts", "agentic", "scripted", "adaptivity", "solved", "kept"}}
	for _, a := range b.Agents[:min(maxAgents, len(b.Agents))] {
		s.row(bar(int64(a.Agentic), int64(a.Attempts)), a.Name, a.Attempts, a.Agentic, a.Scripted, a.Adaptivity, a.Solved, a.Kept)
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
		s.row(bar(int64(l.Attempts), int64(largest)), fmt.Sprintf("%.1f", l.Score), l.Attempts, l.Kept)
	}
	return s
}

func (b *Build) injection() Section {
	s := Section{Heading: "Guard: planted requests", Note: "Protected requests in other clothes, and how many were found; with the 95 % Wilson interval.",
		Columns: []string{"kind", "planted", "found", "interval"}}
	for _, k := range b.Guard.Injection.Kinds {
		s.row(bar(int64(k.Found), int64(k.Planted)), k.Kind, k.Planted, k.Found, fmt.Sprintf("%.3f to %.3f", k.Low, k.High))
	}
	return s
}

func (b *Build) leaks() Section {
	s := Section{Heading: "Guard: attempts dropped", Note: "leak.json has all, with thresholds and counts by bank.",
		Columns: []string{"attempt", "protected problem", "tier", "score", "evidence"}}
	for _, d := range b.Guard.Dropped[:min(maxLeaks, len(b.Guard.Dropped))] {
		s.row(nil, d.ID, d.HeldOut, d.Tier, fmt.Sprintf("%.3f", d.Score), d.Evidence)
	}
	return s
}
