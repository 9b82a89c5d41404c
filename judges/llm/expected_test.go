package llm_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/trajectory-arena/arena/internal/model/modeltest"
)

// TestExpectedScore holds that a judgement has the mean of the scores where the server returns
// probabilities, from the ledger as well, and no mean otherwise.
func TestExpectedScore(t *testing.T) {
	t.Parallel()
	grade := modeltest.Grade(0.7)
	const before = `{"reasoning_quality": 0.`
	body, err := json.Marshal(map[string]any{"choices": []any{map[string]any{
		"message": map[string]any{"content": grade},
		"logprobs": map[string]any{"content": []any{
			map[string]any{"token": before},
			map[string]any{"token": "7", "top_logprobs": []any{
				map[string]any{"token": "7", "logprob": math.Log(0.75)}, map[string]any{"token": "9", "logprob": math.Log(0.25)},
			}},
		}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	inVirtualTime(t, "with probabilities", func(t *testing.T) {
		s := modeltest.Virtual(t, 0, modeltest.Sequence(modeltest.Body(string(body))))
		dir := t.TempDir()
		for range 2 {
			j, _ := judgeOver(t, s.Transport(), dir, config(s), nil)
			got, err := ask(t.Context(), j, 1)
			if err != nil || got.Expected == nil || math.Abs(*got.Expected-0.75) > 1e-9 || *got.Score != 0.7 {
				t.Errorf("%+v, %v", got, err)
			}
		}
	})
	inVirtualTime(t, "without", func(t *testing.T) {
		s := modeltest.Virtual(t, 0, modeltest.Sequence(modeltest.Reply(grade)))
		j, _ := judgeOver(t, s.Transport(), t.TempDir(), config(s), nil)
		if got, err := ask(t.Context(), j, 1); err != nil || got.Expected != nil {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
