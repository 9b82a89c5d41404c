package rollout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/student/dialect"
	"github.com/trajectory-arena/arena/traces"
)

// shelf is a search server that returns the same lamp for every search.
type shelf struct{}

func (shelf) Get(context.Context, string, python.Value) (python.Value, int, bool) {
	lamp, err := python.Loads(`[{"product_id":"900001","title":"Blue lamp \u2028","price":NaN}]`)
	return lamp, 200, err == nil
}

// parrot returns its replies one after the other, and then a fault.
type parrot struct{ replies [][]byte }

func (p *parrot) Chat(context.Context, model.Body) (model.Reply, []byte, error) {
	if len(p.replies) == 0 {
		return model.Reply{}, nil, &model.Fault{Reason: "connection"}
	}
	body := p.replies[0]
	p.replies = p.replies[1:]
	r, err := model.ReadTurn(body)
	return r, body, err
}

func environment(tb testing.TB) *Environment {
	tb.Helper()
	template := model.NewTemplate("m", "You shop.", model.Sampling{}, nil)
	return &Environment{
		Template: template, Dialect: dialect.Auto, MaxSteps: 4, Server: shelf{}, Tape: true, Request: arena.Raw(`{"model":"m"}`),
		ToolNames: []string{"find_product", "view_product_information", "recommend_product", "terminate"},
		Has:       func(id string) bool { return id == "900001" },
	}
}

func completion(content string, calls ...model.Call) []byte {
	b, err := json.Marshal(map[string]any{"id": "r", "choices": []any{map[string]any{"message": map[string]any{"content": content, "tool_calls": calls}}}})
	if err != nil {
		panic(err) // strings and structs of strings only
	}
	return b
}

func calls(name, arguments string) model.Call {
	return model.Call{ID: "c", Type: "function", Function: model.Function{Name: name, Arguments: arguments}}
}

// TestReplayFromAnyTurn checks that a rollout which is replayed from any of its turns ends as the
// first time, and requests only the turns that were not stored.
func TestReplayFromAnyTurn(t *testing.T) {
	t.Parallel()
	env := environment(t)
	task := Task{Problem: &arena.Problem{Query: "a lamp"}, ID: "p", RunID: "r", Seed: 1}
	replies := [][]byte{
		completion("<think>First look.</think>", calls("find_product", `{"q":"lamp"}`)),
		completion("", calls("recommend_product", `{"product_ids":"900001, 7"}`), calls("find_product", `["odd"]`)),
		completion("", calls("terminate", `{"status":"success"}`)),
	}
	var turns []Turn
	first, err := env.Play(t.Context(), task, &parrot{replies}, func(turn Turn) error {
		back, err := DecodeTurn(turn.Encode())
		turns = append(turns, back)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if first.Stop != StopTerminated || *first.Label != LabelHallucinated || first.HallucinatedIDs != 1 || first.UnseenIDs != 1 || first.MalformedCalls != 1 || first.ToolCalls != 3 {
		t.Errorf("the rollout ends as %+v with label %q", first, *first.Label)
	}
	for n := range len(turns) + 1 {
		task.Past = turns[:n]
		unseen := 0
		again, err := env.Play(t.Context(), task, &parrot{replies[n:]}, func(Turn) error { unseen++; return nil })
		if diff := cmp.Diff(first, again, cmpopts.EquateNaNs()); diff != "" || err != nil {
			t.Errorf("from turn %d on: %v\n%s", n, err, diff)
		}
		if unseen != len(replies)-n {
			t.Errorf("from turn %d on %d turns are new", n, unseen)
		}
	}
}

func TestAKeeperThatFailsEndsTheRun(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	_, err := environment(t).Play(t.Context(), Task{Problem: &arena.Problem{}, ID: "p"}, &parrot{[][]byte{completion("hm", calls("find_product", `{"q":"x"}`))}}, func(Turn) error { return full })
	if !errors.Is(err, full) {
		t.Errorf("play: %v", err)
	}
}

// strict is a server that refuses conversations with broken arguments.
type strict struct {
	parrot
	refused int
}

func (s *strict) Chat(ctx context.Context, request model.Body) (model.Reply, []byte, error) {
	for _, arguments := range gjson.GetBytes(bytes.Join(request, nil), "messages.#.tool_calls|@flatten|#.function.arguments").Array() {
		if !gjson.Valid(arguments.String()) {
			s.refused++
			return model.Reply{}, nil, &model.Fault{Reason: "http_400"}
		}
	}
	return s.parrot.Chat(ctx, request)
}

// TestAServerThatReadsArgumentsToo holds that invalid arguments of the model are no fault of the
// server, and that every server receives the same messages.
func TestAServerThatReadsArgumentsToo(t *testing.T) {
	t.Parallel()
	server := &strict{parrot: parrot{[][]byte{
		completion("", calls("find_product", `{"q": "la`), calls("find_product", `{"q":"lamp"}`)),
		completion("", calls("find_product", `{"q": `)),
		completion("", calls("recommend_product", `{"product_ids":"900001"}`), calls("terminate", `{}`)),
	}}}
	r, err := environment(t).Play(t.Context(), Task{Problem: &arena.Problem{}, ID: "p"}, server, func(Turn) error { return nil })
	if err != nil || r.Outcome != Scored || r.Stop != StopTerminated || r.MalformedCalls != 2 || server.refused != 0 {
		t.Errorf("%+v after %d refusals, %v", r, server.refused, err)
	}
}

// TestAnyListOfIDsIsRead checks a call with very many ids and with halves of characters, which no
// table of results can hold.
func TestAnyListOfIDsIsRead(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 300_000 {
		many = append(many, strconv.Itoa(i))
	}
	for _, c := range []struct {
		list string
		want []string
	}{
		{` 7,, 8 ,7`, []string{"7", "8"}},
		{`\ud800,9`, []string{"\ufffd", "9"}},
		{strings.Join(many, ","), many}, // minutes, in the square of their number
	} {
		r, err := environment(t).Play(t.Context(), Task{Problem: &arena.Problem{}, ID: "p"},
			&parrot{[][]byte{completion("", calls("recommend_product", `{"product_ids":"`+c.list+`"}`), calls("terminate", "{}"))}}, func(Turn) error { return nil })
		if err != nil || !slices.Equal(r.Recommended, c.want) {
			t.Errorf("%.20q: %d ids, want %d: %v", c.list, len(r.Recommended), len(c.want), err)
		}
	}
}

// FuzzAnyReplyMakesATrace holds for any reply of a model that the rollout ends with a label or as
// infra. Its trace is one line that package traces reads as ReadTrace does, except for its path and
// for values that no corpus can hold.
func FuzzAnyReplyMakesATrace(f *testing.F) {
	f.Add(completion("<think>Look.</think>", calls("find_product", `{"q":"lamp","page":NaN}`)), completion("Done\u2028.\r\n", calls("terminate", `{}`)))
	f.Add(completion(`<tool_call>[{"name":"recommend_product","parameters":{"product_ids":"900001,,8"}}]</tool_call>`), completion("I can't."))
	f.Add([]byte("{\"choices\":[\n{\"message\":{\"content\":\"\xff\\ud800\",\"tool_calls\":[{\"function\":{\"name\":\"a\\u0000\",\"arguments\":{\"a\":1e999}}},null]}}]}"), []byte(`{"choices":[{"message":{},"finish_reason":"length"}]}`))
	env := environment(f)
	f.Fuzz(func(t *testing.T, one, two []byte) {
		replies := [][]byte{}
		for _, b := range [][]byte{one, two} {
			if _, err := model.ReadTurn(b); err == nil {
				replies = append(replies, b)
			}
		}
		task := Task{Problem: &arena.Problem{Query: "a lamp"}, ID: "p", RunID: "r"}
		result, err := env.Play(t.Context(), task, &parrot{replies}, func(Turn) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if (result.Label == nil) != (result.Outcome == Infra) {
			t.Errorf("outcome %s with label %v", result.Outcome, result.Label)
		}
		want := readTrace(t, result.Line)
		if diff := cmp.Diff(want, result.Trace, cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(arena.Trace{}, "Source", "Vetoes")); diff != "" {
			t.Errorf("%s\n%s", result.Line, diff)
		}
	})
}

// readTrace reads one line as a day's file.
func readTrace(t *testing.T, line []byte) *arena.Trace {
	t.Helper()
	day := filepath.Join(t.TempDir(), "run=r")
	if err := os.Mkdir(day, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(day, "t.jsonl"), append(line, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	inputs, err := traces.Discover(day)
	if err != nil || len(inputs) != 1 {
		t.Fatalf("%d inputs, %v", len(inputs), err)
	}
	var read *arena.Trace
	_, err = traces.Read(t.Context(), inputs[0], traces.Defaults(), func(i traces.Item) error {
		if i.Fault != nil {
			t.Fatalf("%+v\n%s", i.Fault, line)
		}
		read = i.Trace
		return nil
	})
	if err != nil || read == nil || math.IsInf(read.Seconds, 0) {
		t.Fatalf("read %v, %v", read, err)
	}
	return read
}
