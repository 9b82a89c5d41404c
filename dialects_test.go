package arena_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/judges/shop/gates"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/traces"
	"github.com/trajectory-arena/arena/traces/convert"
)

// exchange is one turn of the attempt that the test writes in every dialect.
type exchange struct{ think, name, arguments, result string }

const wish = "A trowel of walnut, please."

// attempt returns an attempt whose calls are long enough to be read as inference where no log is
// kept.
func attempt(think bool) []exchange {
	turns := []exchange{
		{"The request is for walnut; I look for garden trowels.", "find_product",
			`{"q":"garden trowel walnut ` + strings.Repeat("with a long handle ", 10) + `"}`, "product 2131798420: Meobapite trowel, 378.32"},
		{"2131798420 costs 378.32 and is of walnut, so I take it.", "recommend_product", `{"product_ids":"2131798420"}`, "ok"},
		{"Done.", "terminate", `{"status":"success"}`, "bye"},
	}
	for i := range turns {
		if !think {
			turns[i].think = ""
		}
	}
	return turns
}

// dialects write an attempt in every format that is read. An episode has no
// place for thinking.
var dialects = map[string]func([]exchange) any{
	"envelope": func(a []exchange) any {
		return map[string]any{"problem_id": "p", "status": "SUCCESS", "dialogue": sandboxSteps(a)}
	},
	"dialogue": func(a []exchange) any { return sandboxSteps(a) },
	"openai": func(a []exchange) any {
		messages := []any{map[string]any{"role": "user", "content": wish}}
		for i, t := range a {
			call := map[string]any{"id": fmt.Sprint(i), "type": "function", "function": map[string]any{"name": t.name, "arguments": t.arguments}}
			messages = append(messages, map[string]any{"role": "assistant", "content": "", "reasoning_content": t.think, "tool_calls": []any{call}},
				map[string]any{"role": "tool", "tool_call_id": fmt.Sprint(i), "content": t.result})
		}
		return map[string]any{"problem_id": "p", "messages": messages}
	},
	"sharegpt": func(a []exchange) any {
		messages := []any{map[string]any{"from": "human", "value": wish}}
		for _, t := range a {
			think := ""
			if t.think != "" {
				think = "<think>" + t.think + "</think>"
			}
			messages = append(messages, map[string]any{"from": "function_call", "value": fmt.Sprintf(`%s{"name":%q,"arguments":%s}`, think, t.name, t.arguments)},
				map[string]any{"from": "observation", "value": t.result})
		}
		return map[string]any{"problem_id": "p", "conversations": messages}
	},
	"atif": func(a []exchange) any {
		steps := []any{map[string]any{"step_id": 1, "source": "user", "message": wish}}
		for i, t := range a {
			id := fmt.Sprint(i)
			steps = append(steps, map[string]any{"step_id": i + 2, "source": "agent", "message": "", "reasoning_content": t.think,
				"tool_calls":  []any{map[string]any{"tool_call_id": id, "function_name": t.name, "arguments": json.RawMessage(t.arguments)}},
				"observation": map[string]any{"results": []any{map[string]any{"source_call_id": id, "content": t.result}}}})
		}
		return map[string]any{"schema_version": "ATIF-v1.7", "session_id": "s", "agent": map[string]any{"name": "agent", "version": "1"},
			"steps": steps, "extra": map[string]any{"oro": map[string]any{"task_id": "p"}}}
	},
	"episode": func(a []exchange) any {
		var turns []any
		for i, t := range a {
			turns = append(turns, map[string]any{
				"request": map[string]any{"turn": i + 1, "calls": []any{map[string]any{"call_id": fmt.Sprint(i),
					"action": map[string]any{"name": t.name, "args": json.RawMessage(t.arguments)}}}},
				"response": map[string]any{"calls": []any{map[string]any{"call_id": fmt.Sprint(i), "observation": t.result}}}})
		}
		return map[string]any{"schema_version": "oro.environment_episode.v1", "episode": map[string]any{
			"task_id": "p", "bootstrap": map[string]any{"policy_view": map[string]any{"query": wish}}, "call_trace": turns}}
	},
}

func sandboxSteps(a []exchange) []any {
	var steps []any
	for i, t := range a {
		message := map[string]any{"tool_call": []any{map[string]any{"name": t.name, "parameters": json.RawMessage(t.arguments),
			"tool_call_id": fmt.Sprint(i), "result": t.result}}}
		if t.think != "" {
			message["think"] = t.think
		}
		steps = append(steps, map[string]any{
			"completion": map[string]any{"content": "", "message": message},
			"extra_info": map[string]any{"step": i + 1, "query": wish, "problem_id": "p"}})
	}
	return steps
}

// readText reads the one trace of a text.
func readText(t *testing.T, text []byte) *arena.Trace {
	t.Helper()
	path := filepath.Join(t.TempDir(), "attempt")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	inputs, err := traces.Discover(path)
	if err != nil {
		t.Fatal(err)
	}
	var trace *arena.Trace
	if _, err := traces.Read(t.Context(), inputs[0], traces.Defaults(), func(i traces.Item) error {
		if i.Fault != nil || trace != nil {
			return fmt.Errorf("read %s: %v", text, i.Fault)
		}
		trace = i.Trace
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return trace
}

// opinion has all verdicts of the product on an attempt.
type opinion struct {
	Judgement arena.Judgement
	Keep      bool
	Axis      arena.Axis
	Reasons   []string
	Success   bool
	Axes      *arena.Axes
}

type shelf struct{}

// Document is outcome.Products.
func (shelf) Document(id string) (arena.Raw, bool) {
	return `{"product_id":"2131798420","shop_id":"1","title":"Meobapite trowel","price":378.32,"attributes":{"material":["walnut"]}}`, id == "2131798420"
}

func opinionOf(t *testing.T, trace *arena.Trace) (o opinion) {
	t.Helper()
	problems, err := arena.ReadProblems(strings.NewReader(`{"problem_id":"p","query":"`+wish+`","category":"Product","reward":{"product_id":"2131798420","title":["Meobapite trowel"],"attributes":[{"material":["walnut"]}]}}`), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	dialogue := filters.Normalise(trace)
	filter, err := filters.New(filters.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	scored, err := outcome.New(shelf{}, nil).Score(t.Context(), trace, &problems[0])
	if err != nil || scored.Scores == nil {
		t.Fatalf("score: %v, %v", scored, err)
	}
	structure, _ := filter.Check(trace, &dialogue)
	return opinion{gates.Judge(trace, &dialogue), structure.Keep, structure.Axis, structure.Reasons, scored.Success, scored.Scores.Axes}
}

// TestTheFormatOfAFileDecidesNothing holds every dialect, and what converting it
// makes of it, to one opinion. Of the sandbox's own formats the log is put aside:
// that it is empty is evidence, which no other format can hold.
func TestTheFormatOfAFileDecidesNothing(t *testing.T) {
	t.Parallel()
	for name, think := range map[string]bool{"silent": false, "thinking": true} {
		var want *opinion
		for dialect, write := range dialects {
			if think && dialect == "episode" {
				continue
			}
			text, err := json.Marshal(write(attempt(think)))
			if err != nil {
				t.Fatal(err)
			}
			original := readText(t, text)
			if got := string(original.Source.Shape); got != dialect {
				t.Fatalf("%s is read as %s", dialect, got)
			}
			versions := map[string]*arena.Trace{"read": original}
			for _, f := range []convert.Format{convert.ATIF, convert.OpenAI} {
				converted, _, err := convert.Write(original, f)
				if err != nil {
					t.Fatal(err)
				}
				versions["as "+string(f)] = readText(t, converted)
			}
			if original.Source.HasProxyLog {
				if j := opinionOf(t, original).Judgement; j.Score == nil || *j.Score != 0.1 {
					t.Errorf("%s with an empty log: %+v", dialect, j)
				}
				original.Source.HasProxyLog = false
			}
			for version, trace := range versions {
				got := opinionOf(t, trace)
				if want == nil {
					want = &got
				}
				if d := cmp.Diff(*want, got, cmpopts.EquateEmpty()); d != "" {
					t.Errorf("%s attempt, %s, %s: first -, this +:\n%s", name, dialect, version, d)
				}
			}
		}
		if want.Judgement.Score == nil || *want.Judgement.Score < 0.3 || !want.Success {
			t.Errorf("%s attempt: %+v", name, want)
		}
	}
}

// TestFormatsAreNotCompared holds that no package but the readers compares the name of a format. The
// properties of a format are fields of arena.Source that its reader sets, so that a new format
// changes no other code.
func TestFormatsAreNotCompared(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasPrefix(path, "traces/") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			for _, value := range comparedWith(n) {
				if s, ok := value.(*ast.SelectorExpr); ok && s.Sel.Name == "Shape" {
					t.Errorf("%s: the format of a trace decides something here", files.Position(n.Pos()))
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// comparedWith are the expressions that a node compares.
func comparedWith(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return []ast.Expr{n.X, n.Y}
	case *ast.SwitchStmt:
		return []ast.Expr{n.Tag}
	case *ast.IndexExpr:
		return []ast.Expr{n.Index}
	default:
		return nil
	}
}
