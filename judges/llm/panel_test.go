package llm_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
	"github.com/trajectory-arena/arena/judges/llm"
)

// byModel scripts each model on its own.
func byModel(scripts map[string]func(modeltest.Call) modeltest.Action) func(modeltest.Call) modeltest.Action {
	return func(c modeltest.Call) modeltest.Action { return scripts[c.Model](c) }
}

func say(scores ...float64) func(modeltest.Call) modeltest.Action {
	var actions []modeltest.Action
	for _, s := range scores {
		actions = append(actions, modeltest.Reply(modeltest.Grade(s)))
	}
	return modeltest.Sequence(actions...)
}

func broken() func(modeltest.Call) modeltest.Action {
	return modeltest.Sequence(modeltest.Status(500))
}
func noise() func(modeltest.Call) modeltest.Action { return modeltest.Sequence(modeltest.Reply("?")) }

func panel(roles ...llm.Role) []llm.Member {
	var members []llm.Member
	for i, role := range roles {
		members = append(members, llm.Member{Model: "judge-" + string(rune('a'+i)), Role: role})
	}
	return members
}

func TestVotes(t *testing.T) {
	t.Parallel()
	type models = map[string]func(modeltest.Call) modeltest.Action
	p := llm.Primary
	f := llm.Fallback
	tests := map[string]struct {
		roles   []llm.Role
		change  func(*llm.Config)
		models  models
		score   float64 // 0: no score
		model   string
		request int
	}{
		"the first primary answers": {
			[]llm.Role{p, p, f}, nil, models{"judge-a": say(0.5), "judge-b": say(0.9), "judge-c": say(0.1)}, 0.5, "judge-a", 1},
		"another primary answers": {
			[]llm.Role{p, p, f}, nil, models{"judge-a": broken(), "judge-b": say(0.9), "judge-c": say(0.1)}, 0.9, "judge-b", 2},
		"a fallback answers": {
			[]llm.Role{p, f}, nil, models{"judge-a": modeltest.Sequence(refuse()), "judge-b": say(0.3)}, 0.3, "judge-b", 2},
		"a fallback may be first in the list": {
			[]llm.Role{f, p}, nil, models{"judge-a": say(0.1), "judge-b": say(0.3)}, 0.3, "judge-b", 1},
		"median of three": {
			[]llm.Role{p, p, p}, votes(3, llm.Median), models{"judge-a": say(0.9), "judge-b": say(0.1), "judge-c": say(0.7)}, 0.7, "judge-a+judge-b+judge-c", 3},
		"an even median is the lower": {
			[]llm.Role{p, p}, votes(2, llm.Median), models{"judge-a": say(0.9), "judge-b": say(0.1)}, 0.1, "judge-a+judge-b", 2},
		"majority of three": {
			[]llm.Role{p, p, p}, votes(3, llm.Majority), models{"judge-a": say(0.9), "judge-b": say(0.1), "judge-c": say(0.9)}, 0.9, "judge-a+judge-b+judge-c", 3},
		"a tie is the lowest": {
			[]llm.Role{p, p, p}, votes(3, llm.Majority), models{"judge-a": say(0.9), "judge-b": say(0.3), "judge-c": say(0.7)}, 0.3, "judge-a+judge-b+judge-c", 3},
		"a fallback votes for a primary": {
			[]llm.Role{p, p, f}, votes(2, llm.Median), models{"judge-a": broken(), "judge-b": say(0.9), "judge-c": say(0.7)}, 0.7, "judge-c+judge-b", 3},
		"a vote short is no score": {
			[]llm.Role{p, p}, votes(2, llm.Median), models{"judge-a": noise(), "judge-b": noise()}, 0, "judge-b", 6},
		"one model, three votes": {
			[]llm.Role{p}, votes(3, llm.Median), models{"judge-a": say(0.9, 0.1, 0.5)}, 0.5, "judge-a", 3},
		"self-consistency": {
			[]llm.Role{p}, func(c *llm.Config) { c.SelfConsistency = 5 }, models{"judge-a": say(0.9, 0.1, 0.5, 0.5, 0.9)}, 0.5, "judge-a", 5},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.New(t, byModel(tt.models))
			cfg := config(s)
			cfg.Panel = panel(tt.roles...)
			if tt.change != nil {
				tt.change(&cfg)
			}
			j, _ := judge(t, cfg, nil)
			got, err := ask(t.Context(), j, 1)
			if err != nil {
				t.Fatal(err)
			}
			score := 0.0
			if got.Score != nil {
				score = *got.Score
			}
			if (got.Score == nil) != (tt.score == 0) || score != tt.score || got.Model != tt.model {
				t.Errorf("got %v of %s (%s), want %v of %s", got.Score, got.Model, got.Detail, tt.score, tt.model)
			}
			if n := len(s.Calls()); n != tt.request {
				t.Errorf("%d requests, want %d", n, tt.request)
			}
		})
	}
}

// TestVotesAreKept holds that a panel's votes are in the judgement, and those of one vote are not.
func TestVotesAreKept(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][]arena.Vote{
		1: nil,
		2: {{Model: "judge-a", Score: 0.9}, {Model: "judge-b", Score: 0.1}},
	} {
		s := modeltest.New(t, byModel(map[string]func(modeltest.Call) modeltest.Action{"judge-a": say(0.9), "judge-b": say(0.1)}))
		cfg := config(s)
		cfg.Panel = panel(llm.Primary, llm.Primary)
		cfg.Votes = n
		j, _ := judge(t, cfg, nil)
		got, err := ask(t.Context(), j, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Votes, want) {
			t.Errorf("%d votes: got %+v, want %+v", n, got.Votes, want)
		}
	}
}

// TestOneModelOnTwoEndpointsVotesTwice checks that the votes of one model on two endpoints are two
// samples, not one answer that is counted twice.
func TestOneModelOnTwoEndpointsVotesTwice(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, say(0.9, 0.3))
	cfg := config(s)
	cfg.Endpoints = append(cfg.Endpoints, cfg.Endpoints[0])
	cfg.Endpoints[1].Name = "second"
	cfg.Panel = []llm.Member{{Model: "judge-a", Endpoint: cfg.Endpoints[0].Name, Role: llm.Primary}, {Model: "judge-a", Endpoint: "second", Role: llm.Primary}}
	cfg.Votes = 2
	j, _ := judge(t, cfg, nil)
	if got, err := ask(t.Context(), j, 1); err != nil || got.Score == nil || *got.Score != 0.3 || len(s.Calls()) != 2 {
		t.Errorf("%v after %d requests: %v", got.Score, len(s.Calls()), err)
	}
}

// TestAnAnswerOfAnotherPanelCostsItsDetours checks that the cost of a reused answer includes the
// requests to other models before it.
func TestAnAnswerOfAnotherPanelCostsItsDetours(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, byModel(map[string]func(modeltest.Call) modeltest.Action{"judge-a": noise(), "judge-b": say(0.5)}))
	dir := t.TempDir()
	var last arena.Judgement
	for _, members := range [][]llm.Member{{{Model: "judge-b", Role: llm.Primary}}, panel(llm.Primary, llm.Primary)} {
		cfg := config(s)
		cfg.Panel = members
		last = judgeAll(t, dir, cfg, 1, 1)[0]
	}
	if bill := s.Bill(); bill.Answers != 2 || last.PromptTokens != bill.Prompt || last.CompletionTokens != bill.Completion {
		t.Errorf("%d and %d tokens, the servers counted %+v", last.PromptTokens, last.CompletionTokens, bill)
	}
}

func votes(n int, how llm.Aggregate) func(*llm.Config) {
	return func(c *llm.Config) {
		c.Votes = n
		c.Aggregate = how
	}
}

func TestSamplesDiffer(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, say(0.5))
	cfg := config(s)
	cfg.SelfConsistency = 3
	j, _ := judge(t, cfg, nil)
	if _, err := ask(t.Context(), j, 1); err != nil {
		t.Fatal(err)
	}
	seeds := map[any]bool{}
	for _, c := range s.Calls() {
		seeds[c.Body["seed"]] = true
		want := cfg.SampleTemperature
		if c.Body["seed"] == nil {
			want = 0
		}
		if c.Body["temperature"] != want {
			t.Errorf("temperature %v with seed %v", c.Body["temperature"], c.Body["seed"])
		}
	}
	if len(seeds) != 3 {
		t.Errorf("seeds %v", seeds)
	}
}

// TestOnlyAModelsFurtherVotesAreSampled checks that with three votes of two models the second model
// votes once, at temperature 0.
func TestOnlyAModelsFurtherVotesAreSampled(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, say(0.5))
	cfg := config(s)
	cfg.Panel = panel(llm.Primary, llm.Primary)
	cfg.Votes = 3
	j, _ := judge(t, cfg, nil)
	if _, err := ask(t.Context(), j, 1); err != nil {
		t.Fatal(err)
	}
	cold := map[string]int{}
	for _, c := range s.Calls() {
		if c.Body["temperature"] == 0.0 {
			cold[c.Model]++
		}
	}
	if cold["judge-a"] != 1 || cold["judge-b"] != 1 {
		t.Errorf("asked at temperature 0: %v", cold)
	}
}

func TestABrokenModelIsSetAside(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, byModel(map[string]func(modeltest.Call) modeltest.Action{"judge-a": noise(), "judge-b": say(0.5)}))
	cfg := config(s)
	cfg.Panel = panel(llm.Primary, llm.Fallback)
	for _, got := range judgeAll(t, t.TempDir(), cfg, 10, 1) {
		if got.Outcome != arena.JudgeScored {
			t.Errorf("%+v", got)
		}
	}
	requests := map[string]int{}
	for _, c := range s.Calls() {
		requests[c.Model]++
	}
	if requests["judge-a"] != 3 || requests["judge-b"] != 10 {
		t.Errorf("requests %v: want 3 until it is set aside", requests)
	}
}

func TestTheLastModelIsNeverSetAside(t *testing.T) {
	t.Parallel()
	// Both are broken for a while; the one left must still be asked when well.
	s := modeltest.New(t, func(c modeltest.Call) modeltest.Action {
		if c.Number <= 6 {
			return modeltest.Reply("")
		}
		return modeltest.Reply(modeltest.Grade(0.5))
	})
	cfg := config(s)
	cfg.Panel = panel(llm.Primary, llm.Fallback)
	got := judgeAll(t, t.TempDir(), cfg, 6, 1)
	if last := got[len(got)-1]; last.Outcome != arena.JudgeScored {
		t.Errorf("%+v", last)
	}
}

func TestWhatAPanelHasAnsweredStaysFree(t *testing.T) {
	t.Parallel()
	// The primary fails and a fallback answers: the next run must not ask the
	// primary again.
	dir := t.TempDir()
	s := modeltest.New(t, byModel(map[string]func(modeltest.Call) modeltest.Action{"judge-a": broken(), "judge-b": say(0.5)}))
	cfg := config(s)
	cfg.Panel = panel(llm.Primary, llm.Fallback)
	judgeAll(t, dir, cfg, 4, 1)
	before := len(s.Calls())
	for _, got := range judgeAll(t, dir, cfg, 4, 1) {
		if !got.Cached || got.Model != "judge-b" {
			t.Errorf("%+v", got)
		}
	}
	// Another panel reuses the answer to an identical request.
	cfg.Panel = []llm.Member{{Model: "judge-b", Role: llm.Primary}}
	judgeAll(t, dir, cfg, 4, 1)
	if n := len(s.Calls()); n != before {
		t.Errorf("%d more requests", n-before)
	}
}

// TestAWrongKeyIsSentByTheFirst checks that attempts which wait when a server refuses the key do
// not send it too.
func TestAWrongKeyIsSentByTheFirst(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(late(20*time.Millisecond, modeltest.Status(401))))
	j, _ := judge(t, config(s), nil)
	var workers sync.WaitGroup
	for i := range 40 {
		workers.Go(func() {
			if _, err := ask(t.Context(), j, i); !errors.Is(err, llm.ErrAuth) {
				t.Errorf("attempt %d: %v", i, err)
			}
		})
	}
	workers.Wait()
	if n := len(s.Calls()); n > 4 { // as many as a client begins with
		t.Errorf("%d requests with a wrong key", n)
	}
}

// TestAModelSetAsideIsNotAskedByThoseWhoWait holds that a request which waits when its model is set
// aside is sent to another model, and that this counts as no try.
func TestAModelSetAsideIsNotAskedByThoseWhoWait(t *testing.T) {
	t.Parallel()
	useLedger(t)
	synctest.Test(t, func(t *testing.T) {
		s := modeltest.Virtual(t, 0, func(c modeltest.Call) modeltest.Action {
			if c.Model == "judge-a" {
				return late(5*time.Millisecond, modeltest.Reply(""))
			}
			return modeltest.Reply(modeltest.Grade(0.5))
		})
		cfg := config(s)
		cfg.Panel = panel(llm.Primary, llm.Fallback)
		cfg.Endpoints[0].Concurrency = 2
		cfg.Tries = 3
		j, _ := judgeOver(t, s.Transport(), t.TempDir(), cfg, table)
		for _, got := range judgeBy(t, j, 100, 100) {
			if got.Outcome != arena.JudgeScored || got.Model != "judge-b" {
				t.Errorf("%+v", got)
			}
		}
		requests := 0
		for _, c := range s.Calls() {
			if c.Model == "judge-a" {
				requests++
			}
		}
		// Three in a row, the one concurrent with the third, and two that the gate admitted while
		// the third was recorded.
		if requests > 6 {
			t.Errorf("a silent model was asked %d times", requests)
		}
	})
}

// locking answers n questions and then rejects every key.
func locking(n int, score float64) func(modeltest.Call) modeltest.Action {
	var actions []modeltest.Action
	for range n {
		actions = append(actions, modeltest.Reply(modeltest.Grade(score)))
	}
	return modeltest.Sequence(append(actions, modeltest.Status(401))...)
}

// twoEndpoints returns a configuration with judge-a and judge-c on one endpoint and judge-b on
// another.
func twoEndpoints(s *modeltest.Server) llm.Config {
	cfg := config(s)
	cfg.Endpoints = append(cfg.Endpoints, cfg.Endpoints[0])
	cfg.Endpoints[1].Name = "second"
	cfg.Panel = []llm.Member{
		{Model: "judge-a", Endpoint: "test", Role: llm.Primary},
		{Model: "judge-c", Endpoint: "test", Role: llm.Fallback},
		{Model: "judge-b", Endpoint: "second", Role: llm.Fallback},
	}
	return cfg
}

// TestAKeyThatEndsMeanwhileIsItsEndpointsFailure checks that a key which expires during a run
// affects its endpoint alone: the others continue, and its models are not asked again.
func TestAKeyThatEndsMeanwhileIsItsEndpointsFailure(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, byModel(map[string]func(modeltest.Call) modeltest.Action{"judge-a": locking(3, 0.9), "judge-b": say(0.3), "judge-c": say(0.1)}))
	j, _ := judge(t, twoEndpoints(s), nil)
	var models []string
	for i := range 6 {
		got, err := ask(t.Context(), j, i)
		if err != nil || got.Score == nil {
			t.Fatalf("attempt %d: %v: %s", i, err, got.Detail)
		}
		models = append(models, got.Model)
	}
	if want := []string{"judge-a", "judge-a", "judge-a", "judge-b", "judge-b", "judge-b"}; !slices.Equal(models, want) {
		t.Errorf("answers of %q, want %q", models, want)
	}
	if n := len(s.Calls()); n != 7 {
		t.Errorf("%d requests, want 7", n)
	}
	if got := j.Locked(); !slices.Equal(got, []string{"test"}) {
		t.Errorf("locked: %q", got)
	}
}

// TestAKeyThatWasNeverAcceptedEndsTheRun holds that a key which was never accepted ends the run
// although other models might answer, since it is a mistake of the user. A key that expires ends
// the run if no other model remains.
func TestAKeyThatWasNeverAcceptedEndsTheRun(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		models   map[string]func(modeltest.Call) modeltest.Action
		requests int
	}{
		"never accepted": {map[string]func(modeltest.Call) modeltest.Action{"judge-a": locking(0, 0), "judge-b": say(0.3)}, 0},
		"both end":       {map[string]func(modeltest.Call) modeltest.Action{"judge-a": locking(1, 0.5), "judge-b": locking(1, 0.5)}, 2},
	} {
		s := modeltest.New(t, byModel(tt.models))
		j, _ := judge(t, twoEndpoints(s), nil)
		for i := range tt.requests {
			if _, err := ask(t.Context(), j, i); err != nil {
				t.Errorf("%s: attempt %d: %v", name, i, err)
			}
		}
		if _, err := ask(t.Context(), j, tt.requests); !errors.Is(err, llm.ErrAuth) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
