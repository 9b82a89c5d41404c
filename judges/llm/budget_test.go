package llm_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/judges/prices"
)

// varied answers as the prompt asks, with two or three quotes.
func varied() func(modeltest.Call) modeltest.Action {
	return func(c modeltest.Call) modeltest.Action {
		quotes := `{"gate": 1, "step": 0, "quote": "completion_tokens=55"}, {"gate": 2, "step": 2, "quote": "The first lamp costs"}`
		quotes += strings.Repeat(`, {"gate": 2, "step": 2, "quote": "the second is wood"}`, c.Number%2)
		return modeltest.Reply(`{"evidence": [` + quotes + `], "reasoning_quality": 0.5, "explanation": "Gate 3 failed: no datum is named"}`)
	}
}

func TestABudgetStopsBeforeItIsPassed(t *testing.T) {
	t.Parallel()
	const n = 60
	s := modeltest.New(t, varied())
	fullDir := t.TempDir()
	judgeAll(t, fullDir, config(s), n, 8)
	full := s.Bill()
	total := full.Prompt + full.Completion
	usd := *table.Cost("judge-a", prices.Tokens{Prompt: full.Prompt, Completion: full.Completion})

	for name, halve := range map[string]func(*llm.Config){
		"tokens":  func(c *llm.Config) { b := total / 2; c.BudgetTokens = &b },
		"dollars": func(c *llm.Config) { b := usd / 2; c.BudgetUSD = &b },
	} {
		dir := t.TempDir()
		before := s.Bill()
		cfg := config(s)
		halve(&cfg)
		first := judgeAll(t, dir, cfg, n, 8)
		half := s.Bill()
		tokens := half.Prompt + half.Completion - before.Prompt - before.Completion
		if tokens > total/2 || tokens < total*45/100 {
			t.Errorf("%s: %d of %d tokens spent on half a budget", name, tokens, total)
		}
		judgeAll(t, dir, cfg, n, 8)       // the run continues
		judgeAll(t, dir, config(s), n, 8) // the attempts for which a few tokens were missing
		if done := s.Bill(); done.Answers-before.Answers != n {
			t.Errorf("%s: %d answers for %d attempts", name, done.Answers-before.Answers, n)
		}
		for _, got := range first {
			if got.Outcome != arena.JudgeScored && (got.Outcome != arena.JudgeFailed || got.Score != nil) {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

// TestABilledReplyCountsWithoutAnAnswer holds that tokens which a server charged count as spent,
// even if the reply has no answer.
func TestABilledReplyCountsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(modeltest.Body(`{"choices":[],"usage":{"prompt_tokens":700,"completion_tokens":80}}`)))
	cfg := config(s)
	cfg.BudgetTokens = new(2000)
	j, l := judge(t, cfg, nil)
	got, err := ask(t.Context(), j, 1)
	if !errors.Is(err, llm.ErrBudget) || len(s.Calls()) != 2 || got.PromptTokens != 1400 || got.CompletionTokens != 160 {
		t.Errorf("%d requests, %d and %d tokens: %v", len(s.Calls()), got.PromptTokens, got.CompletionTokens, err)
	}
	if b := l.Bill(); b.Prompt != 1400 {
		t.Errorf("the ledger has %+v", b)
	}
}

func TestNoBudgetNoRequest(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, varied())
	cfg := config(s)
	cfg.BudgetTokens = new(int)
	judgeAll(t, t.TempDir(), cfg, 5, 4)
	if n := len(s.Calls()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

func TestDollarsNeedPrices(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, varied())
	cfg := config(s)
	cfg.BudgetUSD = new(float64)
	l, err := ledger.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if _, err := llm.New(cfg, l, llm.Options{Now: time.Now}); err == nil || !strings.Contains(err.Error(), "judge-a") {
		t.Errorf("got %v", err)
	}
}

// TestPredictionsHold compares predictions with the server's bill: one before any answer, and one
// calibrated on the first 8 answers.
func TestPredictionsHold(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, varied())
	cfg := config(s)
	dir := t.TempDir()
	predict := func() llm.Prediction {
		j, l := judgeIn(t, dir, cfg, table)
		defer func() { _ = l.Close() }()
		f := j.Forecast()
		for range 2 { // the same attempts twice cost once
			for i := range 60 {
				trace, dialogue := attempt(i)
				if err := f.Add(shopDomain(), trace, dialogue); err != nil {
					t.Fatal(err)
				}
			}
		}
		return f.Prediction
	}
	blind := predict()
	if n := len(s.Calls()); n != 0 || blind.Calls != 60 || blind.Cached != 0 {
		t.Fatalf("%d requests; %+v", n, blind)
	}
	judgeAll(t, dir, cfg, 8, 2)
	first := s.Bill()
	calibrated := predict()
	if calibrated.Calls != 52 || calibrated.Cached != 8 {
		t.Errorf("%+v", calibrated)
	}
	judgeAll(t, dir, cfg, 60, 8)
	bill := s.Bill()
	near := func(name string, predicted ledger.Spent, prompt, completion int) {
		bill := *table.Cost("judge-a", prices.Tokens{Prompt: prompt, Completion: completion})
		off := *predicted.USD/bill - 1
		t.Logf("%s: predicted %.6f USD, billed %.6f (%+.1f %%)", name, *predicted.USD, bill, 100*off)
		if math.Abs(off) > 0.1 {
			t.Errorf("%s: predicted %.6f USD, billed %.6f", name, *predicted.USD, bill)
		}
	}
	near("before the first answer", blind.Spent, bill.Prompt, bill.Completion)
	near("after 8 answers", calibrated.Spent, bill.Prompt-first.Prompt, bill.Completion-first.Completion)
}
