package filters_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/traces"
)

// labelled is one attempt of a day with the truth about it.
type labelled struct {
	trace   *arena.Trace
	family  string
	agentic bool
	// task is the request, known of simulated attempts alone.
	task task
}

// TestLabelledDay holds every family of the labelled day to the bar: precision
// and recall of the axis at least 0.99 after both passes.
func TestLabelledDay(t *testing.T) {
	t.Parallel()
	day := readDay(t, longtest.Shared(t, "data/day"))
	judged := judgeDay(t, day)
	report(t, judged)
	var tp, fp, fn int
	for _, j := range judged {
		got := j.after.Axis == arena.AxisAgentic
		switch {
		case got && j.agentic:
			tp++
		case got:
			fp++
		case j.agentic:
			fn++
		}
	}
	if p := float64(tp) / float64(tp+fp); p < 0.99 {
		t.Errorf("precision = %.4f, want at least 0.99", p)
	}
	if r := float64(tp) / float64(tp+fn); r < 0.99 {
		t.Errorf("recall = %.4f, want at least 0.99", r)
	}
}

// judgement is an attempt with both passes' answers.
type judgement struct {
	labelled
	before, after arena.Structure
	sample        habits.Sample
	stats         *habits.Agent
	// odds are those of both passes.
	odds float64
}

func judgeDay(t testing.TB, day []labelled) []judgement {
	t.Helper()
	f, err := filters.New(filters.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	judgements := make([]judgement, len(day))
	checked := make([]*filters.Checked, len(day))
	for i, l := range day {
		d := filters.Normalise(l.trace)
		judgements[i].labelled = l
		judgements[i].before, judgements[i].sample = f.Check(l.trace, &d)
		checked[i] = &filters.Checked{ID: strconv.Itoa(i), Agent: l.trace.RunID, Sample: judgements[i].sample}
	}
	habits := f.Day(checked)
	for i := range judgements {
		judgements[i].stats = habits.Agents[judgements[i].trace.RunID]
		judgements[i].after = f.Revise(judgements[i].before, judgements[i].stats.Odds(&judgements[i].sample), judgements[i].stats)
		judgements[i].odds = filters.RevisedOdds(judgements[i].sample, judgements[i].stats)
	}
	return judgements
}

// report prints one line a family.
func report(t testing.TB, judgements []judgement) {
	t.Helper()
	type row struct {
		n, agentic, before, after int
		score, low, high          float64
	}
	rows := map[string]*row{}
	for _, j := range judgements {
		r := rows[j.family]
		if r == nil {
			r = &row{low: 99, high: -99}
			rows[j.family] = r
		}
		r.n++
		if j.agentic {
			r.agentic++
		}
		if j.before.Axis == arena.AxisAgentic {
			r.before++
		}
		if j.after.Axis == arena.AxisAgentic {
			r.after++
		}
		r.score += j.sample.Score
		r.low, r.high = min(r.low, j.sample.Score), max(r.high, j.sample.Score)
	}
	names := make([]string, 0, len(rows))
	for n := range rows {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		r := rows[n]
		t.Logf("%-22s n %3d agentic %3d first pass %3d both %3d score %6.2f [%.1f, %.1f]", n, r.n, r.agentic, r.before, r.after, r.score/float64(r.n), r.low, r.high)
	}
}

// daysRead are the labelled days that a test has read; none changes their traces.
var daysRead = struct {
	sync.Mutex
	byAgent map[string][]labelled
}{byAgent: map[string][]labelled{}}

func readDay(t testing.TB, dir string) []labelled {
	t.Helper()
	daysRead.Lock()
	defer daysRead.Unlock()
	if daysRead.byAgent[dir] == nil {
		daysRead.byAgent[dir] = readLabelled(t, dir)
	}
	return slices.Clone(daysRead.byAgent[dir])
}

func readLabelled(t testing.TB, dir string) []labelled {
	t.Helper()
	type label struct {
		Run     string `json:"eval_run_id"`
		Problem string `json:"problem_id"`
		Family  string
		Agentic *bool
	}
	labels := map[string]label{}
	file, err := os.Open(filepath.Join(dir, "labels.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for s := bufio.NewScanner(file); s.Scan(); {
		var l label
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		labels[l.Run+"/"+l.Problem] = l
	}
	var day []labelled
	for _, tr := range readTraces(t, dir) {
		if l := labels[tr.ID]; l.Agentic != nil {
			day = append(day, labelled{trace: tr, family: l.Family, agentic: *l.Agentic})
		}
	}
	if len(day) == 0 {
		t.Fatal("no labelled attempt was read")
	}
	return day
}

func readTraces(t testing.TB, dir string) (attempts []*arena.Trace) {
	t.Helper()
	inputs, err := traces.Discover(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range inputs {
		if err := input.Hash(context.Background()); err != nil {
			t.Fatal(err)
		}
		_, err := traces.Read(context.Background(), input, traces.Defaults(), func(i traces.Item) error {
			if i.Fault != nil {
				return fmt.Errorf("%s line %d: %s %s", input.Path, i.Fault.Line, i.Fault.Reason, i.Fault.Detail)
			}
			attempts = append(attempts, i.Trace)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return attempts
}

// TestAnAgentWithCopiesAloneHasADay checks an agent all of whose attempts are another agent's, with
// the same ids.
func TestAnAgentWithCopiesAloneHasADay(t *testing.T) {
	t.Parallel()
	f, err := filters.New(filters.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	before, sample := f.Check(&arena.Trace{}, &arena.Dialogue{})
	day := f.Day([]*filters.Checked{{ID: "1", Record: "a", Agent: "first", Sample: sample}, {ID: "1", Record: "b", Agent: "copies", Sample: sample}})
	copies := day.Agents["copies"]
	s := f.Revise(before, copies.Odds(&sample), copies)
	if s.Axis != arena.AxisUnknown || s.Adaptivity != nil {
		t.Errorf("its copy is %+v", s)
	}
}
