package habits

import (
	"fmt"
	"testing"

	"github.com/trajectory-arena/arena"
)

func called(name, arguments, result string) arena.Turn {
	return arena.Turn{Calls: []arena.Call{{Name: name, Arguments: arena.Raw(arguments), Result: arena.Quote(result)}}}
}

// TestValuesFromResults counts the calls with a value that only an earlier result had.
func TestValuesFromResults(t *testing.T) {
	t.Parallel()
	shown := called("list", `{}`, "order W1234567, colour red")
	use := called("open", `{"order":"W1234567"}`, "")
	for name, tt := range map[string]struct {
		query string
		turns []arena.Turn
		want  Ratio
	}{
		"only a result has it":           {turns: []arena.Turn{shown, use}, want: Ratio{Part: 1, Whole: 2}},
		"in another case":                {turns: []arena.Turn{shown, called("open", `{"a":{"b":["w1234567"]}}`, "")}, want: Ratio{Part: 1, Whole: 2}},
		"the request has it":             {query: "open W1234567", turns: []arena.Turn{shown, use}, want: Ratio{Whole: 2}},
		"the user has it":                {turns: []arena.Turn{shown, {User: "W1234567, please"}, use}, want: Ratio{Whole: 2}},
		"the agent had it first":         {turns: []arena.Turn{{Text: "W1234567"}, shown, use}, want: Ratio{Whole: 2}},
		"the agent repeats it":           {turns: []arena.Turn{shown, {Text: "It is W1234567."}, use}, want: Ratio{Part: 1, Whole: 2}},
		"a result has it later":          {turns: []arena.Turn{use, shown}, want: Ratio{Whole: 2}},
		"a result of the same turn":      {turns: []arena.Turn{{Calls: []arena.Call{shown.Calls[0], use.Calls[0]}}}, want: Ratio{Whole: 2}},
		"a short word":                   {turns: []arena.Turn{shown, called("open", `{"colour":"red"}`, "")}, want: Ratio{Whole: 2}},
		"a key":                          {turns: []arena.Turn{shown, called("open", `{"W1234567":1}`, "")}, want: Ratio{Whole: 2}},
		"commands in fenced blocks":      {turns: []arena.Turn{{Text: "First:\n```bash\nls\n```"}, {User: "main.go utility.go"}, {Text: "```\ncat utility.go\n```"}}, want: Ratio{Part: 1, Whole: 2}},
		"a block beside calls":           {turns: []arena.Turn{shown, {Text: "```\ncat W1234567\n```"}}, want: Ratio{Whole: 1}},
		"the user answers without block": {turns: []arena.Turn{{Text: "Which file?"}, {User: "utility.go"}, {Text: "```\ncat utility.go\n```"}}, want: Ratio{Whole: 1}},
		"no calls":                       {turns: []arena.Turn{{Text: "Hello"}}},
	} {
		got := UseOf(&arena.Trace{Query: tt.query}, &arena.Dialogue{Turns: tt.turns})
		if got.Calls != tt.want || len(got.Order) != min(1, tt.want.Whole) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

// TestProgramsUseLess compares the adaptivity of an agent that reads results with that of programs:
// each of them lacks one of the two properties.
func TestProgramsUseLess(t *testing.T) {
	t.Parallel()
	file := func(n int) string { return fmt.Sprintf("file%03d.go", n) }
	list := func(n int) arena.Turn { return called("shell", `{"command":"ls"}`, file(n)+" "+file(n+1)) }
	cat := func(n int) arena.Turn { return called("shell", `{"command":"cat `+file(n)+`"}`, "text") }
	grep := func(n int) arena.Turn { return called("shell", `{"command":"grep x `+file(n)+`"}`, "") }
	submit := called("shell", `{"command":"submit"}`, "")
	agents := map[string]func(n int) []arena.Turn{
		"model": func(n int) []arena.Turn {
			if n%2 == 0 {
				return []arena.Turn{list(n), cat(n), grep(n)}
			}
			return []arena.Turn{list(n), grep(n), cat(n + 1)}
		},
		"fixed plan":      func(n int) []arena.Turn { return []arena.Turn{list(n), called("test", `{}`, "ok"), submit} },
		"opens the first": func(n int) []arena.Turn { return []arena.Turn{list(n), cat(n), grep(n)} },
		"branches": func(n int) []arena.Turn {
			if n%2 == 0 {
				return []arena.Turn{list(n), submit}
			}
			return []arena.Turn{list(n), called("test", `{}`, "ok")}
		},
		"at random": func(n int) []arena.Turn { return []arena.Turn{cat(7 * n), list(n), grep(900 - n)} },
	}
	adaptivity := map[string]float64{}
	for name, play := range agents {
		var samples []*Sample
		for n := range 12 {
			samples = append(samples, &Sample{Use: UseOf(&arena.Trace{}, &arena.Dialogue{Turns: play(100 + n)})})
		}
		if useOfAll(samples[:3]) != nil {
			t.Errorf("%s: three attempts are enough", name)
		}
		adaptivity[name] = useOfAll(samples).Point
		if name != "model" && adaptivity[name] > 0.05 {
			t.Errorf("%s: adaptivity %.2f", name, adaptivity[name])
		}
	}
	if adaptivity["model"] < 0.45 {
		t.Errorf("the model has an adaptivity of %.2f", adaptivity["model"])
	}
}

// TestAttemptsOfAnotherFormulaHaveNoUse holds that an agent without samples of use_v1 has none.
func TestAttemptsOfAnotherFormulaHaveNoUse(t *testing.T) {
	t.Parallel()
	samples := make([]*Sample, 20)
	for i := range samples {
		samples[i] = &Sample{}
	}
	if e := useOfAll(samples); e != nil {
		t.Errorf("use %v", e)
	}
}

// useOfAll returns the adaptivity of an agent with these samples, of which at least 8 must be comparable.
func useOfAll(samples []*Sample) *Estimate {
	used := usedResults{order: modeCounter{}}
	for _, s := range samples {
		used.add(&s.Use)
	}
	return used.estimate(8)
}
