// Package exporttest reads exports back, each profile by the rules of its own
// readers, so that tests can hold what came out against what went in.
package exporttest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
)

// Talk is one exported attempt, whatever its profile.
type Talk struct {
	System string
	Turns  []Turn
}

// Turn is a message of the user, or one of the model with the answers to its
// calls.
type Turn struct {
	User  string
	Think string
	Text  string
	Calls []Call
}

// Call is one tool call. Arguments are JSON with sorted keys; Result is text.
type Call struct {
	Name      string
	Arguments string
	Result    string
}

// Read reads every profile of an export that holds attempts, each split's
// shards in order: talks by profile. Profile sft_turns gives one talk a turn.
func Read(t testing.TB, dir string) map[string][]Talk {
	t.Helper()
	m, err := corpus.ReadManifest(corpus.Disk{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]Talk{}
	for _, f := range m.Files {
		name, read := reader(&f)
		if read != nil {
			out[name] = append(out[name], read(t, filepath.Join(dir, filepath.FromSlash(f.Path)))...)
		}
	}
	return out
}

// reader gives the profile of a file and what reads it; nil where the file
// holds no attempts.
func reader(f *corpus.FileEntry) (string, func(testing.TB, string) []Talk) {
	top, _, _ := strings.Cut(f.Path, "/")
	switch {
	case f.Profile == corpus.ProfileHFJSON:
		return f.Config, hfJSON
	case f.Profile == "text":
		return f.Config, text
	case f.Profile == "verl-sft":
		return f.Config, verlSFT
	case f.Profile == "sharegpt":
		return f.Config, shareGPT
	case f.Profile == "openai-jsonl":
		return f.Config, openAI
	case top == "atif":
		return top, atif
	case top == "sts":
		return top, session
	case strings.HasSuffix(f.Path, ".arrow"):
		return top, arrow
	default:
		return "", nil
	}
}

// Canonical brings JSON into one form: keys sorted, digits kept.
func Canonical(t testing.TB, text string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decode %.200q: %v", text, err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Messages reads OpenAI messages: results answer the calls of the turn before
// them, by id.
func Messages(t testing.TB, list []gjson.Result) Talk {
	t.Helper()
	var out Talk
	ids := map[string]*Call{}
	for _, m := range list {
		content := m.Get("content").String()
		switch m.Get("role").String() {
		case "system":
			out.System = content
		case "user":
			out.Turns = append(out.Turns, Turn{User: content})
		case "assistant":
			turn := Turn{Think: m.Get("reasoning_content").String(), Text: content}
			clear(ids)
			for _, c := range m.Get("tool_calls").Array() {
				turn.Calls = append(turn.Calls, Call{Name: c.Get("function.name").String(), Arguments: arguments(t, c.Get("function.arguments"))})
			}
			for i, c := range m.Get("tool_calls").Array() {
				ids[c.Get("id").String()] = &turn.Calls[i]
			}
			out.Turns = append(out.Turns, turn)
		case "tool":
			call := ids[m.Get("tool_call_id").String()]
			if call == nil {
				t.Fatalf("a result answers no call of the turn before it: %.200s", m.Raw)
			}
			call.Result = content
		default:
			t.Fatalf("message of role %q", m.Get("role"))
		}
	}
	return out
}

// arguments are an object, or one in a string.
func arguments(t testing.TB, v gjson.Result) string {
	if v.Type == gjson.String {
		return Canonical(t, v.String())
	}
	return Canonical(t, v.Raw)
}
