package model

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// TestTokensOfManyServers reads the tokens in replies of vLLM, llama.cpp, SGLang and OpenAI.
func TestTokensOfManyServers(t *testing.T) {
	t.Parallel()
	minusInf := float32(math.Inf(-1))
	for name, c := range map[string]struct {
		body string
		want Tokens
	}{
		"vLLM": {
			`{"prompt_token_ids":[1,2],"choices":[{"token_ids":[5,6],"logprobs":{"content":[
			{"token":"token_id:5","logprob":-0.5,"top_logprobs":[{"token":"token_id:5","logprob":-0.5},{"token":"token_id:7","logprob":-1}]},
			{"token":"token_id:6","logprob":-2,"top_logprobs":[{"token":"token_id:6","logprob":-2}]}]}}]}`,
			Tokens{[]int32{1, 2}, []int32{5, 6}, []float32{-0.5, -2}, 2, []int32{5, 7, 6, -1}, []float32{-0.5, -1, -2, minusInf}},
		},
		"llama.cpp": {
			`{"choices":[{"logprobs":{"content":[{"id":9,"token":"a","logprob":-1,"top_logprobs":[{"id":9,"token":"a","logprob":-1}]}]}}]}`,
			Tokens{nil, []int32{9}, []float32{-1}, 1, []int32{9}, []float32{-1}},
		},
		"texts alone": {
			`{"choices":[{"logprobs":{"content":[{"token":"token_id:x","logprob":-1,"top_logprobs":[{"token":"b","logprob":-3}]}]}}]}`,
			Tokens{nil, nil, []float32{-1}, 1, []int32{-1}, []float32{-3}},
		},
		"nothing":         {`{"choices":[{"logprobs":null}]}`, Tokens{}},
		"no ids of these": {`{"prompt_token_ids":["1",-2,1e300],"choices":[{"token_ids":[true]}]}`, Tokens{Prompt: []int32{-1, -1, -1}}},
	} {
		if diff := cmp.Diff(c.want, ReadTokens([]byte(c.body))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		stripped := WithoutTokens([]byte(c.body))
		if tokens := ReadTokens(stripped); tokens.IDs != nil || tokens.LogProbs != nil || tokens.Prompt != nil || !gjson.ValidBytes(stripped) {
			t.Errorf("%s: %s", name, stripped)
		}
	}
}

// TestJoinStreamKeepsTokens joins the tokens of a server that only streams.
func TestJoinStreamKeepsTokens(t *testing.T) {
	t.Parallel()
	stream := `data: {"prompt_token_ids":[1],"choices":[{"delta":{"content":"a"},"token_ids":[5],"logprobs":{"content":[{"token":"token_id:5","logprob":-1}]}}]}

data: {"choices":[{"delta":{"content":"b"},"token_ids":[6,7],"logprobs":{"content":[{"token":"token_id:6","logprob":-2},{"token":"token_id:7","logprob":-3}]},"finish_reason":"stop"}]}

data: [DONE]
`
	got := ReadTokens(JoinStream([]byte(stream)))
	if diff := cmp.Diff(Tokens{Prompt: []int32{1}, IDs: []int32{5, 6, 7}, LogProbs: []float32{-1, -2, -3}}, got); diff != "" {
		t.Error(diff)
	}
}

// TestKeepAddsFields checks that a request has the fields for tokens only with the option, and that
// replies may then be longer.
func TestKeepAddsFields(t *testing.T) {
	t.Parallel()
	plain := NewTemplate("m", "s", Sampling{}, nil)
	asks := func(t *Template) string { return string(slices.Concat(t.Request(Conversation{}, 1)...)) }
	with := asks(plain.WithTokens(Keep{Tokens: true, Top: 5}))
	if !gjson.Valid(with) || gjson.Get(with, "top_logprobs").Int() != 5 || !gjson.Get(with, "return_token_ids").Bool() || strings.Contains(asks(plain), "logprobs") {
		t.Errorf("%s\n%s", with, asks(plain))
	}
	for k, want := range map[Keep]int64{{}: MaxChat, {Tokens: true}: MaxChat + 100*2*128, {Tokens: true, Top: 1 << 20}: 64 << 20} {
		if got := k.MaxReply(100); got != want {
			t.Errorf("%+v: %d, want %d", k, got, want)
		}
	}
}
