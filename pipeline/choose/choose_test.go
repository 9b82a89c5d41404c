package choose_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

func signed(text string) *minhash.Packed {
	signature := minhash.Sign(text)
	packed := signature.Pack()
	return &packed
}

func TestEachDroppedRowHasItsReason(t *testing.T) {
	t.Parallel()
	red := signed("find the red mug and recommend it at once")
	blue := signed("look at every blue lamp in the shop before one is taken")
	thin := choose.Thinner{Near: 0.8, PerRequest: 2, PerAgent: 3, FullReason: "beyond_top"}
	for _, tt := range []struct {
		reason string
		row    choose.Row
		want   string
	}{
		{"the best stays", choose.Row{Key: "1", Request: "mug", Agents: []string{"a"}, Completion: red}, ""},
		{"a copy", choose.Row{Key: "1", Request: "lamp", Agents: []string{"a"}, Completion: blue}, choose.ReasonCopy},
		{"nearly the same at one request", choose.Row{Key: "2", Request: "mug", Completion: red}, choose.ReasonNear},
		{"the same at another request", choose.Row{Key: "3", Request: "lamp", Agents: []string{"a"}, Completion: red}, ""},
		{"something else", choose.Row{Key: "4", Request: "mug", Agents: []string{"a"}, Completion: blue}, ""},
		{"one too many of a request", choose.Row{Key: "5", Request: "mug", Completion: signed("a third way of doing this")}, "beyond_top"},
		{"full and near", choose.Row{Key: "6", Request: "mug", Completion: blue}, choose.ReasonNear},
		{"one too many of an agent", choose.Row{Key: "7", Request: "bag", Agents: []string{"b", "a"}}, choose.ReasonAgent},
		{"nothing that a model did", choose.Row{Key: "8", Request: "bag"}, ""},
		{"nor here", choose.Row{Key: "9", Request: "bag"}, ""},
	} {
		if got := thin.Offer(&tt.row); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
		}
	}
}

func TestScarcestSourceIsUsedFully(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		rows    []int
		weights []float64
		want    []int
	}{
		{[]int{10, 30}, []float64{1, 1}, []int{10, 10}},
		{[]int{9, 100}, []float64{0.75, 0.25}, []int{9, 3}},
		{[]int{5, 0}, []float64{1, 1}, []int{0, 0}},
		{[]int{5, 0}, []float64{1, 0}, []int{5, 0}},
	} {
		var rows []*choose.Row
		for source, n := range tt.rows {
			for range n {
				rows = append(rows, &choose.Row{Source: source, Tokens: 7})
			}
		}
		choose.TrimToWeights(rows, tt.weights, "over_weight")
		got := make([]int, len(tt.rows))
		for _, r := range rows {
			if r.Reason == "" {
				got[r.Source]++
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v weighed %v: %s", tt.rows, tt.weights, diff)
		}
	}
}

func TestFunnelLosesNothing(t *testing.T) {
	t.Parallel()
	got, err := choose.Funnel([]string{"read", "rank"}, slices.Values([]choose.Decision{{}, {Stage: "read", Reason: "broken", Failed: true}, {Stage: "rank", Reason: "near"}, {Stage: "rank", Reason: "near"}}))
	want := []corpus.Stage{
		{Name: "read", In: 4, Failed: 1, Out: 3, Dropped: map[string]int64{}, Failures: map[string]int64{"broken": 1}},
		{Name: "rank", In: 3, Out: 1, Dropped: map[string]int64{"near": 2}, Failures: map[string]int64{}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
	if _, err := choose.Funnel([]string{"read"}, slices.Values([]choose.Decision{{Stage: "guard"}})); err == nil {
		t.Error("a record left at a stage that is none")
	}
}
