package rows_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
)

func TestMessageTurnsAndTextTurns(t *testing.T) {
	t.Parallel()
	row := rows.SFT{Messages: []string{
		`{"role":"system","content":"Help."}`, `{"role":"user","content":"a lamp"}`,
		`{"role":"assistant","content":"","reasoning_content":"Hm.","tool_calls":[{"id":"1","type":"function","function":{"name":"find_product","arguments":{"q":"lamp"}}}]}`,
		`{"role":"tool","content":"[]","tool_call_id":"1"}`, `{"role":"assistant","content":"None."}`,
	}}
	messages, err := chat.Decode(row.Messages)
	got := rows.MessageTurns(messages)
	want := []arena.Turn{
		{User: "Help."}, {User: "a lamp"},
		{Think: "Hm.", Calls: []arena.Call{{ID: "1", Name: "find_product", Arguments: `{"q":"lamp"}`}}},
		{User: "<tool_response>\n[]\n</tool_response>"}, {Text: "None."},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	prompt := []rows.Msg{{Role: "system", Content: "Help."}, {Role: "user", Content: "a lamp"}, {Role: "user", Content: "red"}}
	if got := rows.Request(prompt); got != "a lamp" {
		t.Errorf("request %q", got)
	}
	completion := []rows.Msg{{Role: "assistant", Content: "This."}, {Role: "tool", Content: "x"}}
	want = []arena.Turn{{User: "Help."}, {User: "a lamp"}, {User: "red"}, {Text: "This."}}
	if diff := cmp.Diff(want, rows.TextTurns(prompt, completion)); diff != "" {
		t.Error(diff)
	}
}
