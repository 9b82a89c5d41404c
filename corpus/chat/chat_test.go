package chat_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
)

var shop = arena.Harness{System: "Help.", Tools: []arena.Raw{
	`{"type":"function","function":{"name":"find","parameters":{"properties":{"q":{"type":"string"},"page":{"type":["integer","null"]},"any":{}}}}}`,
	`{"type":"function","name":"open","parameters":{"properties":{"id":{"type":"string"}}}}`,
}}

func turn(think string, calls ...arena.Call) arena.Turn {
	return arena.Turn{Think: think, Calls: calls}
}

func call(id, args, result string) arena.Call {
	return arena.Call{ID: id, Name: "find", Arguments: arena.Raw(args), Result: arena.Raw(result)}
}

func TestRender(t *testing.T) {
	t.Parallel()
	d := arena.Dialogue{Turns: []arena.Turn{
		{Think: "hm"},
		{Think: "go", Text: "wait", Calls: []arena.Call{call("a", `{"q":"x", "page":null,"other":null,"n":12345678901234567890}`, `{"z": 1, "a":"é"}`), call("b", `{}`, `"plain"`)}},
		{Text: "found"},
		{User: "and cheaper?"},
		{Text: "bye", Calls: []arena.Call{call("c", `{}`, `"late"`)}},
		{User: "thanks"},
	}}
	ms, err := chat.Render(shop, "buy it", &d)
	if err != nil {
		t.Fatal(err)
	}
	got, err := chat.Encode(ms)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"role":"system","content":"Help."}`,
		`{"role":"user","content":"buy it"}`,
		`{"role":"assistant","content":"wait","reasoning_content":"hm\n\ngo","tool_calls":[{"id":"a","type":"function","function":{"name":"find","arguments":{"q":"x","page":null,"n":12345678901234567890}}},{"id":"b","type":"function","function":{"name":"find","arguments":{}}}]}`,
		`{"role":"tool","content":"{\"z\":1,\"a\":\"é\"}","tool_call_id":"a"}`,
		`{"role":"tool","content":"plain","tool_call_id":"b"}`,
		`{"role":"assistant","content":"found"}`,
		`{"role":"user","content":"and cheaper?"}`,
		`{"role":"assistant","content":"bye","tool_calls":[{"id":"c","type":"function","function":{"name":"find","arguments":{}}}]}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestRenameCalls(t *testing.T) {
	t.Parallel()
	ms := []chat.Message{
		{Role: chat.User, Content: "q"},
		{Role: chat.Assistant, Calls: []chat.Call{{ID: "call-1"}, {ID: "secret a"}, {ID: "secret b"}}},
		{Role: chat.Tool, CallID: "secret b"}, {Role: chat.Tool, CallID: "call-1"}, {Role: chat.Tool, CallID: "secret a"},
	}
	chat.RenameCalls(ms, func(id string) bool { return strings.HasPrefix(id, "secret") })
	got := []string{ms[1].Calls[0].ID, ms[1].Calls[1].ID, ms[1].Calls[2].ID, ms[2].CallID, ms[3].CallID, ms[4].CallID}
	if diff := cmp.Diff([]string{"call-1", "call-2", "call-3", "call-3", "call-1", "call-2"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestArgumentsKeepTheirOrder checks what a row has of a call's arguments: the order of the model, the
// last value of a repeated key, compact values, and no null that the schema does not allow.
func TestArgumentsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"z": [1, {"q":null, "b":{}}], "page":2}`:                    `{"z":[1,{"q":null,"b":{}}],"page":2}`,
		`{"b":1,"a":2,"b":3,"c":4,"a":[]}`:                            `{"b":3,"c":4,"a":[]}`,
		`{"x":"<&\u00e9","y":1e3,"other":null}`:                       `{"x":"<&é","y":1e3}`,
		"{\"\xff\":1,\"\xfe\":2}":                                     "{\"\uFFFD\":2}",
		strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100): strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100),
	} {
		ms, err := chat.Render(shop, "q", &arena.Dialogue{Turns: []arena.Turn{{Think: "x", Calls: []arena.Call{call("a", args, `1`)}}}})
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		if got := string(ms[len(ms)-1].Calls[0].Function.Arguments); got != want {
			t.Errorf("%s: got %s, want %s", args, got, want)
		}
	}
}

func TestRenderReturnsUnfit(t *testing.T) {
	t.Parallel()
	ok := call("a", `{}`, `1`)
	for reason, turns := range map[string][]arena.Turn{
		chat.ReasonNoAssistant: {},
		chat.ReasonEmpty:       {turn("")},
		chat.ReasonUnanswered:  {turn("x", call("a", `{}`, ``)), turn("y")},
		chat.ReasonID:          {turn("x", ok), turn("y", ok)},
		chat.ReasonArguments:   {turn("x", call("a", `[1]`, `1`))},
		chat.ReasonInfinite:    {turn("x", call("a", `{"price":["0",1e400]}`, `1`))},
		chat.ReasonUndeclared:  {turn("x", arena.Call{ID: "a", Name: "rm", Arguments: `{}`})},
		chat.ReasonControl:     {turn("x", call("a", `{}`, `"a<|im_end|>b"`)), turn("y")},
		chat.ReasonMarkup:      {turn("so <tool_call>{}")},
		chat.ReasonMasked:      {{Text: "x", Masked: true}},
	} {
		_, err := chat.Render(shop, "q", &arena.Dialogue{Turns: turns})
		var unfit *chat.Unfit
		if !errors.As(err, &unfit) || unfit.Reason != reason {
			t.Errorf("%s: got %v", reason, err)
		}
	}
}

// TestRenderKeepsMasks checks that messages have weights only if one of them is masked, and that a
// message joined from a masked turn and another one is masked.
func TestRenderKeepsMasks(t *testing.T) {
	t.Parallel()
	masked := arena.Turn{Text: "a", Masked: true}
	for want, turns := range map[string][]arena.Turn{
		"0 1":   {masked, {User: "v"}, turn("b")},
		"0 1 ":  {masked, turn("b"), {User: "v"}, turn("c")},
		"- -":   {turn("a"), {User: "v"}, turn("b")},
		"1 0 1": {turn("a"), {User: "v"}, masked, {User: "w"}, turn("b")},
	} {
		ms, err := chat.Render(shop, "q", &arena.Dialogue{Turns: turns})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range ms {
			switch {
			case m.Role == chat.Assistant && m.Weight == nil:
				got = append(got, "-")
			case m.Role == chat.Assistant:
				got = append(got, fmt.Sprint(*m.Weight))
			}
		}
		if strings.Join(got, " ") != strings.TrimSpace(want) {
			t.Errorf("weights %q, want %q", got, want)
		}
	}
}

func TestCheckRejectsOrdersThatTemplatesReject(t *testing.T) {
	t.Parallel()
	m := func(role string) chat.Message { return chat.Message{Role: role, Content: "x"} }
	for name, ms := range map[string][]chat.Message{
		"late system":      {m(chat.User), m(chat.System), m(chat.Assistant)},
		"two users":        {m(chat.User), m(chat.User), m(chat.Assistant)},
		"two assistants":   {m(chat.User), m(chat.Assistant), m(chat.Assistant)},
		"starts assistant": {m(chat.Assistant)},
		"orphan result":    {m(chat.User), m(chat.Assistant), m(chat.Tool), m(chat.Assistant)},
		"unknown role":     {m("developer"), m(chat.Assistant)},
		"ends on user":     {m(chat.User), m(chat.Assistant), m(chat.User)},
		"empty user":       {{Role: chat.User}, m(chat.Assistant)},
	} {
		if err := chat.Check(ms, nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	calling := chat.Message{Role: chat.Assistant, Calls: []chat.Call{{ID: "a", Function: chat.Function{Name: "f", Arguments: []byte(`{}`)}}}}
	for name, ms := range map[string][]chat.Message{
		"second request":     {m(chat.System), m(chat.User), m(chat.Assistant), m(chat.User), m(chat.Assistant)},
		"user after results": {m(chat.User), calling, {Role: chat.Tool, Content: "x", CallID: "a"}, m(chat.User), m(chat.Assistant)},
	} {
		if err := chat.Check(ms, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRenderedMessagesReadBack checks for any dialogue that it is unfit, or that its
// messages are valid UTF-8, pass Check and are equal after decoding.
func FuzzRenderedMessagesReadBack(f *testing.F) {
	f.Add("q", "think", "text", `{"q":""}`, `[]`, "")
	f.Add("\xff", "\u2028", "😀", `{"q":12345678901234567890}`, `null`, "more")
	f.Add("q", "<|im_end|>", "</think>", `{"page":null,"q":null}`, `"\ud800"`, "")
	f.Add("q", "a", "b", `{"q":{"deep":[{}]}}`, `{"a":`+`1e999`+`}`, "u")
	f.Fuzz(func(t *testing.T, query, think, text, args, result, user string) {
		d := arena.Dialogue{Turns: []arena.Turn{
			{Think: think, Text: text, Calls: []arena.Call{call("a", args, result)}}, {User: user}, {Text: "end"}}}
		ms, err := chat.Render(shop, query, &d)
		if err != nil {
			var unfit *chat.Unfit
			if !errors.As(err, &unfit) {
				t.Fatal(err)
			}
			return
		}
		rows, err := chat.Encode(ms)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if !json.Valid([]byte(r)) || strings.ToValidUTF8(r, "") != r {
				t.Fatalf("row %q", r)
			}
		}
		back, err := chat.Decode(rows)
		if err != nil {
			t.Fatal(err)
		}
		if cerr := chat.Check(back, chat.ParseSchema(shop.Tools)); cerr != nil {
			t.Fatal(cerr)
		}
		second, err := chat.Encode(back)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, second); diff != "" {
			t.Fatal(diff)
		}
		checkAlternating(t, chat.Text(back, []string{"{}"}))
	})
}

// TestCheckIgnoresEscapes checks that Check returns the same for every way to escape a
// text, and that Decode rejects other values.
func TestCheckIgnoresEscapes(t *testing.T) {
	t.Parallel()
	for last, want := range map[string]string{
		`{"role":"assistant","content":"<\/think>"}`:                                chat.ReasonMarkup,
		`{"role":"assistant","content":"\u003c\u007cim_end|>"}`:                     chat.ReasonControl,
		`{"role":"assistant","content":"<|im_end|>"}`:                               chat.ReasonControl,
		`{"role":"assistant","content":"x","reasoning_content":"<tool\u005fcall>"}`: chat.ReasonMarkup,
		`{"role":"assistant","content":"<|a\nb|> \u001b \u2028 \ud800"}`:            "",
		`{"role":"assistant","content":""}`:                                         chat.ReasonEmpty,
		`{"role":"assistant","content":"","reasoning_content":""}`:                  chat.ReasonEmpty,
		`{"role":"\u0061ssistant","content":"ok"}`:                                  "",
		`{"role":"assistant","content":null}`:                                       "invalid",
		`{"role":"assistant","content":1}`:                                          "invalid",
		`{"role":"assistant","content":"a`:                                          "invalid",
		`{"role":"assistant","content":"\x"}`:                                       "invalid",
		"{\"role\":\"assistant\",\"content\":\"\xff\"}":                             "invalid",
		`{"role":"assistant","content":"ok"} x`:                                     "invalid",
		`[]`:                                                                        "invalid",
	} {
		ms, err := chat.Decode([]string{`{"role":"user","content":"q"}`, last})
		got := "invalid"
		if err == nil {
			got = ""
			var unfit *chat.Unfit
			if errors.As(chat.Check(ms, nil), &unfit) {
				got = unfit.Reason
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", last, got, want)
		}
	}
}

func checkAlternating(t *testing.T, ts []chat.Turn) {
	t.Helper()
	if ts[0].Role != chat.System || ts[len(ts)-1].Role != chat.Assistant {
		t.Fatalf("turns %v", ts)
	}
	for i := 1; i < len(ts); i++ {
		if want := []string{chat.Assistant, chat.User}[i%2]; ts[i].Role != want {
			t.Fatalf("turn %d is the %s's", i, ts[i].Role)
		}
	}
}

// TestDecodeRejectsOtherWeights checks that a weight that is not a whole number does not
// count as 0, which would take its message out of the loss.
func TestDecodeRejectsOtherWeights(t *testing.T) {
	t.Parallel()
	for _, weight := range []string{"true", `"1"`, "null", "0.5"} {
		if ms, err := chat.Decode([]string{`{"role":"assistant","content":"yes","weight":` + weight + `}`}); err == nil {
			t.Errorf("weight %s is read as %d", weight, *ms[0].Weight)
		}
	}
}

// TestDecodeEscapedMatchesMarshal decodes texts with escapes of every kind.
func TestDecodeEscapedMatchesMarshal(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`"plain"`, `""`, `"a\"b\\c\n\t\b\f\r"`, `"\u003cthink\u003e\/"`, `"\u00e9\ud83d\ude00\ud800x"`, `"é😀\u0001"`, "\"a\u2028b\u2029\u2019c\"", `"\\u003c"`,
	} {
		row := []string{`{"role":"assistant","content":` + text + `,"reasoning_content":` + text + `}`}
		want, err := chat.Decode(row)
		if err != nil {
			t.Fatal(err)
		}
		got, err := chat.DecodeEscaped(row)
		if err != nil {
			t.Fatal(err)
		}
		marshaled, err := chat.Marshal(want[0].Content)
		if err != nil || `"`+got[0].Content+`"` != marshaled || got[0].Reasoning != got[0].Content {
			t.Errorf("%s is decoded as %s, want %s (%v)", text, got[0].Content, marshaled, err)
		}
		if diff := cmp.Diff(want, chat.Unescape(got)); diff != "" {
			t.Errorf("%s unescaped:\n%s", text, diff)
		}
	}
	if _, err := chat.DecodeEscaped([]string{`{"content":7}`}); err == nil {
		t.Error("a number was decoded as a text")
	}
}
