package exporttest

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"
)

// Lines are the lines of a file, which may be compressed with zstd.
func Lines(t testing.TB, path string) []gjson.Result {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".zst") {
		z, zerr := zstd.NewReader(nil)
		if zerr != nil {
			t.Fatal(zerr)
		}
		defer z.Close()
		b, err = z.DecodeAll(b, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []gjson.Result
	for line := range bytes.Lines(b) {
		if !gjson.ValidBytes(line) {
			t.Fatalf("%s: no JSON: %.200q", path, line)
		}
		out = append(out, gjson.ParseBytes(line))
	}
	return out
}

func openAI(t testing.TB, path string) []Talk {
	var out []Talk
	for _, line := range Lines(t, path) {
		out = append(out, Messages(t, line.Get("messages").Array()))
	}
	return out
}

func atif(t testing.TB, path string) []Talk {
	var out []Talk
	for _, line := range Lines(t, path) {
		out = append(out, Steps(t, line.Get("steps").Array()))
	}
	return out
}

// Steps reads the steps of an ATIF trajectory. Of system steps the first is the
// system prompt, where it comes before the request; others are left out.
func Steps(t testing.TB, steps []gjson.Result) (talk Talk) {
	t.Helper()
	for i, step := range steps {
		if step.Get("step_id").Int() != int64(i+1) {
			t.Fatalf("step %d has the id %s", i+1, step.Get("step_id"))
		}
		talk.step(t, step)
	}
	return talk
}

func (talk *Talk) step(t testing.TB, step gjson.Result) {
	said := step.Get("message").String()
	switch step.Get("source").String() {
	case "system":
		if len(talk.Turns) == 0 {
			talk.System = said
		}
		return
	case "user":
		talk.Turns = append(talk.Turns, Turn{User: said})
		return
	}
	turn := Turn{Think: step.Get("reasoning_content").String(), Text: said}
	for _, c := range step.Get("tool_calls").Array() {
		call := Call{Name: c.Get("function_name").String(), Arguments: Canonical(t, c.Get("arguments").Raw)}
		for _, r := range step.Get("observation.results").Array() {
			if r.Get("source_call_id").String() == c.Get("tool_call_id").String() {
				call.Result = r.Get("content").String()
			}
		}
		turn.Calls = append(turn.Calls, call)
	}
	talk.Turns = append(talk.Turns, turn)
}

// session reads a session trace: a header, then messages in the order of their
// times.
func session(t testing.TB, path string) []Talk {
	lines := Lines(t, path)
	if lines[0].Get("type").String() != "session" {
		t.Fatalf("%s does not begin with its session", path)
	}
	var messages []gjson.Result
	before := int64(-1)
	for _, line := range lines[1:] {
		m := line.Get("message")
		if at := m.Get("timestamp").Int(); at <= before {
			t.Fatalf("%s: a message at %d after one at %d", path, at, before)
		} else {
			before = at
		}
		messages = append(messages, gjson.Parse(renamed.Replace(m.Raw)))
	}
	return []Talk{Messages(t, messages)}
}

// renamed are the session's own keys under OpenAI's names. A quote within a
// string is escaped in JSON, so that no text is changed.
var renamed = strings.NewReplacer(`"reasoningContent":`, `"reasoning_content":`, `"toolCalls":`, `"tool_calls":`, `"toolCallId":`, `"tool_call_id":`)
