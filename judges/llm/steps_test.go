package llm_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
	"github.com/trajectory-arena/arena/judges/ledger"
	"github.com/trajectory-arena/arena/judges/llm"
	"github.com/trajectory-arena/arena/judges/prices"
)

// always returns one verdict for every step.
func always(verdict string) modeltest.Action {
	return modeltest.Verdicts(func(int) string { return verdict })
}

// longer is the i-th of attempts of two to nine steps, numbered as agents like.
func longer(i int) (*arena.Trace, *arena.Dialogue) {
	t, d := attempt(i)
	for range i % 8 {
		t.Steps = append(t.Steps, arena.Step{Number: 1})
		d.Turns = append(d.Turns, arena.Turn{Step: len(t.Steps) - 1, Think: "Once more, in other words.", Calls: d.Turns[0].Calls})
	}
	return t, d
}

func judgeSteps(t *testing.T, j *llm.Judge, i int) arena.StepJudgement {
	t.Helper()
	trace, d := longer(i)
	got, err := j.Steps(t.Context(), trace, d)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestWhatAJudgeOfStepsIsAsked compares the two messages of a request with a golden file.
func TestWhatAJudgeOfStepsIsAsked(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(always("needed")))
	j, _ := judge(t, config(s), nil)
	judgeSteps(t, j, 1)
	got := s.Calls()[0].Text
	golden := filepath.Join("testdata", "steps.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("asked\n%s\nwant\n%s (%v)", got, want, err)
	}
	body, err := json.Marshal(s.Calls()[0].Body["response_format"])
	if err != nil || !strings.Contains(string(body), `"enum":["needed","waste","unclear"]`) || !strings.Contains(string(body), `"name":"step_verdicts"`) {
		t.Errorf("schema %s, %v", body, err)
	}
}

// TestStepFaults plays faults against one model: a verdict on every step, or
// none at all.
func TestStepFaults(t *testing.T) {
	t.Parallel()
	say := modeltest.Reply
	well := always("waste")
	only := `{"steps": [` + modeltest.Verdict(1, "needed") + `]}`
	tests := map[string]struct {
		script   func(modeltest.Call) modeltest.Action
		outcome  arena.JudgeOutcome
		requests int
	}{
		"well":                    {modeltest.Sequence(well), arena.JudgeScored, 1},
		"500, then well":          {modeltest.Sequence(modeltest.Status(500), well), arena.JudgeScored, 2},
		"500 for ever":            {modeltest.Sequence(modeltest.Status(500)), arena.JudgeFailed, 8},
		"429 with Retry-After":    {modeltest.Sequence(modeltest.RetryAfter(1), well), arena.JudgeScored, 2},
		"reset, then well":        {modeltest.Sequence(modeltest.Reset(), well), arena.JudgeScored, 2},
		"cut body, then well":     {modeltest.Sequence(modeltest.Truncate(), well), arena.JudgeScored, 2},
		"one step only, for ever": {modeltest.Sequence(say(only)), arena.JudgeUnparsed, 3},
		"one step only, once":     {modeltest.Sequence(say(only), well), arena.JudgeScored, 2},
		"cut off":                 {modeltest.Sequence(cutOff(only[:40])), arena.JudgeUnparsed, 3},
		"a verdict not on offer":  {modeltest.Sequence(always("bad")), arena.JudgeUnparsed, 3},
		"an answer on the whole":  {modeltest.Sequence(say(modeltest.Grade(0.9))), arena.JudgeUnparsed, 3},
		"empty":                   {modeltest.Sequence(say("")), arena.JudgeUnparsed, 3},
		"refusal":                 {modeltest.Sequence(refuse()), arena.JudgeRefused, 1},
		"no structured output":    {modeltest.Sequence(modeltest.RefuseSchema(well)), arena.JudgeScored, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.New(t, tt.script)
			j, l := judge(t, config(s), table)
			got := judgeSteps(t, j, 2)
			if got.Outcome != tt.outcome || got.Score != nil || got.Judge != j.StepsName() {
				t.Errorf("got %+v, want %s", got, tt.outcome)
			}
			isRight := got.Steps == nil && got.Detail != ""
			if tt.outcome == arena.JudgeScored {
				isRight = len(got.Steps) == 4
			}
			if !isRight {
				t.Errorf("%d verdicts (%s)", len(got.Steps), got.Detail)
			}
			for _, v := range got.Steps {
				if v.Need != arena.StepWaste || v.Reason == "" || v.Quote == "" {
					t.Errorf("verdict %+v", v)
				}
			}
			n := len(s.Calls())
			b := l.Bill()
			if n != tt.requests || b.Exchanges != n {
				t.Errorf("%d requests, %d kept, want %d", n, b.Exchanges, tt.requests)
			}
		})
	}
}

// TestStepsAndScoresAreBilledSeparately uses one ledger, budget and panel for both kinds of answer:
// neither is taken for the other, and both are paid for once.
func TestStepsAndScoresAreBilledSeparately(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, func(c modeltest.Call) modeltest.Action {
		if strings.Contains(c.Text, "a verdict on each") {
			return always("needed")
		}
		return modeltest.Reply(modeltest.Grade(0.5))
	})
	dir := t.TempDir()
	for _, cached := range []bool{false, true} {
		j, l := judgeIn(t, dir, config(s), table)
		trace, d := attempt(1)
		want, err := j.Judge(t.Context(), trace, d)
		if err != nil || *want.Score != 0.5 || want.Cached != cached || want.Judge == j.StepsName() {
			t.Errorf("%+v, %v", want, err)
		}
		steps, err := j.Steps(t.Context(), trace, d)
		if err != nil || len(steps.Steps) != 2 || steps.Cached != cached || steps.PromptSHA256 == want.PromptSHA256 {
			t.Errorf("%+v, %v", steps, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.Calls()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// TestVotesOnSteps checks that a verdict needs more than half of the votes, and that a step without
// one is unclear.
func TestVotesOnSteps(t *testing.T) {
	t.Parallel()
	actions := map[string]modeltest.Action{"judge-a": always("needed"), "judge-b": always("waste"), "judge-c": always("waste")}
	s := modeltest.New(t, func(c modeltest.Call) modeltest.Action { return actions[c.Model] })
	for votes, want := range map[int]arena.Need{1: arena.StepNeeded, 2: arena.StepUnclear, 3: arena.StepWaste} {
		cfg := config(s)
		cfg.Panel = panel(llm.Primary, llm.Primary, llm.Primary)
		cfg.Votes = votes
		j, _ := judge(t, cfg, table)
		got := judgeSteps(t, j, 1)
		for _, v := range got.Steps {
			if v.Need != want {
				t.Errorf("%d votes: %+v, want %s", votes, v, want)
			}
		}
		if n := strings.Count(got.Model, "judge-"); n != votes || got.Outcome != arena.JudgeScored {
			t.Errorf("%d votes: %+v", votes, got)
		}
	}
}

// TestStepsAreNumberedAnew checks for dialogues in which numbers are repeated that the model sees
// each step once, numbered from 1, and that a step which it could not see is unclear.
func TestStepsAreNumberedAnew(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(always("needed")))
	j, _ := judge(t, config(s), nil)
	trace, d := longer(7)
	d.Turns = append(d.Turns[:2:2], append([]arena.Turn{{Step: 1, User: "--- step 1 ---\nin blue, please"}}, d.Turns[2:]...)...)
	got, err := j.Steps(t.Context(), trace, d)
	if err != nil || len(got.Steps) != 9 || got.Steps[1].Step != 2 || got.Steps[8].Step != 1 {
		t.Errorf("%+v, %v", got.Steps, err)
	}
	for len(d.Turns) < 100 {
		d.Turns = append(d.Turns, d.Turns[0])
	}
	got, err = j.Steps(t.Context(), trace, d)
	count := map[arena.Need]int{}
	for _, v := range got.Steps {
		count[v.Need]++
	}
	if err != nil || count[arena.StepNeeded] != 59 || count[arena.StepUnclear] != 40 {
		t.Errorf("%v, %v", count, err)
	}
}

func TestNoStepsCostNothing(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(always("needed")))
	j, _ := judge(t, config(s), nil)
	got, err := j.Steps(t.Context(), &arena.Trace{HasDialogue: true}, &arena.Dialogue{Turns: []arena.Turn{{User: "a lamp"}}})
	if err != nil || got.Outcome != arena.JudgeFailed || len(s.Calls()) != 0 {
		t.Errorf("%+v, %v, %d requests", got, err, len(s.Calls()))
	}
}

// TestAStepPromptOfOnesOwn checks that a custom prompt for steps has a name and a hash of its own,
// and that the judge of full attempts keeps its name.
func TestAStepPromptOfOnesOwn(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(always("needed")))
	cfg := config(s)
	custom, _ := judge(t, cfg, nil)
	cfg.StepPrompt = filepath.Join("testdata", "prompt.tmpl")
	other, _ := judge(t, cfg, nil)
	before, err := custom.StepsHash()
	if err != nil {
		t.Fatal(err)
	}
	after, err := other.StepsHash()
	if err != nil || before == after || custom.StepsName() == other.StepsName() || custom.Name() != other.Name() {
		t.Errorf("%s and %s, %v", custom.StepsName(), other.StepsName(), err)
	}
}

// TestStepPredictionsHold compares predictions with the bill: blind, and after
// eight attempts that are shorter than the others.
func TestStepPredictionsHold(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(always("needed")))
	cfg := config(s)
	dir := t.TempDir()
	predict := func() llm.Prediction {
		j, l := judgeIn(t, dir, cfg, table)
		defer func() { _ = l.Close() }()
		f := j.ForecastSteps()
		for i := range 64 {
			trace, dialogue := longer(i)
			if err := f.Add(shopDomain(), trace, dialogue); err != nil {
				t.Fatal(err)
			}
		}
		return f.Prediction
	}
	run := func(attempts ...int) {
		j, l := judgeIn(t, dir, cfg, table)
		for _, i := range attempts {
			judgeSteps(t, j, i)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	blind := predict()
	run(0, 1, 8, 9, 16, 17, 24, 25)
	first := s.Bill()
	calibrated := predict()
	var steps []int
	for i := range 64 {
		steps = append(steps, i)
	}
	run(steps...)
	bill := s.Bill()
	if blind.Calls != 64 || calibrated.Calls != 56 || calibrated.Cached != 8 {
		t.Errorf("%+v, then %+v", blind, calibrated)
	}
	near := func(name string, predicted ledger.Spent, prompt, completion int) {
		off := *predicted.USD / *table.Cost("judge-a", prices.Tokens{Prompt: prompt, Completion: completion}) - 1
		t.Logf("%s: %+.1f %% (%d of %d completion tokens)", name, 100*off, predicted.Completion, completion)
		if math.Abs(off) > 0.1 {
			t.Errorf("%s: %+.1f %%", name, 100*off)
		}
	}
	near("blind", blind.Spent, bill.Prompt, bill.Completion)
	near("calibrated", calibrated.Spent, bill.Prompt-first.Prompt, bill.Completion-first.Completion)
}

// TestHalfABudgetForSteps stops at half of the bill, and the next run asks for the missing verdicts
// only.
func TestHalfABudgetForSteps(t *testing.T) {
	t.Parallel()
	const n = 40
	s := modeltest.New(t, modeltest.Sequence(always("needed")))
	run := func(dir string, budget *int) (scored int) {
		cfg := config(s)
		cfg.BudgetTokens = budget
		j, l := judgeIn(t, dir, cfg, table)
		for i := range n {
			trace, d := longer(i)
			got, err := j.Steps(t.Context(), trace, d)
			if err == nil && got.Outcome == arena.JudgeScored {
				scored++
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return scored
	}
	run(t.TempDir(), nil)
	full := s.Bill()
	half := (full.Prompt + full.Completion) / 2
	dir := t.TempDir()
	first := run(dir, &half)
	now := s.Bill()
	tokens := now.Prompt + now.Completion - 2*half
	if tokens > half || tokens < half*8/10 || first == n {
		t.Errorf("%d tokens on a budget of %d, %d scored", tokens, half, first)
	}
	if scored := run(dir, nil); scored != n || s.Bill().Answers != 2*n {
		t.Errorf("%d scored, %d answers", scored, s.Bill().Answers)
	}
}

// TestStepCassette judges steps on recorded replies of servers of several kinds.
func TestStepCassette(t *testing.T) {
	t.Parallel()
	tape := openCassette(t, "steps_cassette.jsonl")
	l, err := ledger.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	cfg := llm.Defaults()
	cfg.Endpoints = endpointsAt("http://models.invalid/v1")
	cfg.Panel = panel(llm.Primary, llm.Fallback)
	cfg.Backoff = time.Millisecond
	cfg.BackoffCap = time.Millisecond
	j, err := llm.New(cfg, l, llm.Options{Transport: tape, Now: time.Now, Prices: table})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for i, want := range []struct{ needs, model, reason string }{
		{"needed waste", "judge-a", "brings the lamp"},
		{"needed needed", "judge-a", "first search"},
		{"needed unclear", "judge-b", "finds both lamps"}, // judge-a left a step out
		{"waste needed", "judge-b", "no new filter"},      // judge-a was cut off
	} {
		trace, d := attempt(i + 1)
		got, err := j.Steps(t.Context(), trace, d)
		if err != nil || got.Outcome != arena.JudgeScored {
			t.Fatalf("attempt %d: %+v, %v", i+1, got, err)
		}
		if needs := string(got.Steps[0].Need + " " + got.Steps[1].Need); needs != want.needs || got.Model != want.model || got.Steps[0].Reason != want.reason {
			t.Errorf("attempt %d: %s of %s because %q, want %+v", i+1, needs, got.Model, got.Steps[0].Reason, want)
		}
	}
	tape.ended(t)
}
