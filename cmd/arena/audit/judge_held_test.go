package audit

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
)

// openScored returns an open attempt with a grade that its agent's other attempts may withhold, and a
// quotation of a record of 1 MiB.
func openScored(agent string, n int) *judged {
	record := strings.Repeat("x", 1<<20)
	j := &judged{agent: record[:3] + agent, record: fmt.Sprint(agent, n), origin: arena.OriginOpen, line: []byte("scored")}
	j.Outcome = arena.JudgeScored
	j.Spans = []arena.Span{{Quote: record[:9]}}
	withheld := *j
	withheld.Outcome = arena.JudgeUndecided
	withheld.Detail = record[:5]
	withheld.line = []byte("withheld")
	j.withheld = &withheld
	return j
}

func decided(agent, record string) *judged {
	return &judged{agent: "xxx" + agent, record: record, origin: arena.OriginClient, line: []byte("decided")}
}

func written(take []*judged, end error) (lines string, err error) {
	r := release{clients: newClients(), write: func(j *judged) error {
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
	r := release{clients: newClients()}
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

// TestCopiesAreNoEvidenceOfAClient checks that copies of one attempt do not withhold a grade, as they do
// not in a build.
func TestCopiesAreNoEvidenceOfAClient(t *testing.T) {
	t.Parallel()
	for _, copies := range []bool{true, false} {
		attempts := []*judged{openScored("a", 0)}
		want := "withheld "
		if copies {
			want = "scored "
		}
		for n := range 9 {
			record := fmt.Sprint(n)
			if copies {
				record = "one"
			}
			attempts = append(attempts, decided("a", record))
			want += "decided "
		}
		if lines, err := written(attempts, nil); lines != want || err != nil {
			t.Errorf("copies %t: %s, %v", copies, lines, err)
		}
	}
}

// TestGradesThatTheRestMayWithholdAreNotWritten checks what is written after an error: all judgements but
// those that unread attempts may change, and the number of these.
func TestGradesThatTheRestMayWithholdAreNotWritten(t *testing.T) {
	t.Parallel()
	end := errors.New("no disk")
	lines, err := written([]*judged{decided("a", "1"), openScored("a", 2), decided("b", "3"), openScored("b", 4)}, end)
	if lines != "decided decided " || !errors.Is(err, end) || !strings.Contains(err.Error(), "2 judged attempts have no line") {
		t.Errorf("%q, %v", lines, err)
	}
}
