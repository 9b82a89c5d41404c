package model

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Keep selects the token data that each request asks for.
type Keep struct {
	// Tokens selects the token ids of prompt and reply, and the log-probabilities of the reply.
	Tokens bool `json:"tokens,omitempty"`
	// Top is the number of most likely tokens per position, from 0 to MaxTop.
	Top int `json:"top_logprobs,omitempty"`
}

// MaxTop is the maximum of top_logprobs in OpenAI's API, and the default maximum of vLLM.
const MaxTop = 20

// fields returns the request fields that ask for token data: two of OpenAI's API, and two of
// vLLM for token ids, since different tokens can have the same text. Other servers ignore vLLM's
// fields. It returns "" if Tokens is false.
func (k Keep) fields() string {
	if !k.Tokens {
		return ""
	}
	return `,"logprobs":true,"top_logprobs":` + strconv.Itoa(k.Top) + `,"return_token_ids":true,"return_tokens_as_token_ids":true`
}

// MaxReply returns a maximum size in bytes for a reply of the given number of tokens. 0 tokens
// means that the number is unknown.
func (k Keep) MaxReply(tokens int) int64 {
	const (
		longReply     = 8 << 10 // tokens
		bytesPerToken = 128
		maxBytes      = 64 << 20
	)
	if !k.Tokens {
		return MaxChat
	}
	return min(maxBytes, MaxChat+int64(cmp.Or(tokens, longReply))*int64(k.Top+2)*bytesPerToken)
}

// Tokens is the token data of a reply. Fields that the server does not report are empty.
type Tokens struct {
	// Prompt has the token ids of the complete prompt, IDs those of the reply.
	Prompt, IDs []int32
	// LogProbs has the log-probabilities of the reply's tokens.
	LogProbs []float32
	// TopIDs and TopLogProbs have Top entries per token of the reply: the most likely tokens in
	// the server's order. A missing entry is -1 and minus infinity.
	Top         int
	TopIDs      []int32
	TopLogProbs []float32
}

// ReadTokens reads the token data of a chat completion.
func ReadTokens(body []byte) Tokens {
	choice := gjson.GetBytes(body, "choices.0")
	content := choice.Get("logprobs.content").Array()
	t := Tokens{
		Prompt: ids(gjson.GetBytes(body, "prompt_token_ids")),
		IDs:    ids(choice.Get("token_ids")),
	}
	hasIDs := len(t.IDs) > 0
	for _, position := range content {
		t.LogProbs = append(t.LogProbs, float32(position.Get("logprob").Float()))
		n := len(position.Get("top_logprobs").Array())
		t.Top = max(t.Top, min(n, MaxTop+1)) // vLLM adds the sampled token to the list
		if !hasIDs {
			t.IDs = append(t.IDs, tokenID(position))
		}
	}
	for _, position := range content {
		top := position.Get("top_logprobs").Array()
		for i := range t.Top {
			id := int32(-1)
			logProb := float32(math.Inf(-1))
			if i < len(top) {
				id = tokenID(top[i])
				logProb = float32(top[i].Get("logprob").Float())
			}
			t.TopIDs = append(t.TopIDs, id)
			t.TopLogProbs = append(t.TopLogProbs, logProb)
		}
	}
	if slices.Contains(t.IDs, -1) {
		t.IDs = nil
	}
	return t
}

func ids(list gjson.Result) (ids []int32) {
	for _, v := range list.Array() {
		ids = append(ids, intID(v))
	}
	return ids
}

// tokenID returns the id of a token. vLLM writes it as token_id:N, llama.cpp in the field id. It
// returns -1 if the server sends only the token's text.
func tokenID(token gjson.Result) int32 {
	number, hasPrefix := strings.CutPrefix(token.Get("token").String(), "token_id:")
	if n, err := strconv.ParseUint(number, 10, 31); hasPrefix && err == nil {
		return int32(n)
	}
	return intID(token.Get("id"))
}

// intID returns a JSON number as a token id. It returns -1 if v is not a number from 0 to
// 2^31-1.
func intID(v gjson.Result) int32 {
	if n := v.Float(); v.Type == gjson.Number && n >= 0 && n <= math.MaxInt32 {
		return int32(n)
	}
	return -1
}

// WithoutTokens returns a chat completion without the fields that ReadTokens reads. These are
// many times as long as the text.
func WithoutTokens(body []byte) []byte {
	for _, path := range []string{"choices.0.logprobs", "choices.0.token_ids", "prompt_token_ids"} {
		if v := gjson.GetBytes(body, path); v.Index > 0 {
			body = slices.Concat(
				body[:v.Index],
				[]byte("null"),
				body[v.Index+len(v.Raw):],
			)
		}
	}
	return body
}
