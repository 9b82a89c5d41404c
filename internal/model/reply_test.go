package model

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trajectory-arena/arena"
)

func TestReadRepliesOfManyServers(t *testing.T) {
	t.Parallel()
	calls := func(arguments string) []Call {
		return []Call{{ID: "c1", Type: "function", Function: Function{Name: "find_product", Arguments: arguments}}}
	}
	for body, want := range map[string]Reply{
		`{"content":"hello"}`: {Content: "hello"},
		`{"content":null}`:    {},
		`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`:                     {Content: "ab"},
		`{"content":"","reasoning_content":"hm"}`:                                                 {Reasoning: "hm"},
		`{"content":"","reasoning":"hm"}`:                                                         {Reasoning: "hm"},
		`{"content":"","reasoning_content":"","reasoning":{"effort":"low"}}`:                      {},
		`{"content":null,"refusal":"No."}`:                                                        {Refusal: "No."},
		`{"tool_calls":[{"id":"c1","function":{"name":"find_product","arguments":"{\"q\":1}"}}]}`: {Calls: calls(`{"q":1}`)},
		`{"tool_calls":[{"id":"c1","function":{"name":"find_product","arguments":{"q":1}}}]}`:     {Calls: calls(`{"q":1}`)},
		`{"tool_calls":null}`: {},
		`{"content":null,"function_call":{"name":"find_product","arguments":"{\"q\":1}"}}`:                                     {Calls: []Call{{Type: "function", Function: Function{Name: "find_product", Arguments: `{"q":1}`}}}},
		`{"function_call":{"name":"x"},"tool_calls":[{"id":"c1","function":{"name":"find_product","arguments":"{\"q\":1}"}}]}`: {Calls: calls(`{"q":1}`)},
		`{"content":"hi","function_call":null}`: {Content: "hi"},
	} {
		want.Finish = "stop"
		got, err := ReadTurn([]byte(`{"choices":[{"finish_reason":"stop","message":` + body + `}]}`))
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Reply{})); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", body, err, diff)
		}
	}
}

func TestImplausibleUsageIsNil(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]*Usage{
		`{"prompt_tokens":12,"completion_tokens":3}`: {Prompt: 12, Completion: 3},
		`{"completion_tokens":3}`:                    {Completion: 3},
		`{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":8}}`:  {Prompt: 12, Cached: 8, Completion: 3},
		`{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":80}}`: {Prompt: 12, Cached: 12, Completion: 3},
		`{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":-8}}`: {Prompt: 12, Completion: 3},
		`{"prompt_tokens":null,"completion_tokens":null}`:                                         {},
		`{"prompt_tokens":12}`: {Prompt: 12},
		`null`:                 nil,
		`[]`:                   nil,
		`{"prompt_tokens":-1,"completion_tokens":3}`:                       nil,
		`{"prompt_tokens":12,"completion_tokens":-3}`:                      nil,
		`{"prompt_tokens":12,"completion_tokens":4611686018427387904}`:     nil,
		`{"prompt_tokens":18446744073709551628,"completion_tokens":3}`:     nil,
		`{"prompt_tokens":12,"completion_tokens":1e300}`:                   nil,
		`{"prompt_tokens":"NaN","completion_tokens":"3"}`:                  nil,
		`{"prompt_tokens":"-9223372036854775809","completion_tokens":"3"}`: nil,
	} {
		got, err := ReadTurn([]byte(`{"choices":[{"message":{"content":""}}],"usage":` + usage + `}`))
		if diff := cmp.Diff(want, got.Usage); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", usage, err, diff)
		}
	}
}

func TestReadRejectsOtherJSON(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `<html>busy</html>`, `{"choices":[]}`, `{"choices":[{}]}`, `{"choices":[{"message":"hi"}]}`, `{"choices":[{"message":{"content":"cut`, `{"error":{"message":"busy"}}`, `null`,
		`{"choices":[{"finish_reason":"abort","message":{"content":""}}]}`, `{"choices":[{"finish_reason":"error","message":{"content":"I wo"}}]}`} {
		if r, err := ReadTurn([]byte(body)); err == nil {
			t.Errorf("%s is read as %+v", body, r)
		}
	}
}

func TestValidateRejectsBadSampling(t *testing.T) {
	t.Parallel()
	for _, s := range []Sampling{{}, {Temperature: new(0.0), TopP: new(1.0), MinP: new(0.0), TopK: new(-1), MaxTokens: new(1)}} {
		if err := s.Validate(); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	wrong := Sampling{Temperature: new(math.Inf(1)), TopP: new(1.01), MinP: new(math.NaN()), TopK: new(-2), MaxTokens: new(0)}
	for _, want := range []string{"temperature", "top_p", "min_p", "top_k", "max_tokens"} {
		if err := wrong.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %s", err, want)
		}
	}
}

// TestRequestHasTemplateAndConversation checks the order of a request's fields: the prefix cache of
// a server works as long as a request begins with the same bytes as the one before.
func TestRequestHasTemplateAndConversation(t *testing.T) {
	t.Parallel()
	warm := 0.7
	few := 64
	template := NewTemplate(`a "model"`, "You shop.", Sampling{Temperature: &warm, MaxTokens: &few}, []arena.Raw{arena.Raw(`{"type":"function"}`)})
	first := Conversation{}.Append(Turn{Role: "user", Content: "<a> & b\u2028"})
	second := first.Append(Turn{Role: "tool", Content: "{}", CallID: "c1"})
	one := bytes.Join(template.Request(first, 7), nil)
	two := bytes.Join(template.Request(second, 8), nil)
	if shared := strings.TrimSuffix(string(one[:strings.Index(string(one), `],"tools"`)]), "]"); !strings.HasPrefix(string(two), shared) {
		t.Errorf("the second request does not begin as the first: %s", two)
	}
	var request struct {
		Model       string
		Messages    []Turn
		Tools       []json.RawMessage
		Temperature float64
		MaxTokens   int `json:"max_tokens"`
		Seed        int64
		Stream      *bool
	}
	if err := json.Unmarshal(two, &request); err != nil {
		t.Fatal(err)
	}
	if request.Model != `a "model"` || len(request.Messages) != 3 || request.Messages[0].Role != "system" || request.Messages[0].Content != "You shop." || request.Messages[1].Content != "<a> & b\u2028" || len(request.Tools) != 1 ||
		request.Temperature != warm || request.MaxTokens != few || request.Seed != 8 || request.Stream == nil || *request.Stream {
		t.Errorf("sent %+v", request)
	}
}

func TestOverflowIsRecognized(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"error":{"code":"context_length_exceeded"}}`:                               true,
		`{"message":"This model's maximum context length is 4096 tokens. However…"}`: true,
		`Input is too long for requested `:                                           true,
		"Input validation error: `inputs` must have less than 4096 tokens. Given: 5": true,
		`{"error":{"message":"unknown parameter min_p"}}`:                            false,
		``: false,
	} {
		if got := mentionsOverflow(400, []byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}

// FuzzReadTurnCanBeSentBack holds that a turn read from any reply can be sent in a conversation, as
// JSON.
func FuzzReadTurnCanBeSentBack(f *testing.F) {
	f.Add([]byte(`{"choices":[{"finish_reason":null,"message":{"content":[{"text":"a\u0000"},1],"tool_calls":[{"function":{"arguments":[1]}},null,7]}}],"usage":{"completion_tokens":1e99}}`))
	f.Add([]byte("{\"choices\":[{\"message\":{\"content\":\"\xff\"}}]}"))
	f.Add([]byte(`{"choices":{"0":{"message":{}}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := ReadTurn(body)
		if err != nil {
			return
		}
		for returned := range OnlyStandard + 1 {
			c := Conversation{}.AppendReply(r, r.Calls, returned)
			if !json.Valid(c.later[1:]) || !utf8.Valid(c.later) {
				t.Fatalf("%s", c.later)
			}
			if again := c.Returning(returned); len(r.Calls) <= MaxCalls && !again.Equal(c) {
				t.Fatalf("%s\n%s", c.later, again.later)
			}
		}
	})
}

// TestStreamedCallsAreJoined checks a stream in which names and arguments of several calls arrive
// in pieces.
func TestStreamedCallsAreJoined(t *testing.T) {
	t.Parallel()
	stream := ""
	for _, delta := range []string{
		`{"reasoning":"hm"}`,
		`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"find_product","arguments":""}}]}`,
		`{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\":"}}]}`,
		`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}},{"index":1,"id":"b","function":{"name":"terminate","arguments":"{}"}}]}`,
	} {
		stream += `data: {"choices":[{"delta":` + delta + "}]}\n\n"
	}
	stream += `data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}` + "\n\ndata: [DONE]\n\n"
	got, err := ReadTurn(JoinStream([]byte(stream)))
	want := Reply{Reasoning: "hm", Finish: "tool_calls", Usage: &Usage{Prompt: 3, Completion: 4}, Calls: []Call{
		{"a", "function", Function{"find_product", `{"q":1}`}}, {"b", "function", Function{"terminate", "{}"}},
	}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Reply{})); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}
