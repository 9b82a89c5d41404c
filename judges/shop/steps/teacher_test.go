package steps_test

import (
	"slices"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/shop/steps"
)

func needed(verdicts []arena.StepVerdict) []bool {
	out := make([]bool, len(verdicts))
	for i, v := range verdicts {
		out[i] = v.Need == arena.StepNeeded
	}
	return out
}

func TestMatchedFollowsTheNearestTeacher(t *testing.T) {
	t.Parallel()
	call := func(name, arguments string) []arena.Call {
		return []arena.Call{{Name: name, Arguments: arena.Raw(arguments)}}
	}
	find := call("find_product", `{"q":"mug"}`)
	other := call("find_product", `{"q":"2 pcs cup 71001"}`)
	view := call("view_product_information", `{"product_ids":"71001, 71002"}`)
	viewOther := call("view_product_information", `{"product_ids":["80001"]}`)
	pick := call("recommend_product", `{"product_ids":"71001"}`)
	wrong := call("recommend_product", `{"product_ids":"80001"}`)
	both := []arena.Call{find[0], view[0]}
	end := call("terminate", `{"status":"success"}`)
	teacher := [][]arena.Call{find, view, pick, end}
	for name, tt := range map[string]struct {
		attempt  [][]arena.Call
		teachers [][][]arena.Call
		want     []bool
	}{
		"the same":                  {teacher, [][][]arena.Call{teacher}, []bool{true, true, true, true}},
		"a detour costs itself":     {[][]arena.Call{find, viewOther, view, pick, end}, [][][]arena.Call{teacher}, []bool{true, false, true, true, true}},
		"other words, same search":  {[][]arena.Call{other, pick}, [][][]arena.Call{teacher}, []bool{true, true}},
		"another product":           {[][]arena.Call{find, wrong, end}, [][][]arena.Call{teacher}, []bool{true, false, true}},
		"out of order":              {[][]arena.Call{end, find}, [][][]arena.Call{teacher}, []bool{false, true}},
		"two calls in a step":       {[][]arena.Call{both, pick}, [][][]arena.Call{teacher}, []bool{true, true}},
		"no call":                   {[][]arena.Call{nil, find}, [][][]arena.Call{teacher}, []bool{false, true}},
		"the teacher that fits":     {[][]arena.Call{find, wrong}, [][][]arena.Call{{end}, {find, wrong, end}}, []bool{true, true}},
		"no teacher":                {teacher, nil, []bool{false, false, false, false}},
		"arguments that are no map": {[][]arena.Call{call("recommend_product", `[1]`)}, [][][]arena.Call{{pick}}, []bool{false}},
	} {
		if got := needed(steps.MatchTeachers(tt.attempt, tt.teachers)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// FuzzMatchedStepsAreShared holds for any arguments that each step has a label, that no step is
// shared without a teacher, and that all are if the teacher's steps are equal.
func FuzzMatchedStepsAreShared(f *testing.F) {
	f.Add("find_product", `{"q":"mug"}`, "recommend_product", `{"product_ids":["1",2]}`)
	f.Add("view_product_information", `{"product_ids":","}`, "", `[`)
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		attempt := [][]arena.Call{{{Name: a, Arguments: arena.Raw(b)}}, {}, {{Name: c, Arguments: arena.Raw(d)}, {Name: a, Arguments: arena.Raw(d)}}}
		other := [][]arena.Call{{{Name: c, Arguments: arena.Raw(b)}}}
		if got := needed(steps.MatchTeachers(attempt, nil)); !slices.Equal(got, []bool{false, false, false}) {
			t.Errorf("without a teacher: %v", got)
		}
		if got := needed(steps.MatchTeachers(attempt, [][][]arena.Call{other, attempt})); !slices.Equal(got, []bool{true, false, true}) {
			t.Errorf("of itself: %v", got)
		}
		if got := needed(steps.MatchTeachers(attempt, [][][]arena.Call{other})); len(got) != 3 || got[1] {
			t.Errorf("of another: %v", got)
		}
	})
}
