package judgements_test

import (
	"math"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/judgements"
)

func TestLinesAreAsPromised(t *testing.T) {
	t.Parallel()
	score := 0.7
	usd := 0.0021
	nan := math.NaN()
	trace := &arena.Trace{RunID: "r", ProblemID: "p", Steps: []arena.Step{{Proxy: []arena.ProxyCall{
		{Path: "/inference/chat/completions", Body: `{"model":"org/b"}`},
		{Path: "/inference/chat/completions", Body: `{"model":"a"}`},
		{Path: "/inference/chat/completions", Body: `{"model":"org/b"}`},
		{Path: "/inference/embeddings", Body: `{"model":"embed"}`},
		{Path: "/inference/chat/completions", Body: `{"model":"never-sent"}`, Attempt: true},
	}}}}
	tests := map[string]struct {
		judgement arena.Judgement
		want      string
	}{
		"a model's": {
			arena.Judgement{
				Judge: "llm_v1_0123abcd", Outcome: arena.JudgeScored, Score: &score, Gates: []bool{true, true, true, false},
				Spans: []arena.Span{{Gate: 1, Quote: "<30 tokens>"}, {Gate: 3, Step: 2, Quote: "319.58"}},
				Model: "m", PromptSHA256: "ab", PromptTokens: 2000, CompletionTokens: 50, CostUSD: &usd, Cached: true, Detail: "G4: no <preference>",
			},
			`{"eval_run_id":"r","problem_id":"p","judge":"llm_v1_0123abcd","outcome":"scored","score":0.7,"gates":[true,true,true,false],` +
				`"spans":[{"gate":1,"step":null,"quote":"<30 tokens>"},{"gate":3,"step":2,"quote":"319.58"}],"doubt":null,"model":"m","prompt_sha256":"ab",` +
				`"tokens":{"prompt":2000,"completion":50},"cost_usd":0.0021,"cached":true,"detail":"G4: no <preference>"}`,
		},
		"a panel's": {
			arena.Judgement{
				Judge: "llm_v1_0123abcd", Outcome: arena.JudgeScored, Score: &score, Gates: []bool{true, true, true, false},
				Votes: []arena.Vote{{Model: "m", Score: 0.7}, {Model: "n", Score: 0.9}}, Model: "m+n",
			},
			`{"eval_run_id":"r","problem_id":"p","judge":"llm_v1_0123abcd","outcome":"scored","score":0.7,` +
				`"votes":[{"model":"m","score":0.7},{"model":"n","score":0.9}],"agent_models":["a","org/b"],"gates":[true,true,true,false],"spans":[],"doubt":null,` +
				`"model":"m+n","prompt_sha256":null,"tokens":{"prompt":0,"completion":0},"cost_usd":null,"cached":false,"detail":null}`,
		},
		"none": {
			arena.Judgement{Judge: "gates_v5", Outcome: arena.JudgeFailed, CostUSD: &nan},
			`{"eval_run_id":"r","problem_id":"p","judge":"gates_v5","outcome":"failed","score":null,"gates":null,"spans":[],"doubt":null,` +
				`"model":null,"prompt_sha256":null,"tokens":{"prompt":0,"completion":0},"cost_usd":null,"cached":false,"detail":null}`,
		},
	}
	for name, tt := range tests {
		if got := string(judgements.Line(trace, tt.judgement)); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}
