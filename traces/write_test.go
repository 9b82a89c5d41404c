package traces

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/traces/convert"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// everyShape is one trace of every shape, and all the real ones at hand.
func everyShape(tb testing.TB) (attempts []*arena.Trace) {
	tb.Helper()
	for _, text := range []string{
		line("p-1"), dialogueText,
		`{"problem_id":"late","status":"TIMED_OUT","execution_time":300,"error":{"type":"T","message":"m"},"dialogue":null}`,
		`{"problem_id":"none","status":"SUCCESS","dialogue":[]}`,
		`{"messages":[{"role":"system","content":"S"},{"role":"user","content":"A mug."},{"role":"assistant","content":null,"tool_calls":[{"id":"x","function":{"name":"f","arguments":"{\"n\":12345678901234567890}"}},{"id":"y","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"x","content":"a\u2028b\ud83d\ude00"},{"role":"user","content":"More."},{"role":"assistant","content":"Done."}],"reward":0.5}`,
		`{"conversations":[{"from":"human","value":"A mug."},{"from":"function_call","value":"{\"name\":\"f\",\"arguments\":{}}"},{"from":"observation","value":"<&>"}]}`,
		`{"name":"g","query":"Q","sample":{"output_tools":[{"function":{"name":"f","arguments":{}}}],"assistant_text":""},"grade":{"success":true}}`,
		`{"problem_id":"odd","status":"SUCCESS","dialogue":[{"completion":{"message":{"think":"t","tool_call":[{"name":"f","parameters":[1],"result":"r"},{"name":"g","parameters":"x","tool_call_id":"1"},{"name":"h","tool_call_id":"1","result":null}]}},"extra_info":{"step":9,"timestamp":1.5}},7]}`,
		`{"problem_id":"tags","status":"SUCCESS","dialogue":[{"completion":{"content":"<think>t</think>\nHere.<tool_call>[{\"name\":\"f\",\"parameters\":{\"n\":1}}]</tool_call>","message":{"think":"t","tool_call":[{"name":"f","parameters":{"n":1}}]}}}]}`,
		`{"problem_id":"half a pair","status":"SUCCESS","dialogue":[{"completion":{"message":{"think":"t","tool_call":[{"name":"f","parameters":"\ud83d"}]}}}]}`,
	} {
		attempts = append(attempts, one(tb, text))
	}
	attempts = append(attempts, one(tb, feedbackText))
	episodes, _, _ := readAll(tb, "testdata/episodes", Defaults())
	attempts = append(attempts, episodes...)
	for _, set := range []string{"real/atif", "real/tau-bench", "real/oro-sft", "real/oro-episode", "judge"} {
		if longtest.SharedFolder() != "" {
			traces, _, _ := readAll(tb, longtest.Shared(tb, "data/"+set), Defaults())
			for i := 0; i < len(traces); i += longtest.Pick(1, 3) {
				attempts = append(attempts, traces[i])
			}
		}
	}
	return attempts
}

// identity ignores the fields that depend on a record's bytes, which differ in another record.
var identity = cmpopts.IgnoreFields(arena.Trace{}, "ID", "Source", "RecordSHA256", "Bytes")

// spelled compares JSON by meaning: writers drop the space between tokens and
// write escapes out.
var spelled = cmp.Transformer("compact", func(r arena.Raw) string {
	if r.Kind() == arena.String {
		return "text " + r.Text()
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(r)) != nil {
		return string(r)
	}
	return b.String()
})

// TestRoundTrip checks that a trace which was written and read again is equal except for the losses
// that the writer reported, and that a second round loses nothing more. Without the tag long it
// uses every generated shape and a third of the real traces.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, format := range []convert.Format{convert.ATIF, convert.OpenAI, convert.STS, convert.ClaudeCode, convert.Codex, convert.Pi} {
		for _, before := range everyShape(t) {
			text, lost, err := convert.Write(before, format)
			if err != nil {
				t.Fatal(err)
			}
			back := readBytes(t, bytes.NewReader(text), Defaults())
			if len(back) != 1 || back[0].Trace == nil {
				t.Fatalf("%s of %s is read as %+v", format, before.ID, back)
			}
			after := back[0].Trace
			want := without(*before, lost)
			got := without(*after, lost)
			if d := cmp.Diff(want, got, nan, identity, spelled, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("%s of %s (lost %v): written -, read +:\n%s", format, before.Source.Shape, lost, d)
			}
			again, _, err := convert.Write(after, format)
			if err != nil {
				t.Fatal(err)
			}
			if before.ProblemID != "" && !bytes.Equal(text, again) {
				t.Errorf("%s of %s changes when written again:\n%s\n%s", format, before.ID, text, again)
			}
		}
	}
}

// TestSessionsOfADayRoundTrip holds that each attempt of a day which is written as a session has
// the same row of messages when the session is read, with all sessions in one file. Without the
// shared day it uses the day of the repository, and without the tag long every seventh attempt.
func TestSessionsOfADayRoundTrip(t *testing.T) {
	t.Parallel()
	day := "../testdata/day"
	if longtest.SharedFolder() != "" {
		day = longtest.Shared(t, "data/day")
	}
	attempts, _, _ := readAll(t, day, Defaults())
	for _, format := range convert.Formats {
		if !format.IsSession() {
			continue
		}
		var file bytes.Buffer
		var want []string
		for i := 0; i < len(attempts); i += longtest.Pick(1, 7) {
			text, lost, err := convert.Write(attempts[i], format)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(lost, convert.LossTurns) {
				continue // two turns are read as one
			}
			file.Write(text)
			want = append(want, rowOf(t, attempts[i]))
		}
		items := readBytes(t, &file, Defaults())
		if len(items) != len(want) {
			t.Fatalf("%s: got %d attempts, want %d", format, len(items), len(want))
		}
		for i, item := range items {
			if d := cmp.Diff(withoutObjects(want[i]), withoutObjects(rowOf(t, item.Trace))); d != "" {
				t.Errorf("%s: %s", format, d)
			}
		}
		t.Logf("%s: %d of %d attempts", format, len(want), len(attempts))
	}
}

// withoutObjects returns a row without its spaces, since a format with objects does not keep those between
// the tokens of arguments.
func withoutObjects(row string) string {
	return strings.ReplaceAll(row[strings.Index(row, "\n"):], " ", "")
}

// without removes the fields that the losses name from a trace.
func without(t arena.Trace, lost []convert.Loss) arena.Trace {
	steps := append([]arena.Step(nil), t.Steps...)
	for i := range steps {
		steps[i].Calls = append([]arena.ToolCall(nil), steps[i].Calls...)
	}
	t.Steps = steps
	t.Lost = nil // what the first reader named is not in the written trace
	for _, loss := range lost {
		switch loss {
		case convert.LossOutcome:
			t.Status = ""
			t.Error = nil
			t.InferenceTotal = 0
			t.InferenceFailures = 0
			t.Seconds = 0
			t.HasDialogue = false
		case convert.LossAgent:
			t.Agent = arena.Agent{}
		case convert.LossVetoes:
			t.Vetoes = nil
		case convert.LossTask:
			t.Task = ""
		case convert.LossRuling:
			t.Ruling = nil
			t.Family = ""
		default: // of its steps
		}
		for i := range t.Steps {
			withoutInStep(&t.Steps[i], loss)
		}
	}
	return t
}

func withoutInStep(s *arena.Step, loss convert.Loss) {
	switch loss {
	case convert.LossProxyCalls:
		s.Proxy = nil
	case convert.LossStepRaw:
		s.Raw = ""
		s.Typed = false
	case convert.LossStepMeta:
		s.Number = 0
		s.Timestamp = ""
		s.LLMCalls = nil
	case convert.LossSplitMessage:
		s.Think = ""
		s.Response = ""
		s.Content = ""
		s.Reasoning = ""
	default: // of its calls, or of the trace
	}
	for j := range s.Calls {
		c := &s.Calls[j]
		switch loss {
		case convert.LossAbsentArguments:
			if c.Arguments == "" || c.Arguments == "{}" || c.Arguments == `"{}"` {
				c.Arguments = ""
			}
		case convert.LossArguments:
			if arena.Raw(c.Arguments.Text()).Kind() != arena.Object {
				c.Arguments = "{}"
			}
		case convert.LossArgumentsKind:
			c.Arguments = arena.Raw(c.Arguments.Text())
		case convert.LossResultKind:
			c.Result = arena.Raw(c.Result.Text())
		case convert.LossCallID:
			c.ID = ""
		default: // not of a call
		}
	}
}

func TestGoldenFormats(t *testing.T) {
	t.Parallel()
	for _, format := range convert.Formats {
		text, lost, err := convert.Write(one(t, line("p-1")), format)
		if err != nil {
			t.Fatal(err)
		}
		got := string(text)
		for _, l := range lost {
			got += "lost: " + string(l) + "\n"
		}
		golden := filepath.Join("testdata", string(format)+".golden")
		if *update {
			write(t, golden, got)
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, string(want), got)
	}
}

// TestThoughtAndCallsAreWrittenOnce writes steps whose text has tags with the same content as the
// step's keys, or with another one. Each thought and call is in the written row once, and losses
// are named.
func TestThoughtAndCallsAreWrittenOnce(t *testing.T) {
	t.Parallel()
	const tag = `<tool_call>[{"name":"find","parameters":{"q":"cup"}}]</tool_call>`
	find := arena.ToolCall{ID: "1", Name: "find", Arguments: `{"q": "cup"}`}
	for name, tt := range map[string]struct {
		step                       arena.Step
		content, reasoning, losses string
		calls                      int
	}{
		"the same in both":         {arena.Step{Content: "<think>Hm.</think>\nYes." + tag, Think: "Hm.", Calls: []arena.ToolCall{find}}, "Yes.", "Hm.", "split_message", 1},
		"reasoning of the server":  {arena.Step{Content: "<think>Hm.</think>\nYes.", Reasoning: "Hm."}, "Yes.", "Hm.", "split_message", 0},
		"another thought":          {arena.Step{Content: "<think>Oh.</think>Yes.", Reasoning: "Hm."}, "Yes.", "Hm.", "split_message tags", 0},
		"another call":             {arena.Step{Content: tag, Calls: []arena.ToolCall{{ID: "1", Name: "view", Arguments: "{}"}}}, "", "", "split_message tags", 1},
		"thought only in the text": {arena.Step{Content: "<think>Hm.</think>" + tag, Calls: []arena.ToolCall{find}}, "", "Hm.", "split_message", 1},
		"calls only in the text":   {arena.Step{Content: "<think>Hm.</think>" + tag, Reasoning: "Hm."}, "<think>Hm.</think>" + tag, "", "", 0},
		"all only in the text":     {arena.Step{Content: "<think>Hm.</think>" + tag}, "<think>Hm.</think>" + tag, "", "", 0},
		"no tags":                  {arena.Step{Content: "1 < 2", Reasoning: "Hm.", Calls: []arena.ToolCall{find}}, "1 < 2", "Hm.", "", 1},
	} {
		tt.step.Number = 1
		text, lost, err := convert.Write(&arena.Trace{ID: "x", Query: "A cup.", Status: arena.StatusSuccess, HasDialogue: true, Steps: []arena.Step{tt.step}}, convert.OpenAI)
		if err != nil {
			t.Fatal(err)
		}
		message := gjson.GetBytes(text, "messages.1")
		if got := message.Get("content").Str; got != tt.content {
			t.Errorf("%s: content %q, want %q", name, got, tt.content)
		}
		if got := message.Get("reasoning_content").Str; got != tt.reasoning {
			t.Errorf("%s: reasoning %q, want %q", name, got, tt.reasoning)
		}
		if got := len(message.Get("tool_calls").Array()); got != tt.calls {
			t.Errorf("%s: %d calls, want %d", name, got, tt.calls)
		}
		words := []string{}
		for _, l := range lost {
			if l == convert.LossSplitMessage || l == convert.LossTags {
				words = append(words, string(l))
			}
		}
		if got := strings.Join(words, " "); got != tt.losses {
			t.Errorf("%s: lost %q, want %q", name, got, tt.losses)
		}
	}
}

// TestMadeCallIDsAreNew checks that a call without an id receives one that no other call of the
// trace has.
func TestMadeCallIDsAreNew(t *testing.T) {
	t.Parallel()
	trace := &arena.Trace{Query: "q", Steps: []arena.Step{
		{Role: arena.RoleAgent, Calls: []arena.ToolCall{{Name: "a"}, {ID: "call-1-1", Name: "b"}, {Name: "c"}}},
		{Role: arena.RoleAgent, Calls: []arena.ToolCall{{ID: "call-1-3", Name: "d"}, {Name: "e"}}},
	}}
	text, _, err := convert.Write(trace, convert.OpenAI)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range gjson.GetBytes(text, "messages.#.tool_calls").Array() {
		for _, c := range m.Array() {
			ids = append(ids, c.Get("id").String())
		}
	}
	diff(t, "call-1-1x call-1-1 call-1-3x call-1-3 call-2-2", strings.Join(ids, " "))
}

// TestATIFKeepsItsOwnRules checks the rules of ATIF: step ids in sequence, calls on agents' steps
// only, every source_call_id a call of its step, and arguments that are objects.
func TestATIFKeepsItsOwnRules(t *testing.T) {
	t.Parallel()
	for _, trace := range everyShape(t) {
		text, _, err := convert.Write(trace, convert.ATIF)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			SessionID string `json:"session_id"`
			Steps     []struct {
				StepID    int `json:"step_id"`
				Source    string
				Message   *string
				ToolCalls []struct {
					ID        string `json:"tool_call_id"`
					Arguments map[string]any
				} `json:"tool_calls"`
				Observation struct {
					Results []struct {
						ID string `json:"source_call_id"`
					}
				}
			}
		}
		if err := json.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		for i, s := range doc.Steps {
			ids := map[string]bool{}
			for _, c := range s.ToolCalls {
				if ids[c.ID] || c.ID == "" || c.Arguments == nil {
					t.Errorf("%s: call %+v", trace.ID, c)
				}
				ids[c.ID] = true
			}
			for _, r := range s.Observation.Results {
				if !ids[r.ID] {
					t.Errorf("%s: result of %q names no call of its step", trace.ID, r.ID)
				}
			}
			hasForeignCalls := s.Source != "agent" && len(ids) > 0
			if s.StepID != i+1 || s.Message == nil || doc.SessionID == "" || hasForeignCalls {
				t.Errorf("%s: step %d is %+v", trace.ID, i, s)
			}
		}
	}
}

func TestUnknownFormatIsRefused(t *testing.T) {
	t.Parallel()
	if _, _, err := convert.Write(&arena.Trace{}, "xml"); err == nil || !strings.Contains(err.Error(), `"xml"`) {
		t.Errorf("got %v", err)
	}
}
