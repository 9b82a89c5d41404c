package variety_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/internal/dice"
	"github.com/trajectory-arena/arena/pipeline/variety"
)

// attempt returns a row with a request, a call of tool, its result, and the model's texts before
// and after it.
func attempt(t *testing.T, problem, id, tool, before, result, after string) *rows.SFT {
	t.Helper()
	r := &rows.SFT{Scalars: rows.Scalars{SessionID: id}, Origin: rows.Origin{ProblemID: problem, Cluster: problem}}
	for _, m := range []map[string]any{
		{"role": "user", "content": "I want the lamp " + problem},
		{"role": "assistant", "content": "", "reasoning_content": before, "tool_calls": []any{map[string]any{
			"id": "c", "type": "function", "function": map[string]any{"name": tool, "arguments": map[string]any{"q": "lamp"}},
		}}},
		{"role": "tool", "content": result, "tool_call_id": "c"},
		{"role": "assistant", "content": "Done.", "reasoning_content": after},
	} {
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		r.Messages = append(r.Messages, string(b))
	}
	return r
}

func figures(t *testing.T, sft []*rows.SFT) map[string]variety.Figure {
	t.Helper()
	s := &variety.Sample{}
	for _, r := range sft {
		if err := s.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	byName := map[string]variety.Figure{}
	for _, f := range s.Figures() {
		byName[f.Name] = f
	}
	return byName
}

// prose returns n random words.
func prose(d *dice.Dice, n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "w%c%c ", 'a'+rune(d.N(26)), 'a'+rune(d.N(26)))
	}
	return b.String()
}

// TestFiguresDistinguishCorpora compares a varied corpus, a collapsed one in which the model always
// writes the same text, and one whose reasoning repeats the request instead of the results.
func TestFiguresDistinguishCorpora(t *testing.T) {
	t.Parallel()
	d := dice.New(1)
	const result = "The brass lamp of Odesa costs 4711 and ships on Monday"
	var varied, collapsed, ungrounded []*rows.SFT
	for i := range 60 {
		problem := fmt.Sprint("p", i)
		tool := fmt.Sprint("find", d.N(5))
		varied = append(varied, attempt(t, problem, problem, tool, prose(d, 200), result, prose(d, 20)+"it costs 4711"))
		collapsed = append(collapsed, attempt(t, problem, problem, "find", "I look for the lamp that the customer wants now.", result, "The brass lamp of Odesa costs 4711, so I take it."))
		ungrounded = append(ungrounded, attempt(t, problem, problem, tool, prose(d, 200), result, "I want the lamp "+problem))
	}
	v := figures(t, varied)
	c := figures(t, collapsed)
	u := figures(t, ungrounded)
	for name, higher := range map[string]bool{"distinct 3-grams": true, "self-similarity": false, "same opening": false, "same tools": false, "near copies": false} {
		a := v[name]
		b := c[name]
		overlaps := a.High >= b.Low
		if higher {
			overlaps = a.Low <= b.High
		}
		if name != "distinct 3-grams" && overlaps {
			t.Errorf("%s: varied %s, collapsed %s", name, a, b)
		}
	}
	if f := v["distinct 3-grams"]; f.Value < 0.9 || f.N < 10 {
		t.Errorf("distinct 3-grams of a varied corpus: %s", f)
	}
	a := v["turns that rest on results"]
	b := u["turns that rest on results"]
	if a.Value != 1 || b.Value != 0 || b.High > 0.1 || a.N != 60 {
		t.Errorf("turns that rest on results: %s, and %s of a model that repeats the request", a, b)
	}
}

// TestFiguresDoNotDependOnOrder adds rows in two orders, more than a sample holds.
func TestFiguresDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	d := dice.New(2)
	one := &variety.Sample{}
	other := &variety.Sample{}
	var sft []*rows.SFT
	for i := range 1100 {
		id := fmt.Sprint("a", i)
		sft = append(sft, attempt(t, fmt.Sprint(i%50), id, "find", prose(d, 12), "4711", "So it is 4711."))
	}
	for i := range sft {
		if one.Add(sft[i]) != nil || other.Add(sft[len(sft)-1-i]) != nil {
			t.Fatal("a row was refused")
		}
	}
	if one.Text() != other.Text() || !strings.Contains(one.Text(), "Of 1100 rows, 1000 were compared") {
		t.Errorf("%s\n%s", one.Text(), other.Text())
	}
}

// TestOutcomesAreReadFromTheLedger counts problems with one and with several attempts.
func TestOutcomesAreReadFromTheLedger(t *testing.T) {
	t.Parallel()
	s := &variety.Sample{}
	for _, a := range []struct {
		problem string
		solved  bool
	}{{"a", true}, {"a", false}, {"b", true}, {"b", true}, {"c", false}} {
		s.AddAttempt(&where.Line{Attempt: &rows.Attempt{ProblemID: a.problem}, Outcome: &rows.Outcome{Scored: true, Success: a.solved}})
	}
	reward := 1.0
	s.AddAttempt(&where.Line{Attempt: &rows.Attempt{ProblemID: "d"}, Declared: &rows.Declared{Reward: &reward}})
	s.AddAttempt(&where.Line{Attempt: &rows.Attempt{ProblemID: "d"}}) // no outcome is no failure
	table := variety.Table([]string{"out|side"}, []*variety.Sample{s})
	for _, want := range []string{`out\|side`, "| attempts solved | 0.667 (", "6 attempts)", "| problems solved sometimes | 0.500 (", "2 problems)", "| near copies | - |"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}
