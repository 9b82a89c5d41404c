package reply_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/reply"
)

// TestUglyStepReplies is a table of replies about three steps. want has one letter a step for the
// verdict that is read, "" for an unparsed reply, and "-" for a refused one.
func TestUglyStepReplies(t *testing.T) {
	t.Parallel()
	const (
		one   = `{"step": 1, "quote": "find_product", "reason": "finds it", "verdict": "needed"}`
		two   = `{"step": 2, "quote": "again", "reason": "repeats step 1", "verdict": "waste"}`
		three = `{"step": 3, "quote": "", "reason": "cut", "verdict": "unclear"}`
		good  = `{"steps": [` + one + ", " + two + ", " + three + `]}`
	)
	tests := map[string]struct{ text, want string }{
		"clean":                         {good, "nwu"},
		"another order":                 {`{"steps": [` + three + "," + one + "," + two + `]}`, "nwu"},
		"verdicts alone":                {`{"steps":[{"step":1,"verdict":"needed"},{"step":2,"verdict":"waste"},{"step":3,"verdict":"unclear"}]}`, "nwu"},
		"prose and a fence":             {"Here:\n```json\n" + good + "\n```\nDone.", "nwu"},
		"think block before":            {`<think>{"steps": [` + one + `]}?</think>` + good, "nwu"},
		"answer only in the thinking":   {"<think>" + good + "</think>", "nwu"},
		"wrapped":                       {`{"result": ` + good + `}`, ""},
		"two objects":                   {strings.ReplaceAll(good, "needed", "waste") + good, ""},
		"whole, then cut":               {good + `{"steps": [{"step": 1, "verdict": "was`, "nwu"},
		"object after the answer":       {good + ` {"note": "done"}`, "nwu"},
		"key twice":                     {`{"steps": [], ` + good[1:], ""},
		"steps in strings":              {strings.ReplaceAll(good, `"step": 2`, `"step": " 2 "`), ""},
		"numbers in strings":            {strings.ReplaceAll(good, `"step": 2`, `"step": "2"`), "nwu"},
		"number with a point":           {strings.ReplaceAll(good, `"step": 2`, `"step": 2.0`), "nwu"},
		"capitals and blanks":           {strings.ReplaceAll(good, `"needed"`, `" Needed\n"`), "nwu"},
		"control characters":            {strings.ReplaceAll(good, "repeats step", "repeats\nstep\x01"), "nwu"},
		"unknown escape":                {strings.ReplaceAll(good, "repeats", `re\'peats`), "nwu"},
		"comma before the end":          {`{"steps": [` + one + "," + two + "," + three + `,],}`, "nwu"},
		"cut after the last":            {strings.TrimSuffix(good, "]}"), ""},
		"cut after the list":            {strings.TrimSuffix(good, "}") + `, "note": "do`, "nwu"},
		"cut on a quoted line":          {"> " + strings.TrimSuffix(good, "}") + `, "note": "do`, ""},
		"cut in the last":               {`{"steps": [` + one + "," + two + `, {"step": 3, "verdict": "uncl`, ""},
		"cut after the last verdict":    {strings.TrimSuffix(good, "}]}"), ""},
		"same verdict twice":            {`{"steps": [` + one + "," + one + "," + two + "," + three + `]}`, "nwu"},
		"two verdicts on one":           {`{"steps": [` + one + "," + strings.ReplaceAll(one, "needed", "waste") + "," + two + "," + three + `]}`, ""},
		"one left out":                  {`{"steps": [` + one + "," + three + `]}`, ""},
		"none":                          {`{"steps": []}`, ""},
		"a step that is none":           {`{"steps": [` + one + "," + two + "," + three + `, {"step": 4, "verdict": "waste"}, {"step": 0, "verdict": "x"}]}`, "nwu"},
		"half a step":                   {strings.ReplaceAll(good, `"step": 2`, `"step": 2.5`), ""},
		"step no number":                {strings.ReplaceAll(good, `"step": 2`, `"step": "NaN"`), ""},
		"verdict not on offer":          {strings.ReplaceAll(good, `"waste"`, `"useless"`), ""},
		"verdict not on offer, retaken": {`{"steps": [{"step": 1, "verdict": "maybe"},` + one + "," + two + "," + three + `]}`, ""},
		"verdict null":                  {strings.ReplaceAll(good, `"waste"`, `null`), ""},
		"verdict a number":              {strings.ReplaceAll(good, `"waste"`, `0`), ""},
		"either or":                     {strings.ReplaceAll(good, `"waste"`, `"needed|waste"`), ""},
		"words for steps":               {`{"steps": ["needed", "waste", "unclear"]}`, ""},
		"an object of steps":            {`{"steps": {"1": "needed", "2": "waste", "3": "unclear"}}`, ""},
		"a number of steps":             {`{"steps": 3}`, ""},
		"list without its object":       {"[" + one + "," + two + "," + three + "]", ""},
		"an answer on the whole":        {`{"reasoning_quality": 0.7}`, ""},
		"quoted in a reason":            {strings.ReplaceAll(good, "repeats step 1", `it orders {\"steps\": [{\"step\": 1, \"verdict\": \"waste\"}]}`), "nwu"},
		"empty":                         {"", ""},
		"refusal":                       {"I'm sorry, but I can't help with that.", "-"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps, outcome := reply.ParseSteps(tt.text, 3)
			got := ""
			for i, s := range steps {
				got += string(s.Need[0])
				if s.Step != i+1 {
					t.Errorf("verdict %d is on step %d", i, s.Step)
				}
			}
			want := map[string]arena.JudgeOutcome{"": arena.JudgeUnparsed, "-": arena.JudgeRefused}[tt.want]
			isRight := outcome == arena.JudgeScored && got == tt.want
			if want != "" {
				isRight = outcome == want && got == ""
			}
			if !isRight {
				t.Errorf("got %s %q, want %q", outcome, got, tt.want)
			}
		})
	}
}

// TestEveryCutStepsReplyIsTheSameOrNothing cuts a good reply at every byte.
func TestEveryCutStepsReplyIsTheSameOrNothing(t *testing.T) {
	t.Parallel()
	text := "<think>1 is {needed}</think>\n```json\n" +
		`{"steps": [{"step": 1, "quote": "a \"b\" {c}", "reason": "x", "verdict": "waste"}, {"step": 2, "verdict": "needed"}]}` + "\n```"
	verdicts, _ := reply.ParseSteps(text, 2)
	for i := range text {
		if got, outcome := reply.ParseSteps(text[:i], 2); outcome == arena.JudgeScored && !reflect.DeepEqual(got, verdicts) {
			t.Errorf("cut at %d: %+v", i, got)
		}
	}
}

// FuzzEveryStepHasOneOfferedVerdict holds for any text that a scored reply has one verdict on offer
// for every step, that its parts are bounded, and that a second reading is equal.
func FuzzEveryStepHasOneOfferedVerdict(f *testing.F) {
	for _, s := range []string{
		`{"steps":[{"step":1,"verdict":"needed"}]}`, `<think>{"steps":[{"step":1e99,"verdict":"waste"}]}`, `{"steps":[[[{"step":1}]]]}`,
		strings.Repeat(`{"steps":[`, 100), `{"steps":[{"step":1,"verdict":"waste","reason":"` + strings.Repeat("é\xff", 300) + `"},{"step":2,"verdict":"unclear"}]}`,
	} {
		f.Add(s, 2)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = min(max(n, 1), 64)
		steps, outcome := reply.ParseSteps(text, n)
		if again, o := reply.ParseSteps(text, n); o != outcome || !reflect.DeepEqual(again, steps) {
			t.Fatalf("two readings: %v %v", steps, again)
		}
		if (outcome == arena.JudgeScored) != (len(steps) == n) {
			t.Fatalf("%s with %d verdicts on %d steps", outcome, len(steps), n)
		}
		for i, s := range steps {
			if s.Step != i+1 || !slices.Contains([]arena.Need{arena.StepNeeded, arena.StepWaste, arena.StepUnclear}, s.Need) {
				t.Fatalf("verdict %+v", s)
			}
			if len([]rune(s.Reason)) > 200 || len([]rune(s.Quote)) > 1000 {
				t.Fatalf("unbounded: %d, %d", len(s.Reason), len(s.Quote))
			}
		}
	})
}
