package steps_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/shop/steps"
)

func TestLabelsFollowTheRecommendation(t *testing.T) {
	t.Parallel()
	search := arena.Call{Name: "find_product", Arguments: `{"q":"mug"}`, Result: `[{"product_id":"71001"},{"product_id":"71002"}]`}
	other := arena.Call{Name: "find_product", Arguments: `{"q":"lamp"}`, Result: `[{"product_id":"80001"}]`}
	view := arena.Call{Name: "view_product_information", Arguments: `{"product_ids":"71001"}`, Result: `[{"product_id":"71001"}]`}
	viewOther := arena.Call{Name: "view_product_information", Arguments: `{"product_ids":"71002"}`, Result: `[{"product_id":"71002"}]`}
	total := arena.Call{Name: "calculate_voucher", Arguments: `{"product_prices":"12"}`, Result: `{"total_after":10}`}
	pick := arena.Call{Name: "recommend_product", Arguments: `{"product_ids":"71001"}`, Result: `"ok"`}
	pickOther := arena.Call{Name: "recommend_product", Arguments: `{"product_ids":"71002"}`, Result: `"ok"`}
	end := arena.Call{Name: "terminate", Arguments: `{}`, Result: `"ok"`}
	lost := arena.Call{Name: "find_product", Arguments: `{"q":"cup"}`}
	choose := arena.Call{Name: "click", Arguments: `{"value":"navy"}`, Result: `"navy was chosen"`}
	find := arena.Call{Name: "search", Arguments: `{"keywords":"mug"}`, Result: `[{"product_id":"71001"}]`}

	tests := []struct {
		name  string
		turns [][]arena.Call
		want  []steps.Reason
		need  string // n for needed, w for waste, u for unclear
	}{
		{"straight", [][]arena.Call{{search}, {view}, {pick, end}},
			[]steps.Reason{steps.Returned, steps.Opened, steps.Recommended}, "nnn"},
		{"detours", [][]arena.Call{{other}, {search}, {search}, {viewOther}, {pick}, {end}, {view}},
			[]steps.Reason{steps.Missed, steps.Returned, steps.Repeated, steps.Missed, steps.Recommended, steps.Ended, steps.AfterEnd},
			"wnwwnnw"},
		{"second thoughts", [][]arena.Call{{search}, {pickOther}, {pick}},
			[]steps.Reason{steps.Returned, steps.Superseded, steps.Recommended}, "nwn"},
		{"the total before the pick", [][]arena.Call{{search}, {total}, {pick}, {lost}},
			[]steps.Reason{steps.Returned, steps.Checked, steps.Recommended, steps.Unanswered}, "nnnw"},
		{"only thinking", [][]arena.Call{{}, {search}, {pick}},
			[]steps.Reason{steps.NoCall, steps.Returned, steps.Recommended}, "wnn"},
		{"nothing recommended", [][]arena.Call{{search}, {end}},
			[]steps.Reason{steps.NoGoal, steps.NoGoal}, "uu"},
		{"nothing recommended, and only thinking", [][]arena.Call{{}, {search}},
			[]steps.Reason{steps.NoGoal, steps.NoGoal}, "uu"},
		{"a tool of another shop", [][]arena.Call{{search}, {choose}, {choose, search}, {choose, view}, {pick}, {end}, {choose}},
			[]steps.Reason{steps.Returned, steps.UnknownTool, steps.UnknownTool, steps.Opened, steps.Recommended, steps.Ended, steps.AfterEnd}, "nuunnnw"},
		{"a search of another name", [][]arena.Call{{find}, {pick}},
			[]steps.Reason{steps.Returned, steps.Recommended}, "nn"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var d arena.Dialogue
			trace := &arena.Trace{}
			for i, calls := range test.turns {
				d.Turns = append(d.Turns, arena.Turn{Step: i, Calls: calls})
				trace.Steps = append(trace.Steps, arena.Step{Number: i + 1})
			}
			var reasons []steps.Reason
			need := ""
			for i, l := range steps.Judge(trace, &d).Steps {
				if l.Step != i+1 {
					t.Errorf("label %d is of step %d", i, l.Step)
				}
				reasons = append(reasons, steps.Reason(l.Reason))
				need += string(l.Need[:1])
			}
			if diff := cmp.Diff(test.want, reasons); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.need, need); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestASecondLookAtAKnownProductIsWaste(t *testing.T) {
	t.Parallel()
	d := &arena.Dialogue{Turns: []arena.Turn{
		{Calls: []arena.Call{{Name: "find_product", Arguments: `{"q":"a"}`, Result: `[{"product_id":"71001"}]`}}},
		{Step: 1, Calls: []arena.Call{{Name: "find_product", Arguments: `{"q":"b"}`, Result: `[{"product_id":"71001"}]`}}},
		{Step: 2, Calls: []arena.Call{{Name: "recommend_product", Arguments: `{"product_ids":"71001"}`, Result: `""`}}},
	}}
	labels := steps.Judge(&arena.Trace{}, d).Steps
	if labels[1].Need != arena.StepWaste || labels[1].Reason != string(steps.KnownOnly) || labels[1].Step != 2 {
		t.Errorf("second search: %+v", labels[1])
	}
}

func FuzzLabelsNameEveryTurn(f *testing.F) {
	f.Add("find_product", `{"q":1}`, `[{"product_id":"12345"}]`, "12345")
	f.Add("terminate", "", "", "")
	f.Fuzz(func(t *testing.T, name, arguments, result, ids string) {
		d := &arena.Dialogue{Turns: []arena.Turn{
			{Step: -1, Calls: []arena.Call{{Name: name, Arguments: arena.Raw(arguments), Result: arena.Raw(result)}}},
			{Step: 7, Calls: []arena.Call{{Name: "recommend_product", Arguments: arena.Raw(ids)}}},
		}}
		a := steps.Judge(&arena.Trace{}, d).Steps
		b := steps.Judge(&arena.Trace{}, d).Steps
		if len(a) != len(d.Turns) || !cmp.Equal(a, b) {
			t.Errorf("%d labels for %d turns", len(a), len(d.Turns))
		}
	})
}
