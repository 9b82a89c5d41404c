package traces

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/traces/convert"
)

// fuzzLimits returns limits that small inputs can reach.
func fuzzLimits() Options {
	opt := small()
	opt.Limits.FileBytes = 1 << 20
	return opt
}

// readBytes reads content as a file would be, from any reader.
func readBytes(tb testing.TB, src io.Reader, opt Options) (items []Item) {
	tb.Helper()
	r := &reader{ctx: tb.Context(), input: Input{Name: Stdin}, opt: opt, emit: func(i Item) error {
		items = append(items, i)
		return nil
	}}
	text, err := openContent(src, opt.Limits)
	if err == nil {
		err = r.readContent(text)
		text.close()
	}
	if err != nil {
		tb.Fatalf("read: %v", err)
	}
	if r.summary.Traces+r.summary.Faults != len(items) || len(items) == 0 {
		tb.Fatalf("%d items for %+v", len(items), r.summary)
	}
	return items
}

// readSeeds are texts of every shape and every kind of damage.
func readSeeds(f *testing.F) {
	for _, seed := range envelopeSeeds {
		f.Add([]byte(seed))
	}
	for _, seed := range []string{
		"", "\n", "[]", "null", "[[", "[{}", "[{},", `[{"a":1},{"b":2}]`, "[{\"a\":1},\n{\"b\":2},\nx", "[{\"a\":1},\n{\x7fb\":2},\nx", "{\n", "{\n\"a\":\n1}\n{}", "\xef\xbb\xbf{}",
		line("a") + "\n" + line("b") + "\r\n\x00", dialogueText, "[" + dialogueText + "," + dialogueText + "]",
		packed(f, line("a")), packed(f, line("a"))[:200], squeezed(f, line("a")), "\x1f\x8b", "\x28\xb5\x2f\xfd",
		`{"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","tool_calls":[{"id":1,"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","content":"r"}],"tools":"[]"}`,
		`{"conversations":[{"from":"function_call","value":"<think>a</think>[{\"name\":\"f\"}]"},{"from":"observation","value":"x"}]}`,
		`{"schema_version":"ATIF-v1.7","agent":{"name":"n","tool_definitions":[]},"steps":[{"source":"agent","timestamp":"2026-01-02T03:04:05Z","message":[],"tool_calls":[{"tool_call_id":"a","function_name":"f","arguments":{}}],"observation":{"results":[{"source_call_id":"a","content":"1"}]},"extra":{"arena":{"json_results":[0,-1,9],"arguments":[{"call":0,"value":"x"},{"call":9},1],"calls_without_id":[0]}}}],"extra":{"oro":{"reward":true},"arena":{"status":"FAILED","vetoes":["x"]}}}`,
		`{"schema_version":"oro.environment_episode.v1","episode":{"bootstrap":{"policy_view":{"query":"q"}},"call_trace":[{"request":{"calls":[{"call_id":"c","action":{"name":"n","args":{}}}]},"response":{"calls":[{"call_id":"c","observation":1}],"user_message":{"content":"u"}}}],"verdict":{"correct":true}}}`,
		`{"input":"system\ns\nuser\nu\nassistant\n","output":"a<obs>[{\"results\":1}]</obs>b<tool_call>{}</tool_call>","score":1}`,
		`{"sample":{"output_tools":{"name":"f"}},"grade":{"score":"x"}}`, `{"raw_text":1,"tool_calls":{}}`, feedbackText,
		`{"ledger_format":1,"episode":[{"kind":"open","task_id":1},{"kind":"action","tool":null,"args":null},{"kind":"reply","text":"x"},{"kind":"observation","observation":["x"]},{"kind":"finish","reason":"environment"}]}`,
		`{"ledger":[{"kind":"model_action","payload":{"name":"f"}},{"kind":"observation","payload":[]},{"kind":"user_message","payload":{"content":"c"}}],"verdict":{"correct":1,"score":"x","checks":[],"ledger_sha256":"0"}}`,
	} {
		f.Add([]byte(seed))
	}
}

// FuzzReadAnswersForEveryByte holds for any content of a file that reading returns complete traces
// and faults with a cause, and never fails.
func FuzzReadAnswersForEveryByte(f *testing.F) {
	readSeeds(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, item := range readBytes(t, bytes.NewReader(content), fuzzLimits()) {
			if (item.Trace == nil) == (item.Fault == nil) {
				t.Fatalf("item %+v", item)
			}
			if item.Trace != nil {
				checkTrace(t, item.Trace)
			} else if item.Fault.Reason == "" || item.Fault.Detail == "" {
				t.Fatalf("fault %+v", item.Fault)
			}
		}
	})
}

// checkTrace checks a trace against the documented properties of its type.
func checkTrace(tb testing.TB, trace *arena.Trace) {
	tb.Helper()
	if trace.ID == "" || trace.RunID == "" || len(trace.RecordSHA256) != 64 || trace.Source.Shape == "" || trace.Bytes < 1 {
		tb.Fatalf("trace without a name: %+v", trace)
	}
	checkRaw(tb, trace.Tools)
	for _, s := range trace.Steps {
		if s.Number < 1 || s.LLMCalls != nil && *s.LLMCalls < 0 {
			tb.Fatalf("step %+v", s)
		}
		checkRaw(tb, s.Raw, s.Timestamp)
		for _, c := range s.Calls {
			checkRaw(tb, c.Arguments, c.Result)
		}
		for _, p := range s.Proxy {
			checkRaw(tb, p.Params, p.Body, p.Response)
		}
	}
}

func checkRaw(tb testing.TB, raws ...arena.Raw) {
	tb.Helper()
	for _, raw := range raws {
		if raw != "" && (!json.Valid([]byte(raw)) || strings.TrimSpace(string(raw)) != string(raw)) {
			tb.Fatalf("raw %q is not one JSON value", raw)
		}
	}
}

// FuzzFramingIgnoresReadSizes holds that a file has the same items whether it is read in one piece
// or byte by byte.
func FuzzFramingIgnoresReadSizes(f *testing.F) {
	readSeeds(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		items := readBytes(t, bytes.NewReader(content), fuzzLimits())
		single := readBytes(t, iotest.OneByteReader(bytes.NewReader(content)), fuzzLimits())
		// the position of damage depends on how far the decompressor had read ahead
		detail := cmpopts.IgnoreFields(Fault{}, "Detail")
		if d := cmp.Diff(items, single, nan, detail); d != "" {
			t.Fatalf("in one piece -, byte by byte +:\n%s", d)
		}
	})
}

// FuzzWrittenTracesAreRead holds that any trace that was read can be written in every format, and
// read again from those with a reader.
func FuzzWrittenTracesAreRead(f *testing.F) {
	readSeeds(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, item := range readBytes(t, bytes.NewReader(content), fuzzLimits()) {
			if item.Trace == nil {
				continue
			}
			for _, format := range convert.Formats {
				text, lost, err := convert.Write(item.Trace, format)
				if err != nil {
					t.Fatal(err)
				}
				back := readBytes(t, bytes.NewReader(text), Defaults())
				if len(back) != 1 || back[0].Trace == nil {
					t.Fatalf("%s: got %+v\n%s", format, back[0].Fault, text)
				}
				merged := slices.Contains(lost, convert.LossTurns) // the writer reports this loss
				if got := back[0].Trace; len(got.Steps) != len(item.Trace.Steps) && !merged || got.Query != item.Trace.Query {
					t.Fatalf("%s: %d steps are %d, query %q is %q", format, len(item.Trace.Steps), len(got.Steps), item.Trace.Query, got.Query)
				}
			}
		}
	})
}

// FuzzMetadataIsReadOrRefused checks that run.json is read as an object or is an error.
func FuzzMetadataIsReadOrRefused(f *testing.F) {
	f.Add([]byte(`{"eval_run_id":12345678901234567890,"miner_hotkey":null}`))
	f.Add([]byte(`[]`))
	f.Add([]byte("\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := parseMeta(text)
		if err == nil && (!json.Valid(replaceInvalidUTF8(text)) || bytes.TrimSpace(text)[0] != '{') {
			t.Fatalf("accepted %q", text)
		}
	})
}
