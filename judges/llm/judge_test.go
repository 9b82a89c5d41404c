package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/judges/prices"
)

// TestFaults plays every fault against one model and checks the outcome of the attempt and its
// number of requests.
func TestFaults(t *testing.T) {
	t.Parallel()
	well := modeltest.Reply(modeltest.Grade(0.7))
	tests := map[string]struct {
		script   func(modeltest.Call) modeltest.Action
		outcome  arena.JudgeOutcome
		requests int
	}{
		"well":                      {modeltest.Sequence(well), arena.JudgeScored, 1},
		"429, then well":            {modeltest.Sequence(modeltest.Status(429), well), arena.JudgeScored, 2},
		"429 with Retry-After":      {modeltest.Sequence(modeltest.RetryAfter(1), well), arena.JudgeScored, 2},
		"429 for ever":              {modeltest.Sequence(modeltest.Status(429)), arena.JudgeFailed, 8},
		"500, then well":            {modeltest.Sequence(modeltest.Status(500), well), arena.JudgeScored, 2},
		"500 for ever":              {modeltest.Sequence(modeltest.Status(500)), arena.JudgeFailed, 8},
		"503 and 504, then well":    {modeltest.Sequence(modeltest.Status(503), modeltest.Status(504), well), arena.JudgeScored, 3},
		"hang, then well":           {modeltest.Sequence(modeltest.Hang(), well), arena.JudgeScored, 2},
		"hang for ever":             {modeltest.Sequence(modeltest.Hang()), arena.JudgeFailed, 8},
		"reset, then well":          {modeltest.Sequence(modeltest.Reset(), well), arena.JudgeScored, 2},
		"reset for ever":            {modeltest.Sequence(modeltest.Reset()), arena.JudgeFailed, 8},
		"cut body, then well":       {modeltest.Sequence(modeltest.Truncate(), well), arena.JudgeScored, 2},
		"empty, then well":          {modeltest.Sequence(modeltest.Reply(""), well), arena.JudgeScored, 2},
		"empty for ever":            {modeltest.Sequence(modeltest.Reply("")), arena.JudgeUnparsed, 3},
		"empty body for ever":       {modeltest.Sequence(modeltest.Body("")), arena.JudgeUnparsed, 3},
		"a web page for ever":       {modeltest.Sequence(modeltest.Body("<html>busy</html>")), arena.JudgeUnparsed, 3},
		"noise for ever":            {modeltest.Sequence(modeltest.Reply("The score is 0.7.")), arena.JudgeUnparsed, 3},
		"score not on offer":        {modeltest.Sequence(modeltest.Reply(`{"reasoning_quality": 0.8}`)), arena.JudgeUnparsed, 3},
		"cut off before the score":  {modeltest.Sequence(cutOff("<think>let me see")), arena.JudgeUnparsed, 3},
		"cut off after the score":   {modeltest.Sequence(cutOff(`{"evidence": [{"gate": 1, "step": 0, "quote": "recorded outside the agent"}, {"gate": 2, "step": 0, "quote": "recorded outside the agent"}, {"gate": 3, "step": 0, "quote": "recorded outside the agent"}], "reasoning_quality": 0.7, "expl`)), arena.JudgeScored, 1},
		"control characters":        {modeltest.Sequence(modeltest.Reply("{\"evidence\": [{\"gate\": 1, \"step\": 0, \"quote\": \"recorded outside the agent\"}, {\"gate\": 2, \"step\": 0, \"quote\": \"recorded outside the agent\"}, {\"gate\": 3, \"step\": 0, \"quote\": \"recorded outside the agent\"}], \"reasoning_quality\": 0.7, \"explanation\": \"a\nb\"}")), arena.JudgeScored, 1},
		"refusal in words":          {modeltest.Sequence(modeltest.Reply("I'm sorry, but I can't grade this.")), arena.JudgeRefused, 1},
		"refusal in its field":      {modeltest.Sequence(refuse()), arena.JudgeRefused, 1},
		"content filter":            {modeltest.Sequence(filtered()), arena.JudgeRefused, 1},
		"bad request":               {modeltest.Sequence(modeltest.Status(400)), arena.JudgeFailed, 2},
		"no such model":             {modeltest.Sequence(modeltest.Status(404)), arena.JudgeFailed, 1},
		"a reasoning model":         {modeltest.Sequence(modeltest.Reasoning(well)), arena.JudgeScored, 2},
		"no structured output":      {modeltest.Sequence(modeltest.RefuseSchema(well)), arena.JudgeScored, 2},
		"another model answers":     {modeltest.Sequence(sayAs("small", modeltest.Grade(0.7))), arena.JudgeScored, 1},
		"no token counts":           {modeltest.Sequence(uncounted(modeltest.Grade(0.7))), arena.JudgeScored, 1},
		"everything at once":        {modeltest.Sequence(modeltest.Status(429), modeltest.Hang(), modeltest.Reset(), modeltest.Reply("?"), modeltest.Truncate(), modeltest.Status(502), well), arena.JudgeScored, 7},
		"Retry-After for too long":  {modeltest.Sequence(modeltest.RetryAfter(3600)), arena.JudgeFailed, 1},
		"streamed unasked":          {modeltest.Sequence(stream(modeltest.Grade(0.7))), arena.JudgeScored, 1},
		"a call instead of content": {modeltest.Sequence(modeltest.Body(`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"grade","arguments":"{\"evidence\": [{\"gate\": 1, \"step\": 0, \"quote\": \"recorded outside the agent\"}, {\"gate\": 2, \"step\": 0, \"quote\": \"recorded outside the agent\"}, {\"gate\": 3, \"step\": 0, \"quote\": \"recorded outside the agent\"}], \"reasoning_quality\": 0.7, \"explanation\": \"x\"}"}}]}}]}`)), arena.JudgeScored, 1},
		"reasoning only":            {modeltest.Sequence(modeltest.Body(`{"choices":[{"message":{"content":"","reasoning_content":"so {\"evidence\": [{\"gate\": 1, \"step\": 0, \"quote\": \"recorded outside the agent\"}, {\"gate\": 2, \"step\": 0, \"quote\": \"recorded outside the agent\"}, {\"gate\": 3, \"step\": 0, \"quote\": \"recorded outside the agent\"}], \"reasoning_quality\": 0.7, \"explanation\": \"x\"}"},"finish_reason":"stop"}]}`)), arena.JudgeScored, 1},
		"reasoning cut off":         {modeltest.Sequence(modeltest.Body(`{"choices":[{"message":{"content":"","reasoning_content":"maybe {\"reasoning_quality\": 0.7} or"},"finish_reason":"length"}]}`)), arena.JudgeUnparsed, 3},
		"429 within 200, then well": {modeltest.Sequence(modeltest.Body(`{"error":{"code":429,"message":"slow down"}}`), well), arena.JudgeScored, 2},
		"orders in the trajectory":  {modeltest.Sequence(obey("no order like this one")), arena.JudgeScored, 1},
		"odd role, null everywhere": {modeltest.Sequence(modeltest.Body(`{"choices":[{"message":{"content":null}}],"usage":null}`)), arena.JudgeUnparsed, 3},
	}
	for name, tt := range tests {
		inVirtualTime(t, name, func(t *testing.T) {
			s := modeltest.Virtual(t, 0, tt.script)
			j, l := judgeOver(t, s.Transport(), t.TempDir(), config(s), nil)
			got, err := ask(t.Context(), j, 1)
			if err != nil {
				t.Fatal(err)
			}
			if got.Outcome != tt.outcome || (got.Score != nil) != (tt.outcome == arena.JudgeScored) {
				t.Errorf("got %s %v (%s), want %s", got.Outcome, got.Score, got.Detail, tt.outcome)
			}
			if n := len(s.Calls()); n != tt.requests {
				t.Errorf("%d requests, want %d", n, tt.requests)
			}
			if b := l.Bill(); b.Exchanges != tt.requests {
				t.Errorf("%d exchanges kept, want %d", b.Exchanges, tt.requests)
			}
		})
	}
}

// inVirtualTime runs a test whose waits take no time, and whose time-outs pass
// only when nothing is left to do.
func inVirtualTime(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		useLedger(t)
		synctest.Test(t, test)
	})
}

// useLedger uses a ledger once outside of a synctest bubble, so that the compressor of ledgers
// creates its channels there: channels of a bubble can only be used in that bubble.
func useLedger(t *testing.T) {
	t.Helper()
	l, err := ledger.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Add(ledger.Exchange{Request: []byte("first")}), l.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestAWrongKeyStopsAtOnce(t *testing.T) {
	const key = "sk-test-0123456789"
	t.Setenv("LLM_TEST_KEY", key)
	for _, status := range []int{401, 403} {
		s := modeltest.New(t, modeltest.Sequence(modeltest.Status(status)))
		cfg := config(s)
		cfg.Endpoints[0].KeyEnv = "LLM_TEST_KEY"
		dir := t.TempDir()
		j, l := judgeIn(t, dir, cfg, nil)
		_, err := ask(t.Context(), j, 1)
		if !errors.Is(err, llm.ErrAuth) || len(s.Calls()) != 1 {
			t.Errorf("%d: %v after %d requests", status, err, len(s.Calls()))
		}
		if strings.Contains(err.Error(), key) || folderHolds(t, dir, key) || !folderHolds(t, dir, "[secret]") {
			t.Errorf("%d: the key got out: %v", status, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnAnswerIsPaidForOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := modeltest.New(t, modeltest.Sequence(modeltest.Reply(modeltest.Grade(0.5))))
	first := judgeAll(t, dir, config(s), 20, 8)
	second := judgeAll(t, dir, config(s), 20, 8)
	if n := len(s.Calls()); n != 20 {
		t.Errorf("%d requests for 20 attempts judged twice", n)
	}
	for i := range first {
		if first[i].Cached || !second[i].Cached || *first[i].Score != *second[i].Score ||
			first[i].PromptTokens != second[i].PromptTokens || *first[i].CostUSD != *second[i].CostUSD {
			t.Errorf("attempt %d: %+v, then %+v", i, first[i], second[i])
		}
	}
	// Another address, another limit: the same judge.
	moved := modeltest.New(t, modeltest.Sequence(modeltest.Status(500)))
	cfg := config(moved)
	cfg.MaxUnscored = 1
	judgeAll(t, dir, cfg, 20, 8)
	if n := len(moved.Calls()); n != 0 {
		t.Errorf("%d requests after moving the server", n)
	}
}

func TestTheSameAtOnceIsAskedOnce(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(late(30*time.Millisecond, modeltest.Reply(modeltest.Grade(0.5)))))
	j, _ := judge(t, config(s), nil)
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			if got, err := ask(t.Context(), j, 1); err != nil || got.Outcome != arena.JudgeScored {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	workers.Wait()
	if n := len(s.Calls()); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestUnscoredAttemptsAreAskedAgainByTheNextRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := modeltest.New(t, modeltest.Sequence(modeltest.Status(500)))
	for _, got := range judgeAll(t, dir, config(bad), 3, 1) {
		if got.Outcome != arena.JudgeFailed || got.Score != nil || got.Detail == "" {
			t.Errorf("%+v", got)
		}
	}
	well := modeltest.New(t, modeltest.Sequence(modeltest.Reply(modeltest.Grade(0.5))))
	for _, got := range judgeAll(t, dir, config(well), 3, 1) {
		if got.Outcome != arena.JudgeScored || got.Cached {
			t.Errorf("%+v", got)
		}
	}
	if n := len(well.Calls()); n != 3 {
		t.Errorf("%d requests", n)
	}
}

func TestARunAsksAnUnansweredQuestionOnce(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(modeltest.Status(500)))
	j, l := judge(t, config(s), table)
	for range 3 {
		if got, err := ask(t.Context(), j, 1); err != nil || got.Outcome != arena.JudgeFailed {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if n := len(s.Calls()); n != 8 || l.Bill().Exchanges != 8 {
		t.Errorf("%d requests, %d exchanges", n, l.Bill().Exchanges)
	}
}

func TestNothingToJudgeCostsNothing(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(modeltest.Reply(modeltest.Grade(0.5))))
	j, _ := judge(t, config(s), nil)
	got, err := j.Judge(t.Context(), &arena.Trace{Status: arena.StatusTimedOut}, &arena.Dialogue{})
	if err != nil || got.Outcome != arena.JudgeFailed || got.Score != nil || len(s.Calls()) != 0 {
		t.Errorf("%+v, %v, %d requests", got, err, len(s.Calls()))
	}
}

func TestAnswersOfAnotherModelAreNamed(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(sayAs("small", modeltest.Grade(0.5)), sayAs("vendor/Judge-A-2026", modeltest.Grade(0.5))))
	j, l := judge(t, config(s), nil)
	for i := range 3 {
		if _, err := ask(t.Context(), j, i); err != nil {
			t.Fatal(err)
		}
	}
	got := j.Substitutes()
	if len(got) != 1 || got[0] != (llm.Substitute{Asked: "judge-a", Served: "small", Answers: 1}) || l.Bill().Exchanges != 3 {
		t.Errorf("%+v", got)
	}
}

// TestAHangingServerDoesNotHoldUpTheRun checks the requests to a server that hangs for ever: those
// that show it and then one at a time, not eight timeouts for each attempt. The open attempts fail
// and are asked again once the server answers.
func TestAHangingServerDoesNotHoldUpTheRun(t *testing.T) {
	attempts := longtest.Pick(512, 384)
	well := modeltest.Reply(modeltest.Grade(0.7))
	inVirtualTime(t, "server", func(t *testing.T) {
		var back atomic.Bool
		s := modeltest.Virtual(t, 0, func(modeltest.Call) modeltest.Action {
			if back.Load() {
				return well
			}
			return modeltest.Hang()
		})
		cfg := config(s)
		cfg.Backoff, cfg.BackoffCap = llm.Defaults().Backoff, llm.Defaults().BackoffCap
		dir := t.TempDir()
		outcomes := func() map[arena.JudgeOutcome]int {
			j, l := judgeOver(t, s.Transport(), dir, cfg, nil)
			var g errgroup.Group
			g.SetLimit(128) // as arena judge does
			got := make([]arena.Judgement, attempts)
			for i := range got {
				g.Go(func() (err error) {
					got[i], err = ask(t.Context(), j, i)
					return err
				})
			}
			err := g.Wait()
			j.Close()
			if err = errors.Join(err, l.Close()); err != nil {
				t.Fatal(err)
			}
			outcomes := map[arena.JudgeOutcome]int{}
			for _, g := range got {
				outcomes[g.Outcome]++
			}
			return outcomes
		}
		start := time.Now()
		if got := outcomes(); got[arena.JudgeFailed] != attempts {
			t.Errorf("while the server hangs: %v", got)
		}
		// Each round of 128 would wait out the attempts' deadline.
		took := time.Since(start)
		limit := 2 * cfg.AttemptDeadline
		if took > limit {
			t.Errorf("%d attempts took %v, want at most %v", attempts, took, limit)
		}
		back.Store(true)
		if got := outcomes(); got[arena.JudgeScored] != attempts {
			t.Errorf("once the server answers: %v", got)
		}
	})
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(modeltest.Hang()))
	cfg := config(s)
	cfg.RequestTimeout = time.Minute
	cfg.AttemptDeadline = 50 * time.Millisecond
	j, _ := judge(t, cfg, nil)
	if got, err := ask(t.Context(), j, 1); err != nil || got.Outcome != arena.JudgeFailed {
		t.Errorf("the attempt's: %+v, %v", got, err)
	}
	cfg.AttemptDeadline = time.Minute
	cfg.RunDeadline = 50 * time.Millisecond
	j, _ = judge(t, cfg, nil)
	if _, err := ask(t.Context(), j, 1); !errors.Is(err, llm.ErrDeadline) {
		t.Errorf("the run's: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cfg.RunDeadline = time.Minute
	j, _ = judge(t, cfg, nil)
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := ask(ctx, j, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller's: %v", err)
	}
}

// config is one model on one server, with short waits between tries and time to
// answer on any machine.
func config(s *modeltest.Server) llm.Config {
	cfg := llm.Defaults()
	cfg.Endpoints = endpointsAt(s.BaseURL())
	cfg.Panel = []llm.Member{{Model: "judge-a", Role: llm.Primary}}
	cfg.RequestTimeout = time.Minute
	cfg.AttemptDeadline = 10 * time.Minute
	cfg.Backoff = time.Millisecond
	cfg.BackoffCap = 2 * time.Millisecond
	return cfg
}

func endpointsAt(url string) []model.Endpoint {
	return []model.Endpoint{{Name: "test", BaseURL: url, Concurrency: 32}}
}

var table = prices.Table{
	"judge-a": {Prompt: 1, Completion: 4}, "judge-b": {Prompt: 1, Completion: 4}, "judge-c": {Prompt: 1, Completion: 4},
}

func judge(t *testing.T, cfg llm.Config, p prices.Table) (*llm.Judge, *ledger.Ledger) {
	t.Helper()
	return judgeIn(t, t.TempDir(), cfg, p)
}

func judgeIn(t *testing.T, dir string, cfg llm.Config, p prices.Table) (*llm.Judge, *ledger.Ledger) {
	t.Helper()
	return judgeOver(t, nil, dir, cfg, p)
}

// judgeOver is a judge that reaches its models over a network; nil is the
// machine's.
func judgeOver(t *testing.T, network http.RoundTripper, dir string, cfg llm.Config, p prices.Table) (*llm.Judge, *ledger.Ledger) {
	t.Helper()
	l, err := ledger.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	j, err := llm.New(cfg, l, llm.Options{Prices: p, Now: time.Now, Transport: network})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return j, l
}

// judgeAll judges n attempts in one run of its own.
func judgeAll(t *testing.T, dir string, cfg llm.Config, n, workers int) []arena.Judgement {
	t.Helper()
	j, l := judgeIn(t, dir, cfg, table)
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	return judgeBy(t, j, n, workers)
}

// judgeBy judges n attempts, as many at once as there are workers.
func judgeBy(t *testing.T, j *llm.Judge, n, workers int) []arena.Judgement {
	t.Helper()
	out := make([]arena.Judgement, n)
	next := make(chan int)
	var waiters sync.WaitGroup
	for range workers {
		waiters.Go(func() {
			for i := range next {
				var err error
				if out[i], err = ask(t.Context(), j, i); err != nil && !errors.Is(err, llm.ErrBudget) {
					t.Errorf("attempt %d: %v", i, err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	waiters.Wait()
	return out
}

// attempt is the i-th of attempts that all differ.
func attempt(i int) (*arena.Trace, *arena.Dialogue) {
	think := fmt.Sprintf("Attempt %d. The first lamp costs %d.50 and is brass, the second is wood; I prefer the first.", i, 100+i)
	result := arena.Raw(`[{"product_id": "4234994641", "title": "Feli brass lamp", "price": 110.5}]`)
	t := &arena.Trace{
		ID: fmt.Sprint(i), Query: "a brass lamp under 200", HasDialogue: true, Status: arena.StatusSuccess,
		Steps: []arena.Step{
			{Number: 1, Proxy: []arena.ProxyCall{
				{Method: "POST", Path: "/inference/chat/completions", Status: 200, DurationMS: 4305, Body: `{"model":"GLM-5"}`,
					Response: `{"usage":{"completion_tokens":55}}`},
				{Method: "GET", Path: "/search/find_product", Status: 200, DurationMS: 120, Params: `{"q":"brass lamp"}`,
					Truncated: true, ItemIDs: []string{"4234994641", "4086626883"}},
				{Attempt: true, Method: "GET", Path: "/search/find_product"},
			}},
			{Number: 2},
		},
	}
	d := &arena.Dialogue{Turns: []arena.Turn{
		{Step: 0, Think: "Search first.", Calls: []arena.Call{{ID: "c1", Name: "find_product", Arguments: `{"q":"brass lamp"}`, Result: result}}},
		{Step: 1, Think: think, Calls: []arena.Call{{ID: "c2", Name: "recommend_product", Arguments: `{"product_ids":"4234994641"}`}}},
	}}
	return t, d
}

func ask(ctx context.Context, j *llm.Judge, i int) (arena.Judgement, error) {
	t, d := attempt(i)
	return j.Judge(ctx, t, d)
}
