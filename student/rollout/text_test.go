package rollout

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/shop"
	"github.com/trajectory-arena/arena/student/dialect"
)

// reader answers with its replies and keeps the messages of each request.
type reader struct {
	parrot
	prompts [][]chat.Turn
}

func (r *reader) Chat(ctx context.Context, request model.Body) (model.Reply, []byte, error) {
	var body struct{ Messages []chat.Turn }
	if err := json.Unmarshal(slices.Concat(request...), &body); err != nil {
		return model.Reply{}, nil, err
	}
	r.prompts = append(r.prompts, body.Messages)
	return r.parrot.Chat(ctx, request)
}

// TestAStudentOfTextReadsWhatItsRowsShowed plays an attempt, writes its row of profile text, and
// plays the turns of that row again: each request has the messages of the row up to that turn, word
// for word, whether the server separates the reasoning from the text or not.
func TestAStudentOfTextReadsWhatItsRowsShowed(t *testing.T) {
	t.Parallel()
	h, err := shop.Profile(shop.Profiles()[0])
	if err != nil {
		t.Fatal(err)
	}
	const query = "a blue lamp"
	e := environment(t)
	e.Dialect = dialect.Native
	e.MaxSteps = 5
	e.ToolNames = toolNamesOf(h)
	e.Template = model.NewTemplate("m", h.System, model.Sampling{}, h.Tools)
	call := func(id, name, arguments string) model.Call {
		return model.Call{ID: id, Type: "function", Function: model.Function{Name: name, Arguments: arguments}}
	}
	replies := [][]byte{
		completion("<think>I look.</think>One moment.", call("a", "find_product", `{"q": "blue lamp"}`), call("b", "find_product", `{"q":"lamp","page":2}`)),
		completion("", call("c", "view_product_information", `{"product_ids":"900001"}`)),
		completion("<think>This one.\n\nIt is blue.</think>", call("d", "recommend_product", `{"product_ids":"900001"}`)),
		completion("<think>Done.</think>", call("e", "terminate", `{"status":"success"}`)),
	}
	task := Task{Problem: &arena.Problem{Query: query}, ID: "p", RunID: "r"}
	result, err := e.Play(t.Context(), task, &parrot{replies}, func(Turn) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	d := Dialogue(result.Trace)
	messages, err := chat.Render(h, query, &d)
	if err != nil {
		t.Fatal(err)
	}
	row := chat.Text(messages, slicesx.Map(h.Tools, func(tool arena.Raw) string { return string(tool) }))
	if len(row) != 9 || !strings.Contains(row[2].Content, "</think>\n\nOne moment.\n<tool_call>") {
		t.Fatalf("a row of %d messages: %q", len(row), row[2].Content)
	}

	for name, reply := range map[string]func(text string) []byte{"whole": func(text string) []byte { return completion(text) }, "split": saysSplit} {
		e := environment(t)
		e.Dialect = dialect.Text
		e.MaxSteps = 5
		e.ToolNames = toolNamesOf(h)
		if name == "split" {
			e.Dialect = dialect.Hermes // another name of the same
		}
		e.Template = model.NewTemplate("m", e.Dialect.System(h), model.Sampling{}, nil)
		asker := &reader{}
		for i := 2; i < len(row); i += 2 {
			asker.replies = append(asker.replies, reply(row[i].Content))
		}
		if _, err := e.Play(t.Context(), task, asker, func(Turn) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if len(asker.prompts) != 4 {
			t.Fatalf("%s: asked %d times", name, len(asker.prompts))
		}
		for i, prompt := range asker.prompts {
			if difference := cmp.Diff(row[:2+2*i], prompt); difference != "" {
				t.Errorf("%s, turn %d (-row +asked):\n%s", name, i, difference)
			}
		}
	}
}

// saysSplit is a reply of a server that has a parser of reasoning.
func saysSplit(text string) []byte {
	thought, answer, ok := strings.Cut(strings.TrimPrefix(text, "<think>"), "</think>")
	if !ok {
		return completion(text)
	}
	message := map[string]any{"reasoning_content": thought, "content": answer}
	b, err := json.Marshal(map[string]any{"id": "r", "choices": []any{map[string]any{"message": message}}})
	if err != nil {
		panic(err)
	}
	return b
}

func toolNamesOf(h arena.Harness) []string {
	return slicesx.Map(h.Tools, func(tool arena.Raw) string {
		return gjson.Get(string(tool), "function.name").Str
	})
}
