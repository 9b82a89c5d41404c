package reply_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/trajectory-arena/arena/judges/reply"
)

type logprob struct {
	Token   string    `json:"token"`
	Logprob float64   `json:"logprob"`
	Top     []logprob `json:"top_logprobs,omitempty"`
}

func completion(t *testing.T, tokens []logprob) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"logprobs": map[string]any{"content": tokens}}}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestExpected reads the probabilities of the score's digit, however the tokenizer cuts
// the number, and reads none where a server names too few.
func TestExpected(t *testing.T) {
	t.Parallel()
	p := math.Log
	top := func(prefix string) []logprob {
		return []logprob{{Token: prefix + "7", Logprob: p(0.6)}, {Token: prefix + "9", Logprob: p(0.2)}, {Token: prefix + "5", Logprob: p(0.1)}, {Token: prefix + "8", Logprob: p(0.05)}, {Token: "x", Logprob: p(0.05)}}
	}
	const want = (0.7*0.6 + 0.9*0.2 + 0.5*0.1) / 0.9
	for name, tokens := range map[string][]logprob{
		"digit alone":      {{Token: `{"reasoning_quality": `}, {Token: "0"}, {Token: "."}, {Token: "7", Top: top("")}, {Token: "}"}},
		"number":           {{Token: `{"reasoning_quality":`}, {Token: " 0.7", Top: top(" 0.")}, {Token: "}"}},
		"point and digit":  {{Token: `"reasoning_quality": 0`}, {Token: ".7", Top: top(".")}},
		"draft before":     {{Token: `<think>"reasoning_quality": 0.1</think>{"reasoning_quality": 0.`}, {Token: "7", Top: top("")}},
		"as a string":      {{Token: `{"reasoning_quality": "0.`}, {Token: "7", Top: top("")}},
		"no alternatives":  {{Token: `{"reasoning_quality": 0.`}, {Token: "7"}},
		"little mass":      {{Token: `{"reasoning_quality": 0.`}, {Token: "7", Top: []logprob{{Token: "7", Logprob: p(0.3)}}}},
		"no score":         {{Token: "I refuse"}},
		"no log-probs":     nil,
		"ends at the dot":  {{Token: `{"reasoning_quality": 0.`}},
		"a longer decimal": {{Token: `{"reasoning_quality": 0.`}, {Token: "75", Top: []logprob{{Token: "75", Logprob: 0}}}},
	} {
		got, ok := reply.Expected(completion(t, tokens))
		isRead := name == "digit alone" || name == "number" || name == "point and digit" || name == "draft before" || name == "as a string"
		if ok != isRead || isRead && math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
}
