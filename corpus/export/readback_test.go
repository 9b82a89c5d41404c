package export_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
)

// Exports are read back, each profile by the rules of its own readers, so that tests can compare
// the exported rows with the source.

// Talk is one exported attempt of any profile.
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

// readExport reads every profile of an export that holds attempts, with each split's shards in
// order, and returns the talks by profile. Profile sft_turns has one talk a turn.
func readExport(t testing.TB, dir string) map[string][]Talk {
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

// reader returns the profile of a file and its reader, or nil if the file holds no attempts.
func reader(f *corpus.FileEntry) (string, func(testing.TB, string) []Talk) {
	top, _, _ := strings.Cut(f.Path, "/")
	switch {
	case f.Profile == corpus.ProfileHFJSON:
		return f.Config, hfJSON
	case f.Profile == "text":
		return f.Config, textRows
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

// canonical brings JSON into one form: keys sorted, digits kept.
func canonical(t testing.TB, text string) string {
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

// messages reads OpenAI messages: results answer the calls of the turn before
// them, by id.
func messages(t testing.TB, list []gjson.Result) Talk {
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
		return canonical(t, v.String())
	}
	return canonical(t, v.Raw)
}

// readLines are the lines of a file, which may be compressed with zstd.
func readLines(t testing.TB, path string) []gjson.Result {
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
	for _, line := range readLines(t, path) {
		out = append(out, messages(t, line.Get("messages").Array()))
	}
	return out
}

func atif(t testing.TB, path string) []Talk {
	var out []Talk
	for _, line := range readLines(t, path) {
		out = append(out, steps(t, line.Get("steps").Array()))
	}
	return out
}

// steps reads the steps of an ATIF trajectory. The first system step before the request is the
// system prompt; other system steps are left out.
func steps(t testing.TB, steps []gjson.Result) (talk Talk) {
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
	message := step.Get("message").String()
	switch step.Get("source").String() {
	case "system":
		if len(talk.Turns) == 0 {
			talk.System = message
		}
		return
	case "user":
		talk.Turns = append(talk.Turns, Turn{User: message})
		return
	}
	turn := Turn{Think: step.Get("reasoning_content").String(), Text: message}
	for _, c := range step.Get("tool_calls").Array() {
		call := Call{Name: c.Get("function_name").String(), Arguments: canonical(t, c.Get("arguments").Raw)}
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
	lines := readLines(t, path)
	if lines[0].Get("type").String() != "session" {
		t.Fatalf("%s does not begin with its session", path)
	}
	var message []gjson.Result
	before := int64(-1)
	for _, line := range lines[1:] {
		m := line.Get("message")
		if timestamp := m.Get("timestamp").Int(); timestamp <= before {
			t.Fatalf("%s: a message at %d after one at %d", path, timestamp, before)
		} else {
			before = timestamp
		}
		message = append(message, gjson.Parse(renamed.Replace(m.Raw)))
	}
	return []Talk{messages(t, message)}
}

// renamed are the session's own keys under OpenAI's names. A quote within a
// string is escaped in JSON, so that no text is changed.
var renamed = strings.NewReplacer(`"reasoningContent":`, `"reasoning_content":`, `"toolCalls":`, `"tool_calls":`, `"toolCallId":`, `"tool_call_id":`)
