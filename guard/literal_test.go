package guard

import (
	"bytes"
	"testing"

	"github.com/trajectory-arena/arena"
)

// TestLiteralRequestsAreFoundByTheirWords checks the guard of a domain without a measured detector
// of rewordings: a repeated request is found, a similar one is not, and bank.json stores this.
func TestLiteralRequestsAreFoundByTheirWords(t *testing.T) {
	t.Parallel()
	problems := []arena.Problem{
		{ID: "a", Query: "In the repository acme/clockkit the function merge_clock drops the last of 21 lines; find the cause and mend it.", Literal: true},
		{ID: "b", Query: "In the repository acme/lampkit the function merge_lamp drops the last of 22 lines; find the cause and mend it.", Literal: true},
		{ID: "c", Query: "A red kettle of steel under 900 pesos with free shipping, please."},
	}
	clusters, err := Clusters(t.Context(), problems)
	if err != nil || len(clusters) != 3 {
		t.Fatalf("%d clusters, want one, for equal tasks: %v", len(clusters), err)
	}
	for i := range clusters {
		clusters[i].Pool = PoolEval
	}
	state := &State{Schema: StateSchema, Shares: DefaultShares(), Clusters: clusters}
	again, err := ReadState(bytes.NewReader(state.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(again.Protected("bank"), Config{})
	if err != nil {
		t.Fatal(err)
	}
	for text, drop := range map[string]bool{
		problems[0].Query:             true,
		"TASK:  " + problems[0].Query: true,
		"In the repository acme/bookkit the function merge_book drops the last of 23 lines; find its cause.": false,
		"Please, a steel kettle in red below 900 pesos, shipped for free.":                                   true,
	} {
		if f := g.Check(Candidate{Text: text}); f.Drop != drop {
			t.Errorf("%.60q: dropped %v, want %v (%s)", text, f.Drop, drop, f.Evidence)
		}
	}
	for _, k := range g.Injection(1).Kinds {
		want := 3
		if k.Kind == "reordered" || k.Kind == "rewrapped" || k.Kind == "translated" {
			want = 1
		}
		if k.Planted > want || k.Kind == "verbatim" && k.Planted != 3 {
			t.Errorf("%s: %d planted, want %d", k.Kind, k.Planted, want)
		}
	}
	if r := NewReport(g); r.Literal != 2 {
		t.Errorf("the report has %d literal problems", r.Literal)
	}
}
