package filters_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// pieces cuts a logged reply into the events of a stream, its texts in the
// middle.
func pieces(reply arena.Raw) []string {
	message := gjson.Get(string(reply), "choices.0.message")
	event := func(delta any) string {
		text, _ := json.Marshal(map[string]any{
			"id": gjson.Get(string(reply), "id").Str, "object": "chat.completion.chunk",
			"choices": []any{map[string]any{"index": 0, "delta": delta}},
		})
		return string(text)
	}
	events := []string{event(map[string]any{"role": "assistant"})}
	for _, key := range []string{"content", "reasoning_content"} {
		if s := message.Get(key).Str; s != "" {
			half := len(s) / 2
			events = append(events, event(map[string]any{key: s[:half]}), event(map[string]any{key: s[half:]}))
		}
	}
	for i, c := range message.Get("tool_calls").Array() {
		args := c.Get("function.arguments").Str
		for _, f := range []map[string]any{{"name": c.Get("function.name").Str, "arguments": ""}, {"arguments": args[:len(args)/2]}, {"arguments": args[len(args)/2:]}} {
			events = append(events, event(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": f}}}))
		}
	}
	return events
}

// TestStreamsAreRead holds that a log which has the pieces of a streamed reply, as events or as a
// list, has the same verdicts.
func TestStreamsAreRead(t *testing.T) {
	t.Parallel()
	f := newFilter(t)
	forms := map[string]func([]string) arena.Raw{
		"events": func(events []string) arena.Raw {
			text, _ := json.Marshal("data: " + strings.Join(events, "\n\ndata: ") + "\n\ndata: [DONE]\n\n")
			return arena.Raw(text)
		},
		"list": func(events []string) arena.Raw { return arena.Raw("[" + strings.Join(events, ",") + "]") },
	}
	for _, family := range []string{"honest plain", "honest native", "honest hermes", "override", "narrates"} {
		tr := played(t, family)
		for form, write := range forms {
			c := rewrite(tr, func(s string) string { return s })
			for i := range c.Steps {
				for j := range c.Steps[i].Proxy {
					if p := &c.Steps[i].Proxy[j]; strings.HasSuffix(p.Path, "completions") && p.Response != "" {
						p.Response = write(pieces(p.Response))
					}
				}
			}
			want := judged(f, tr)
			got := judged(f, c)
			if want != got {
				t.Errorf("%s as %s: %s, want %s", family, form, got, want)
			}
		}
	}
}
