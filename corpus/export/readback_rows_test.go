package export_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// readRows are the rows of a Parquet file.
func readRows[T any](t testing.TB, path string) []T {
	t.Helper()
	var out []T
	err := corpus.ReadRows(corpus.Disk{}, path, func(r *T) error {
		out = append(out, *r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func hfJSON(t testing.TB, path string) []Talk {
	var out []Talk
	for _, r := range readRows[rows.SFT](t, path) {
		out = append(out, messages(t, gjson.Parse("["+strings.Join(r.Messages, ",")+"]").Array()))
	}
	return out
}

func textRows(t testing.TB, path string) []Talk {
	var out []Talk
	for _, r := range readRows[rows.Text](t, path) {
		out = append(out, texts(t, r.Messages))
	}
	return out
}

func verlSFT(t testing.TB, path string) []Talk {
	var out []Talk
	for _, r := range readRows[rows.VerlSFT](t, path) {
		out = append(out, texts(t, r.Messages))
	}
	return out
}

// arrow reads an Arrow stream as load_from_disk maps it.
func arrow(t testing.TB, path string) []Talk {
	var out []Talk
	for _, row := range arrowRows(t, path) {
		out = append(out, texts(t, row))
	}
	return out
}

// arrowRows returns the messages of each row.
func arrowRows(t testing.TB, path string) [][]rows.Msg {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // opened to read
	r, err := ipc.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var out [][]rows.Msg
	for r.Next() {
		list := r.RecordBatch().Column(0).(*array.List)
		msgs := list.ListValues().(*array.Struct)
		roles := msgs.Field(0).(*array.String)
		contents := msgs.Field(1).(*array.String)
		for i := range list.Len() {
			var row []rows.Msg
			start, end := list.ValueOffsets(i)
			for k := start; k < end; k++ {
				row = append(row, rows.Msg{Role: strings.Clone(roles.Value(int(k))), Content: strings.Clone(contents.Value(int(k)))})
			}
			out = append(out, row)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// texts reads messages of two strings: thinking and calls out of the model's
// text, results out of the user turn after it, as many as it made calls.
func texts(t testing.TB, ms []rows.Msg) Talk {
	t.Helper()
	var out Talk
	open := 0
	for _, m := range ms {
		switch m.Role {
		case "system":
			out.System, _, _ = strings.Cut(m.Content, "# Tools\n\n")
			out.System = strings.TrimSuffix(out.System, "\n\n")
		case "assistant":
			out.Turns = append(out.Turns, textTurn(t, m.Content))
			open = len(out.Turns[len(out.Turns)-1].Calls)
		case "user":
			if open == 0 {
				out.Turns = append(out.Turns, Turn{User: m.Content})
				continue
			}
			answer(t, out.Turns[len(out.Turns)-1].Calls, m.Content)
			open = 0
		}
	}
	return out
}

func textTurn(t testing.TB, text string) Turn {
	var out Turn
	out.Think, text = thought(text, "<think>\n", "\n</think>\n")
	text = strings.TrimPrefix(text, "\n")
	for {
		before, tail, ok := strings.Cut(text, "<tool_call>\n")
		out.Text += before
		if !ok {
			break
		}
		body, after, _ := strings.Cut(tail, "\n</tool_call>")
		out.Calls = append(out.Calls, Call{Name: gjson.Get(body, "name").String(), Arguments: canonical(t, gjson.Get(body, "arguments").Raw)})
		text = strings.TrimPrefix(after, "\n")
	}
	if len(out.Calls) > 0 {
		out.Text = strings.TrimSuffix(out.Text, "\n")
	}
	return out
}

func thought(text, open, end string) (think, tail string) {
	body, ok := strings.CutPrefix(text, open)
	if !ok {
		return "", text
	}
	think, tail, _ = strings.Cut(body, end)
	return think, tail
}

// answer adds a turn of results for the preceding calls.
func answer(t testing.TB, calls []Call, text string) {
	const open, end = "<tool_response>\n", "\n</tool_response>"
	body := strings.TrimSuffix(strings.TrimPrefix(text, open), end)
	parts := strings.SplitN(body, end+"\n"+open, len(calls))
	if len(parts) != len(calls) {
		t.Fatalf("%d results to %d calls: %.300q", len(parts), len(calls), text)
	}
	for i := range calls {
		calls[i].Result = parts[i]
	}
}

// inThinking moves a text that accompanies calls into the thinking, as sharegpt does.
func inThinking(full Talk) Talk {
	full.Turns = slices.Clone(full.Turns)
	for i := range full.Turns {
		if turn := &full.Turns[i]; len(turn.Calls) > 0 && turn.Text != "" {
			turn.Think, turn.Text = strings.TrimPrefix(turn.Think+"\n\n"+turn.Text, "\n\n"), ""
		}
	}
	return full
}

// fitsShareGPT reports whether sharegpt has a place for a talk: it has a system
// prompt, and no turn whose results are no text at all.
func fitsShareGPT(full Talk) bool {
	return full.System != "" && !slices.ContainsFunc(full.Turns[:len(full.Turns)-1], func(turn Turn) bool {
		return len(turn.Calls) == 1 && turn.Calls[0].Result == ""
	})
}

func shareGPT(t testing.TB, path string) []Talk {
	var out []Talk
	for _, r := range readRows[rows.ShareGPT](t, path) {
		talk := Talk{System: r.System}
		for _, turn := range r.Conversations {
			talk.addShareGPT(t, turn)
		}
		out = append(out, talk)
	}
	return out
}

func (talk *Talk) addShareGPT(t testing.TB, s rows.ShareGPTTurn) {
	switch s.From {
	case "human":
		talk.Turns = append(talk.Turns, Turn{User: s.Value})
	case "gpt", "function_call":
		var turn Turn
		turn.Think, turn.Text = thought(s.Value, "<think>\n", "\n</think>\n\n")
		if s.From == "function_call" {
			for _, c := range gjson.Parse(turn.Text).Array() {
				turn.Calls = append(turn.Calls, Call{Name: c.Get("name").String(), Arguments: canonical(t, c.Get("arguments").Raw)})
			}
			turn.Text = ""
		}
		talk.Turns = append(talk.Turns, turn)
	case "observation":
		calls := talk.Turns[len(talk.Turns)-1].Calls
		if len(calls) == 1 {
			calls[0].Result = s.Value
			return
		}
		for i, v := range gjson.Parse(s.Value).Array() {
			calls[i].Result = v.Raw
			if v.Type == gjson.String {
				calls[i].Result = v.String()
			}
		}
	}
}
