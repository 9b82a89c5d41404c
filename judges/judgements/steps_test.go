package judgements_test

import (
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/judgements"
)

func TestLinesOfStepsAreAsPromised(t *testing.T) {
	t.Parallel()
	trace := &arena.Trace{RunID: "r", ProblemID: "p"}
	for name, tt := range map[string]struct {
		judgement arena.StepJudgement
		want      string
	}{
		"a model's": {
			arena.StepJudgement{
				Judgement: arena.Judgement{Judge: "llm_steps_v1_0123abcd", Outcome: arena.JudgeScored, Model: "m", PromptSHA256: "ab", PromptTokens: 9, CompletionTokens: 5},
				Steps:     []arena.StepVerdict{{Step: 1, Need: arena.StepNeeded, Reason: "finds <it>", Quote: "a mug"}, {Step: 1, Need: arena.StepUnclear}},
			},
			`{"eval_run_id":"r","problem_id":"p","judge":"llm_steps_v1_0123abcd","outcome":"scored","steps":[{"step":1,"verdict":"needed","reason":"finds <it>","quote":"a mug"},` +
				`{"step":1,"verdict":"unclear","reason":null,"quote":null}],"model":"m","prompt_sha256":"ab","tokens":{"prompt":9,"completion":5},"cost_usd":null,"cached":false,"detail":null}`,
		},
		"none": {
			arena.StepJudgement{Judgement: arena.Judgement{Judge: "steps_v2", Outcome: arena.JudgeFailed, Detail: "no step"}},
			`{"eval_run_id":"r","problem_id":"p","judge":"steps_v2","outcome":"failed","steps":null,"model":null,"prompt_sha256":null,` +
				`"tokens":{"prompt":0,"completion":0},"cost_usd":null,"cached":false,"detail":"no step"}`,
		},
	} {
		if got := string(judgements.StepsLine(trace, &tt.judgement)); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}
