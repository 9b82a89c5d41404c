package where_test

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
)

// TestLinesShareWhatTheyHaveInCommon is not parallel: it asks how much lives. Read one
// by one the verdicts below take 5 KB each.
func TestLinesShareWhatTheyHaveInCommon(t *testing.T) {
	const n = 1000
	attempts := make([]rows.Attempt, n)
	verdicts := make([]rows.Verdict, n)
	for i := range n {
		id := fmt.Sprintf("run/%064d", i)
		attempts[i] = rows.Attempt{TraceID: id, RunID: "run"}
		verdicts[i] = rows.Verdict{TraceID: id, Axis: "agentic", Reasons: []string{"some reason"}}
		for check := range 40 {
			c := rows.CheckVerdict{Check: fmt.Sprintf("a_check_of_many_%d", check), Keep: true, Value: float64(i * check), Limit: 0.5}
			if check == i%40 {
				c.Keep = false
				c.Reason = "reason"
				c.Value = math.Inf(1)
			}
			verdicts[i].Checks = append(verdicts[i].Checks, c)
		}
		for feature := range 30 - i%2 {
			verdicts[i].Features = append(verdicts[i].Features, rows.Feature{Name: fmt.Sprintf("a_feature_of_many_%d", feature), Value: float64(i + feature)})
		}
	}
	dir := assembled(t, func(p *corpus.Part) {
		table(t, p, "attempts", attempts...)
		table(t, p, "verdicts", verdicts...)
		table[rows.Outcome](t, p, "outcomes")
		table[rows.Judgement](t, p, "judgements")
	})
	if _, err := where.Read(corpus.Disk{}, dir, true); err != nil { // what it keeps once is there then
		t.Fatal(err)
	}
	before := living()
	lines, err := where.Read(corpus.Disk{}, dir, true)
	if err != nil {
		t.Fatal(err)
	}
	grown := living() - before
	if t.Logf("%d bytes a line", grown/n); len(lines) != n || grown > n*2000 {
		t.Errorf("%d lines take %d bytes", len(lines), grown)
	}
	for i, l := range lines {
		if got := l.Whole(); !reflect.DeepEqual(*got, verdicts[i]) {
			t.Fatalf("line %d: %+v, want %+v", i, *got, verdicts[i])
		}
		if checks := l.Values()["checks"].([]map[string]any); checks[1]["value"] != verdicts[i].Checks[1].Value {
			t.Fatalf("line %d: an expression sees %v", i, checks[1])
		}
	}
}

func living() int64 {
	runtime.GC()
	runtime.GC() // the collector empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestRowsGoToTheirCopy checks that rows are joined to the right copy of an attempt, although
// copies share an id and the findings of the guard.
func TestRowsGoToTheirCopy(t *testing.T) {
	t.Parallel()
	dir := assembled(t, func(p *corpus.Part) {
		table(t, p, "attempts", rows.Attempt{TraceID: "a", RecordSHA256: "1"}, rows.Attempt{TraceID: "a", RecordSHA256: "2"}, rows.Attempt{TraceID: "a", RecordSHA256: "2"})
		table(t, p, "verdicts", rows.Verdict{TraceID: "a", RecordSHA256: "2", Axis: "agentic"}, rows.Verdict{TraceID: "a", RecordSHA256: "2", Axis: "scripted"}, rows.Verdict{TraceID: "b"})
		table[rows.Outcome](t, p, "outcomes")
		table[rows.Judgement](t, p, "judgements")
		table(t, p, "leaks", rows.Leak{ID: "a", Match: "m"})
	})
	lines, err := where.Read(corpus.Disk{}, dir, true)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range lines {
		axis := "none"
		if l.Verdict != nil {
			axis = cmp.Or(l.Whole().Axis, "empty")
		}
		got = append(got, axis+" "+l.Leak.Match)
	}
	if want := []string{"none m", "agentic m", "agentic m"}; !slices.Equal(got, want) {
		t.Errorf("lines have %v, want %v", got, want)
	}
}
