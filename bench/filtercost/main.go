// Command filtercost measures the CPU that the filter and the subnet's scores take of a
// day's attempts, beside reading them: hash, unpacking and envelope. It runs in one
// process on one core, the three after one another, as often as asked.
//
//	go run ./bench/filtercost -day DAY
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/judges/outcome"
	"github.com/trajectory-arena/arena/traces"
)

func main() {
	day := flag.String("day", "", "a labelled day with its problems and catalogue")
	rounds := flag.Int("rounds", 5, "how often each is done")
	flag.Parse()
	runtime.GOMAXPROCS(1)
	if err := run(*day, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "filtercost:", err)
		os.Exit(1) //nolint:forbidigo // this is a main of its own
	}
}

func run(day string, rounds int) error {
	f, err := filters.New(filters.Defaults())
	if err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	var catalog outcome.Catalog
	if err = catalog.Open(filepath.Join(day, "catalog.jsonl"), 1<<20); err != nil {
		return fmt.Errorf("catalogue: %w", err)
	}
	defer func() { _ = catalog.Close() }() // it is only read
	file, err := os.Open(filepath.Join(day, "problems.jsonl"))
	if err != nil {
		return fmt.Errorf("problems: %w", err)
	}
	defer func() { _ = file.Close() }() // it is only read
	problems, err := arena.ReadProblems(file, 1<<20)
	if err != nil {
		return fmt.Errorf("problems: %w", err)
	}
	m := measure{filter: f, suite: arena.NewSuite(problems), scorer: outcome.New(&catalog, outcome.Carried{})}
	for range rounds {
		all, reading, err := m.read(day)
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}
		n := float64(len(all))
		filtering := timed(func() { m.judge(all) })
		scoring := timed(func() { m.score(all) })
		fmt.Fprintf(os.Stdout, "%d attempts with a dialogue, ms of CPU each: reading %.4f, filter %.4f, scores %.4f\n", len(all), reading/n, filtering/n, scoring/n)
	}
	return nil
}

type measure struct {
	filter *filters.Filter
	suite  *arena.Suite
	scorer *outcome.Scorer
}

// read reads the day and gives its attempts that have a dialogue.
func (m *measure) read(day string) (all []*arena.Trace, ms float64, err error) {
	ms = timed(func() {
		var inputs []traces.Input
		if inputs, err = traces.Discover(day); err != nil {
			return
		}
		for _, in := range inputs {
			if err = in.Hash(context.Background()); err != nil {
				return
			}
			if _, err = traces.Read(context.Background(), in, traces.Defaults(), func(i traces.Item) error {
				if i.Trace != nil && i.Trace.HasDialogue {
					all = append(all, i.Trace)
				}
				return nil
			}); err != nil {
				return
			}
		}
	})
	return all, ms, err
}

// judge takes attempts through normal form, both passes and the ranking signals.
func (m *measure) judge(all []*arena.Trace) {
	checked, first := make([]*filters.Checked, len(all)), make([]arena.Structure, len(all))
	for i, t := range all {
		d := filters.Normalise(t)
		checked[i] = &filters.Checked{ID: strconv.Itoa(i), Agent: filters.AgentOf(t.Agent, t.RunID)}
		first[i], checked[i].Sample = m.filter.Check(t, &d)
	}
	day := m.filter.Day(checked)
	for i := range all {
		s := m.filter.Revise(first[i], checked[i].Sample, day.Agents[checked[i].Agent])
		filters.SignalsOf(&s)
	}
}

// score gives attempts the subnet's outcome.
func (m *measure) score(all []*arena.Trace) {
	for _, t := range all {
		if p, known := m.suite.Find(t); known {
			m.scorer.Score(context.Background(), t, p) //nolint:errcheck // what cannot be scored costs its time, too
		}
	}
}

// timed is the CPU that a function takes, in milliseconds.
func timed(do func()) float64 {
	runtime.GC()
	before := used()
	do()
	return float64(used()-before) / float64(time.Millisecond)
}

func used() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) //nolint:errcheck // it fails for no pointer that is one
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
