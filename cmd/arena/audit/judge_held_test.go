package audit

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
)

// openScored returns an open attempt with a grade that its agent's other attempts may withhold, and a
// quotation of a record of 1 MiB.
func openScored(agent string, n int) *judged {
	record := strings.Repeat("x", 1<<20)
	j := &judged{id: fmt.Sprint(agent, n), evidence: evidence{fmt.Sprint(agent, n), record[:3] + agent, arena.OriginOpen}, line: []byte("scored")}
	j.Outcome = arena.JudgeScored
	j.Spans = []arena.Span{{Quote: record[:9]}}
	withheld := *j
	withheld.Outcome = arena.JudgeUndecided
	withheld.Detail = record[:5]
	withheld.line = []byte("withheld")
	j.withheld = &withheld
	return j
}

func decided(agent, id, record string, origin arena.Origin) *judged {
	return &judged{id: id, evidence: evidence{record, "xxx" + agent, origin}, line: []byte("decided")}
}

func written(take []*judged, end error) (lines string, err error) {
	r := release{clients: clients{}, write: func(j *judged) error {
		lines += string(j.line) + " "
		return nil
	}}
	for _, j := range take {
		err = errors.Join(err, r.take(j))
	}
	return lines, errors.Join(err, r.finish(end))
}

// TestHeldJudgementsReleaseTheirRecords checks that no held judgement keeps its record in memory.
func TestHeldJudgementsReleaseTheirRecords(t *testing.T) {
	r := release{clients: clients{}}
	for n := range 64 {
		if err := r.take(openScored("a", n)); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 32<<20 {
		t.Errorf("64 judgements of 1 MiB keep %d MiB", m.HeapAlloc>>20)
	}
	if len(r.held) != 64 || r.held[9].Outcome != arena.JudgeScored || r.held[9].withheld.Outcome != arena.JudgeUndecided {
		t.Errorf("%d held judgements lack what is counted", len(r.held))
	}
}

// TestOneRecordOfAnAttemptCounts checks that of several records with the ID of one attempt the one with
// the least hash counts on the agent's client, equal ones once, as in a build and in any order.
func TestOneRecordOfAnAttemptCounts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		id, record func(n int) string
		want       string
	}{
		"nine attempts":           {id: strconv.Itoa, record: strconv.Itoa, want: "withheld"},
		"nine copies of one":      {id: one, record: one, want: "scored"},
		"nine records of one":     {id: one, record: strconv.Itoa, want: "scored"},
		"later records of others": {id: strconv.Itoa, record: func(n int) string { return strconv.Itoa(9 - n) }, want: "withheld"},
	} {
		attempts := []*judged{openScored("a", 10)}
		for n := range 9 {
			attempts = append(attempts, decided("a", tt.id(n), tt.record(n), arena.OriginClient))
		}
		lines, err := written(attempts, nil)
		if lines != tt.want+strings.Repeat(" decided", 9)+" " || err != nil {
			t.Errorf("%s: %s, %v", name, lines, err)
		}
	}

	attempts := []*judged{openScored("a", 10)}
	for n := range 9 {
		id := strconv.Itoa(n)
		attempts = append(attempts, decided("a", id, "1", arena.OriginModel), decided("a", id, "0", arena.OriginClient))
	}
	if lines, _ := written(attempts, nil); !strings.HasPrefix(lines, "withheld ") {
		t.Errorf("the least records are the client's: %s", lines)
	}
	slices.Reverse(attempts[1:])
	for _, a := range attempts[1:] {
		a.record = strings.NewReplacer("0", "1", "1", "0").Replace(a.record)
	}
	if lines, _ := written(attempts, nil); !strings.HasPrefix(lines, "scored ") {
		t.Errorf("the least records are a model's: %s", lines)
	}
}

func one(int) string { return "1" }

// TestGradesThatTheRestMayWithholdAreNotWritten checks what is written after an error: all judgements but
// those that unread attempts may change, and the number of these.
func TestGradesThatTheRestMayWithholdAreNotWritten(t *testing.T) {
	t.Parallel()
	end := errors.New("no disk")
	lines, err := written([]*judged{
		decided("a", "1", "1", arena.OriginClient), openScored("a", 2), decided("b", "3", "3", arena.OriginClient), openScored("b", 4),
	}, end)
	if lines != "decided decided " || !errors.Is(err, end) || !strings.Contains(err.Error(), "2 judged attempts have no line") {
		t.Errorf("%q, %v", lines, err)
	}
}
