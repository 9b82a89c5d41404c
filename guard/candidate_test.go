package guard

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard/rows"
)

func TestNewCandidate(t *testing.T) {
	t.Parallel()
	got := NewCandidate("s1", "a lamp", []arena.Turn{
		{User: "You are a shopper."}, {User: "a lamp"},
		{Think: "Which?", Calls: []arena.Call{{Name: "find_product", Arguments: `{"q":"lamp"}`}}},
		{User: "a red one"}, {User: "<obs>[]</obs>"}, {User: "<tool_response>\n1\n</tool_response>\nin blue"},
		{Text: "This.", Calls: []arena.Call{{Name: "recommend_product", Arguments: `{"product_ids":"[\"0123456789\"]"}`}}},
	}, "555")
	want := Candidate{
		ID: "s1", Text: "a lamp", Context: []string{"You are a shopper.", "a red one", "in blue"},
		Answers: []string{"Which?", "find_product", `{"q":"lamp"}`, "This.", "recommend_product", `{"product_ids":"[\"0123456789\"]"}`},
		ItemIDs: []string{"555", "0123456789"},

		Conversation: []string{"You are a shopper.", "a lamp", "a red one", "in blue"},
		Results:      []string{"1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadCandidate(t *testing.T) {
	t.Parallel()
	got, err := ReadCandidate(rows.Row{JSON: `{"id":"r1","messages":[{"role":"system","content":"Help."},{"role":"user","content":"a lamp"},` +
		`{"role":"assistant","content":"This."}],"product_ids":"[\"0123456789\"]"}`})
	want := Candidate{ID: "r1", Text: "a lamp", Context: []string{"Help."}, Answers: []string{"This."}, ItemIDs: []string{"0123456789"},
		Metadata: []string{"0123456789"}, Conversation: []string{"Help.", "a lamp"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := ReadCandidate(rows.Row{JSON: `{"id":"r1"}`}); err == nil {
		t.Error("a row without text is a candidate")
	}
}
