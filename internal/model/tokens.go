package model

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Keep is what a server is asked to say of each reply beside its words.
type Keep struct {
	// Tokens are the ids of prompt and reply, and the reply's log-probabilities.
	Tokens bool `json:"tokens,omitempty"`
	// Top is how many of the likeliest tokens at each position, 0 to MaxTop.
	Top int `json:"top_logprobs,omitempty"`
}

// MaxTop is the most that OpenAI's interface has, and vLLM's default.
const MaxTop = 20

// fields are those of a request: OpenAI's two, and vLLM's for ids, without which
// tokens are texts that do not tell them apart. Other servers pass over those.
func (k Keep) fields() string {
	if !k.Tokens {
		return ""
	}
	return `,"logprobs":true,"top_logprobs":` + strconv.Itoa(k.Top) + `,"return_token_ids":true,"return_tokens_as_token_ids":true`
}

// MostReply bounds a reply of so many tokens in bytes; 0 tokens is not known.
func (k Keep) MostReply(tokens int) int64 {
	const usual, one, most = 8 << 10, 128, 64 << 20 // tokens of a long reply, bytes of one as servers write it
	if !k.Tokens {
		return MaxChat
	}
	return min(most, MaxChat+int64(cmp.Or(tokens, usual))*int64(k.Top+2)*one)
}

// Tokens are a reply's as far as its server says. What is not said is empty.
type Tokens struct {
	// Prompt are the ids of all that the model was given, IDs those of its reply.
	Prompt, IDs []int32
	// LogProbs are those of the reply's tokens.
	LogProbs []float32
	// TopIDs and TopLogProbs have Top entries for each of them: the likeliest in
	// the server's order; where it gives fewer, the rest are -1 and minus infinity.
	Top         int
	TopIDs      []int32
	TopLogProbs []float32
}

// ReadTokens reads what a chat completion says of its tokens.
func ReadTokens(body []byte) Tokens {
	first := gjson.GetBytes(body, "choices.0")
	content := first.Get("logprobs.content").Array()
	t := Tokens{Prompt: ids(gjson.GetBytes(body, "prompt_token_ids")), IDs: ids(first.Get("token_ids"))}
	told := len(t.IDs) > 0
	for _, position := range content {
		t.LogProbs = append(t.LogProbs, float32(position.Get("logprob").Float()))
		t.Top = max(t.Top, min(len(position.Get("top_logprobs").Array()), MaxTop+1)) // vLLM adds the reply's own
		if !told {
			t.IDs = append(t.IDs, tokenID(position))
		}
	}
	for _, position := range content {
		likely := position.Get("top_logprobs").Array()
		for i := range t.Top {
			id, logP := int32(-1), float32(math.Inf(-1))
			if i < len(likely) {
				id, logP = tokenID(likely[i]), float32(likely[i].Get("logprob").Float())
			}
			t.TopIDs, t.TopLogProbs = append(t.TopIDs, id), append(t.TopLogProbs, logP)
		}
	}
	if slices.Contains(t.IDs, -1) {
		t.IDs = nil
	}
	return t
}

func ids(list gjson.Result) (all []int32) {
	for _, v := range list.Array() {
		all = append(all, wholeID(v))
	}
	return all
}

// tokenID is a token's id as vLLM writes it, token_id:N, or as llama.cpp does, id;
// -1 where only its text is given.
func tokenID(token gjson.Result) int32 {
	number, named := strings.CutPrefix(token.Get("token").String(), "token_id:")
	if n, err := strconv.ParseUint(number, 10, 31); named && err == nil {
		return int32(n)
	}
	return wholeID(token.Get("id"))
}

func wholeID(v gjson.Result) int32 {
	if n := v.Float(); v.Type == gjson.Number && n >= 0 && n <= math.MaxInt32 {
		return int32(n)
	}
	return -1
}

// WithoutTokens is a chat completion without what ReadTokens reads, which is many
// times as long as its words.
func WithoutTokens(body []byte) []byte {
	for _, path := range []string{"choices.0.logprobs", "choices.0.token_ids", "prompt_token_ids"} {
		if v := gjson.GetBytes(body, path); v.Index > 0 {
			body = slices.Concat(body[:v.Index], []byte("null"), body[v.Index+len(v.Raw):])
		}
	}
	return body
}
