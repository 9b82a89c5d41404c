package pipeline

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/judges/steps"
	"github.com/trajectory-arena/arena/shop"
)

func TestStoredBodiesReadBack(t *testing.T) {
	t.Parallel()
	stored := body{verdicts: []arena.StepVerdict{{Step: 1, Need: arena.StepNeeded, Reason: "finds it", Quote: "a mug"}, {Step: 3, Need: arena.StepWaste}}}
	stored.row.Goal, stored.row.Metadata, stored.row.Messages = "a mug", "{}", []string{`{"role":"user"}`, ""}
	stored.row.Scalars = rows.Scalars{SessionID: "r/p", NTokens: 7}
	b, err := stored.append(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readBody(b)
	if err != nil || !cmp.Equal(*got, stored, cmp.AllowUnexported(body{})) {
		t.Errorf("read %+v, %v", got, err)
	}
	for n := range b {
		if _, err := readBody(b[:n]); !errors.Is(err, errBody) {
			t.Fatalf("cut off after %d bytes: %v", n, err)
		}
	}
}

func TestLabelsAreThoseOfTheMessages(t *testing.T) {
	t.Parallel()
	harness, err := shop.Profile("7-tool")
	if err != nil {
		t.Fatal(err)
	}
	search := arena.Call{ID: "1", Name: "find_product", Arguments: `{"q":"mug"}`, Result: `[{"product_id":"71001"}]`}
	again := arena.Call{ID: "2", Name: "find_product", Arguments: `{"q":"mug"}`, Result: `[{"product_id":"71001"}]`}
	pick := arena.Call{ID: "3", Name: "recommend_product", Arguments: `{"product_ids":"71001"}`, Result: `"ok"`}
	said := func(text string, calls ...arena.Call) arena.Turn { return arena.Turn{Text: text, Calls: calls} }
	for name, tt := range map[string]struct {
		turns []arena.Turn
		want  []bool
	}{
		"one message a turn":          {[]arena.Turn{said("", search), said("", again), said("", pick)}, []bool{true, false, true}},
		"words before a call join it": {[]arena.Turn{said("I look"), said("", search), said("", pick)}, []bool{true, true}},
		"words at the end are waste":  {[]arena.Turn{said("", search), said("", pick), said("done"), said("bye")}, []bool{true, true, false}},
		"a person parts the model's words": {
			[]arena.Turn{said("hello"), {User: "go on"}, said("", search), said("", pick)}, []bool{false, true, true},
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
