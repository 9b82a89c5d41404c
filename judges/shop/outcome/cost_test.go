package outcome_test

import (
	"context"
	"flag"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/traces"
)

var day = flag.String("day", "", "labelled day with its problems and catalogue that BenchmarkDay reads")

// BenchmarkDay measures the CPU time of the filter and of the subnet's scores for a day's attempts
// that have a dialogue, and for comparison that of reading them: hash, decompression and envelope.
//
//	go test ./judges/shop/outcome -run - -bench Day -cpu 1 -benchtime 1x -count 5 -day DAY
func BenchmarkDay(b *testing.B) {
	if *day == "" {
		b.Skip("no -day")
	}
	f, err := filters.New(filters.Defaults())
	if err != nil {
		b.Fatal(err)
	}
	m := measured{filter: f, suite: readSuite(b, filepath.Join(*day, "problems.jsonl")),
		scorer: outcome.New(readCatalog(b, filepath.Join(*day, "catalog.jsonl")), outcome.Carried{})}
	for b.Loop() {
		attempts, reading, err := m.read(*day)
		if err != nil {
			b.Fatal(err)
		}
		n := float64(len(attempts))
		b.ReportMetric(n, "attempts")
		b.ReportMetric(reading/n, "reading-ms")
		b.ReportMetric(cpuOf(func() { m.judge(attempts) })/n, "filter-ms")
		b.ReportMetric(cpuOf(func() { m.score(attempts) })/n, "scores-ms")
	}
}

type measured struct {
	filter *filters.Filter
	suite  *arena.Suite
	scorer *outcome.Scorer
}

// read reads the day and returns its attempts that have a dialogue.
func (m *measured) read(day string) (attempts []*arena.Trace, ms float64, err error) {
	ms = cpuOf(func() {
		var inputs []traces.Input
		if inputs, err = traces.Discover(day); err != nil {
			return
		}
		for _, input := range inputs {
			if err = input.Hash(context.Background()); err != nil {
				return
			}
			if _, err = traces.Read(context.Background(), input, traces.Defaults(), func(i traces.Item) error {
				if i.Trace != nil && i.Trace.HasDialogue {
					attempts = append(attempts, i.Trace)
				}
				return nil
			}); err != nil {
				return
			}
		}
	})
	return attempts, ms, err
}

// judge takes attempts through normal form, both passes and the ranking signals.
func (m *measured) judge(attempts []*arena.Trace) {
	checked := make([]*filters.Checked, len(attempts))
	first := make([]arena.Structure, len(attempts))
	for i, t := range attempts {
		d := filters.Normalise(t)
		checked[i] = &filters.Checked{ID: strconv.Itoa(i), Agent: filters.AgentOf(t.Agent, t.RunID)}
		first[i], checked[i].Sample = m.filter.Check(t, &d)
	}
	day := m.filter.Day(checked)
	for i := range attempts {
		agent := day.Agents[checked[i].Agent]
		s := m.filter.Revise(first[i], agent.Odds(&checked[i].Sample), agent)
		filters.RankScore(&s)
	}
}

// score computes the subnet's outcome of attempts.
func (m *measured) score(attempts []*arena.Trace) {
	for _, t := range attempts {
		if p, known := m.suite.Find(t); known {
			m.scorer.Score(context.Background(), t, p) // an attempt that cannot be scored costs time, too
		}
	}
}

// cpuOf is the CPU that a function takes, in milliseconds.
func cpuOf(do func()) float64 {
	runtime.GC()
	before := longtest.CPU()
	do()
	return float64(longtest.CPU()-before) / float64(time.Millisecond)
}
