package pipeline

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/judges/shop/steps"
	"github.com/trajectory-arena/arena/shop"
)

func TestLabelsAreThoseOfTheMessages(t *testing.T) {
	t.Parallel()
	harness, err := shop.Profile("7-tool")
	if err != nil {
		t.Fatal(err)
	}
	search := arena.Call{ID: "1", Name: "find_product", Arguments: `{"q":"mug"}`, Result: `[{"product_id":"71001"}]`}
	again := arena.Call{ID: "2", Name: "find_product", Arguments: `{"q":"mug"}`, Result: `[{"product_id":"71001"}]`}
	pick := arena.Call{ID: "3", Name: "recommend_product", Arguments: `{"product_ids":"71001"}`, Result: `"ok"`}
	turn := func(text string, calls ...arena.Call) arena.Turn { return arena.Turn{Text: text, Calls: calls} }
	for name, tt := range map[string]struct {
		turns []arena.Turn
		want  []bool
	}{
		"one message a turn":          {[]arena.Turn{turn("", search), turn("", again), turn("", pick)}, []bool{true, false, true}},
		"words before a call join it": {[]arena.Turn{turn("I look"), turn("", search), turn("", pick)}, []bool{true, true}},
		"words at the end are waste":  {[]arena.Turn{turn("", search), turn("", pick), turn("done"), turn("bye")}, []bool{true, true, false}},
		"a person parts the model's words": {
			[]arena.Turn{turn("hello"), {User: "go on"}, turn("", search), turn("", pick)}, []bool{false, true, true},
		},
	} {
		d := arena.Dialogue{Turns: tt.turns}
		var got []bool
		for _, v := range perMessage(steps.Judge(&arena.Trace{}, &d).Steps, &d) {
			got = append(got, v.Need == arena.StepNeeded)
		}
		if !cmp.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
		ms, err := chat.Render(harness, "a mug", &d)
		var unfit *chat.Unfit
		if err != nil && !errors.As(err, &unfit) {
			t.Fatal(err)
		}
		assistant := 0
		for _, m := range ms {
			if m.Role == chat.Assistant {
				assistant++
			}
		}
		if err != nil || assistant != len(got) {
			t.Errorf("%s: %d labels, %d messages: %v", name, len(got), assistant, err)
		}
	}
}
