package llm_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
	"github.com/trajectory-arena/arena/internal/script"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/llm"
)

// TestAThousandAtOnce judges 1,000 attempts at once, without the tag long 200, on a server that
// answers after 50 ms and accepts 32 requests: no attempt is lost or judged twice, few requests are
// refused, and waiting uses little memory.
func TestAThousandAtOnce(t *testing.T) {
	t.Parallel()
	useLedger(t)
	synctest.Test(t, func(t *testing.T) {
		const limit = 32
		n := longtest.Pick(1000, 200)
		s := modeltest.Virtual(t, limit, modeltest.Sequence(late(50*time.Millisecond, modeltest.Reply(modeltest.Grade(0.5)))))
		cfg := config(s)
		cfg.Endpoints[0].Concurrency = 256
		var before, during runtime.MemStats
		runtime.ReadMemStats(&before)
		j, _ := judgeOver(t, s.Transport(), t.TempDir(), cfg, table)
		got := judgeBy(t, j, n, n)
		runtime.ReadMemStats(&during)
		for i, j := range got {
			if j.Outcome != arena.JudgeScored {
				t.Fatalf("attempt %d: %s (%s)", i, j.Outcome, j.Detail)
			}
		}
		calls := len(s.Calls())
		bill := s.Bill()
		if bill.Answers != n {
			t.Errorf("%d answers for %d attempts", bill.Answers, n)
		}
		if tooMany := calls - n; tooMany > n/5 {
			t.Errorf("%d requests were too many", tooMany)
		}
		// Some 20 KB an attempt are its rendering, its request and its reply.
		if grown := int64(during.HeapInuse) - int64(before.HeapInuse); grown > 256<<20 {
			t.Errorf("%d MB of memory", grown>>20)
		}
		t.Logf("%d requests, %d at once at most, %d MB in use", calls, s.Peak(), during.HeapInuse>>20)
	})
}

// TestAConfiguredLimitIsNeverPassed checks that a limit of the user's configuration holds from the
// first request on.
func TestAConfiguredLimitIsNeverPassed(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(late(2*time.Millisecond, modeltest.Reply(modeltest.Grade(0.5)))))
	cfg := config(s)
	cfg.Endpoints[0].Concurrency = 5
	judgeAll(t, t.TempDir(), cfg, 200, 64)
	if s.Peak() > 5 || len(s.Calls()) != 200 {
		t.Errorf("%d at once, %d requests", s.Peak(), len(s.Calls()))
	}
}

// TestAKilledRunResumes kills a judging process at several moments and resumes with the same
// ledger: a stored answer is never requested again.
func TestAKilledRunResumes(t *testing.T) {
	const n, workers = 120, 4
	if url := os.Getenv("LLM_TEST_URL"); url != "" {
		judgeElsewhere(t, url, n, workers, ask)
		return
	}
	t.Parallel()
	turnstile := &script.Turnstile{}
	s := modeltest.New(t, afterTurnstile(turnstile, late(3*time.Millisecond, modeltest.Reply(modeltest.Grade(0.5)))))
	dir := t.TempDir()
	var stored int
	for _, answers := range []int{7, 31, 64} {
		killed(t, turnstile, s, dir, answers)
		l, err := ledger.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		stored = l.Bill().Exchanges
		if lost := s.Bill().Answers - stored; lost > 3*workers {
			t.Errorf("%d answers were lost", lost)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	turnstile.Open(n)
	got := judgeAll(t, dir, resuming(s), n, workers)
	cached := 0
	for _, j := range got {
		if j.Outcome != arena.JudgeScored {
			t.Errorf("%+v", j)
		}
		if j.Cached {
			cached++
		}
	}
	if again := len(askedAgain(s)); cached != stored || again != n-stored {
		t.Errorf("%d stored, %d of them used, %d asked: want %d", stored, cached, again, n-stored)
	}
}

// TestAKilledRunOfStepsResumes is the same test for verdicts on steps: the bill grows by the
// missing ones only.
func TestAKilledRunOfStepsResumes(t *testing.T) {
	const n, workers = 40, 4
	steps := func(ctx context.Context, j *llm.Judge, i int) (arena.Judgement, error) {
		trace, d := longer(i)
		got, err := j.Steps(ctx, trace, d)
		return got.Judgement, err
	}
	if url := os.Getenv("LLM_TEST_URL"); url != "" {
		judgeElsewhere(t, url, n, workers, steps)
		return
	}
	t.Parallel()
	turnstile := &script.Turnstile{}
	s := modeltest.New(t, afterTurnstile(turnstile, late(3*time.Millisecond, always("needed"))))
	dir := t.TempDir()
	killed(t, turnstile, s, dir, 17)
	turnstile.Open(n)
	j, l := judgeIn(t, dir, resuming(s), table)
	bill := l.Bill()
	if answers := s.Bill().Answers; bill.Exchanges == 0 || answers-bill.Exchanges > 3*workers {
		t.Errorf("%d answers, %d kept", answers, bill.Exchanges)
	}
	for i := range n {
		if got, err := steps(t.Context(), j, i); err != nil || got.Outcome != arena.JudgeScored {
			t.Errorf("%+v, %v", got, err)
		}
	}
	calls := askedAgain(s)
	prompt := 0
	for _, c := range calls {
		prompt += modeltest.Tokens(c.Text)
	}
	if grown := l.Bill().Prompt - bill.Prompt; len(calls) != n-bill.Exchanges || grown != prompt {
		t.Errorf("%d stored, %d asked; the bill grew by %d prompt tokens, want %d", bill.Exchanges, len(calls), grown, prompt)
	}
}

// resuming returns a configuration whose requests have a header of the resumed run: the server may
// still be answering the killed one when it starts.
func resuming(s *modeltest.Server) llm.Config {
	cfg := config(s)
	cfg.Endpoints[0].Headers = map[string]string{"X-Run": "resumed"}
	return cfg
}

// askedAgain are the calls of the resumed run.
func askedAgain(s *modeltest.Server) []modeltest.Call {
	return slices.DeleteFunc(s.Calls(), func(c modeltest.Call) bool { return c.Header.Get("X-Run") != "resumed" })
}

// killed runs the test in a process of its own and kills it when some requests
// have been answered and another waits.
func killed(t *testing.T, turnstile *script.Turnstile, s *modeltest.Server, dir string, answers int) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), "LLM_TEST_URL="+s.BaseURL(), "LLM_TEST_LEDGER="+dir, "TMPDIR="+t.TempDir())
	if err := turnstile.Kill(c, answers); err != nil {
		t.Fatal(err)
	}
}

// afterTurnstile answers the requests that a turnstile lets pass.
func afterTurnstile(turnstile *script.Turnstile, answer modeltest.Action) func(modeltest.Call) modeltest.Action {
	return func(modeltest.Call) modeltest.Action {
		if turnstile.Pass() {
			return answer
		}
		return modeltest.Hang()
	}
}

func judgeElsewhere(t *testing.T, url string, n, workers int, one func(context.Context, *llm.Judge, int) (arena.Judgement, error)) {
	cfg := llm.Defaults()
	cfg.Endpoints = endpointsAt(url)
	cfg.Panel = panel(llm.Primary)
	l, err := ledger.Open(os.Getenv("LLM_TEST_LEDGER"))
	if err != nil {
		t.Fatal(err)
	}
	j, err := llm.New(cfg, l, llm.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	var waiters sync.WaitGroup
	for w := range workers {
		waiters.Go(func() {
			for i := w; i < n; i += workers {
				if _, err := one(t.Context(), j, i); err != nil && !errors.Is(err, llm.ErrDeadline) {
					t.Error(err)
				}
			}
		})
	}
	waiters.Wait()
}
