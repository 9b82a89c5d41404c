package llm_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
	"github.com/trajectory-arena/arena/judges/ledger"
)

// TestTwoProcessesPayOnce runs two processes that ask about the same attempts at once, with one
// ledger and a server that refuses more than eight requests at a time. Each attempt is answered
// once.
func TestTwoProcessesPayOnce(t *testing.T) {
	t.Parallel()
	const n = 40
	dir := t.TempDir()
	s := modeltest.Limited(t, 8, modeltest.Sequence(late(5*time.Millisecond, modeltest.Reply(modeltest.Grade(0.5)))))
	cfg := config(s)
	cfg.Endpoints[0].Concurrency = 16
	var both sync.WaitGroup
	var got [2][]arena.Judgement
	for i := range got {
		j, _ := judgeIn(t, dir, cfg, table)
		both.Go(func() { got[i] = judgeBy(t, j, n, 16) })
	}
	both.Wait()
	bill := s.Bill()
	if bill.Answers != n {
		t.Errorf("%d answers for %d attempts", bill.Answers, n)
	}
	combined, err := ledger.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = combined.Close() }()
	if merged := combined.Bill(); merged.Prompt != bill.Prompt || merged.Completion != bill.Completion {
		t.Errorf("ledger %+v, server %+v", merged, bill)
	}
	for i := range n {
		if *got[0][i].Score != *got[1][i].Score || got[0][i].PromptTokens != got[1][i].PromptTokens {
			t.Errorf("attempt %d: %+v and %+v", i, got[0][i], got[1][i])
		}
	}
}

// TestNoAnswerIsPaidForTriesTimesAtMost runs again and again on a model that
// cannot answer.
func TestNoAnswerIsPaidForTriesTimesAtMost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := modeltest.New(t, noise())
	cfg := config(s)
	cfg.MaxUnscored = 1
	var calls []int
	for range 5 {
		for _, got := range judgeAll(t, dir, cfg, 2, 1) {
			if got.Outcome != arena.JudgeUnparsed || got.Detail == "" {
				t.Errorf("%+v", got)
			}
		}
		calls = append(calls, len(s.Calls()))
	}
	if want := 2 * cfg.Tries; calls[4] != want || calls[3] != want || !slices.IsSorted(calls) {
		t.Errorf("%d requests after each run, want %d in the end", calls, want)
	}
	cfg.Tries++
	judgeAll(t, dir, cfg, 2, 1)
	if n := len(s.Calls()); n != 2*cfg.Tries {
		t.Errorf("%d requests with one try more", n)
	}
}

// TestTheFirstSampleIsTheAnswerOfOneRun checks that a run with three samples reuses the answers
// that a run with one sample has paid for.
func TestTheFirstSampleIsTheAnswerOfOneRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := modeltest.New(t, say(0.5))
	cfg := config(s)
	judgeAll(t, dir, cfg, 4, 2)
	cfg.SelfConsistency = 3
	judgeAll(t, dir, cfg, 4, 2)
	if n := len(s.Calls()); n != 4*3 {
		t.Errorf("%d requests for 4 attempts, once and thrice", n)
	}
}
