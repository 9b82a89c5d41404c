package traces

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/traces/formats"
)

// fields is an object by encoding/json: the last of equal keys counts and keys
// keep their case.
type fields map[string]json.RawMessage

func oracleFields(raw json.RawMessage) fields {
	var f fields
	if json.Unmarshal(raw, &f) != nil {
		return nil
	}
	return f
}

func (f fields) raw(key string) arena.Raw { return arena.Raw(f[key]) }

func (f fields) string(key string) string {
	var s string
	if f.raw(key).Kind() != arena.String || json.Unmarshal(f[key], &s) != nil {
		return ""
	}
	return s
}

func (f fields) id(key string) string {
	if f.raw(key).Kind() == arena.Number {
		return string(f[key])
	}
	return f.string(key)
}

func (f fields) float(key string) (float64, bool) {
	var x float64
	ok := f.raw(key).Kind() == arena.Number && json.Unmarshal(f[key], &x) == nil
	return x, ok
}

func (f fields) count(key string) int {
	x, ok := f.float(key)
	if !ok || x < 0 || x > math.MaxInt32 || x != math.Trunc(x) {
		return -1
	}
	return int(x)
}

func (f fields) list(key string) (items []json.RawMessage, ok bool) {
	if f.raw(key).Kind() != arena.Array {
		return nil, false
	}
	return items, json.Unmarshal(f[key], &items) == nil
}

// oracle is the sandbox envelope by encoding/json alone.
func oracle(text []byte) (*arena.Trace, bool) {
	if !json.Valid(text) {
		return nil, false
	}
	f := oracleFields(text)
	t := new(formats.NewTrace(sandboxLine))
	t.ProblemID = f.id("problem_id")
	t.RunID = f.id("eval_run_id")
	if _, ok := f["status"]; ok {
		t.Status = arena.Status(f.string("status"))
	}
	if s, ok := f.float("execution_time"); ok {
		t.Seconds = s
	}
	t.InferenceFailures = f.count("inference_failure_count")
	t.InferenceTotal = f.count("inference_total")
	if e := f.raw("error"); e.Kind() == arena.String {
		t.Error = &arena.AttemptError{Message: f.string("error")}
	} else if e.Kind() == arena.Object {
		e := oracleFields(f["error"])
		t.Error = &arena.AttemptError{Type: e.string("type"), Message: e.string("message")}
	}
	steps, ok := f.list("dialogue")
	t.HasDialogue = ok
	for i, raw := range steps {
		t.Steps = append(t.Steps, oracleStep(t, i, raw))
	}
	return t, true
}

func oracleStep(t *arena.Trace, i int, raw json.RawMessage) arena.Step {
	step := oracleFields(raw)
	completion := oracleFields(step["completion"])
	info := oracleFields(step["extra_info"])
	message := oracleFields(completion["message"])
	s := arena.Step{
		Number: info.count("step"), Think: message.string("think"), Response: message.string("response"),
		Content: completion.string("content"), Reasoning: completion.string("reasoning_content"),
		Timestamp: info.raw("timestamp"), Raw: arena.Raw(raw),
	}
	if s.Number < 1 {
		s.Number = i + 1
	}
	if t.Query == "" {
		t.Query = info.string("query")
	}
	s.Calls = []arena.ToolCall{}
	s.Proxy = []arena.ProxyCall{}
	calls, _ := message.list("tool_call")
	for _, c := range calls {
		if f := oracleFields(c); f != nil {
			s.Calls = append(s.Calls, arena.ToolCall{ID: f.id("tool_call_id"), Name: f.string("name"), Arguments: f.raw("parameters"), Result: f.raw("result")})
		}
	}
	proxied, _ := info.list("proxy_calls")
	for _, p := range proxied {
		if f := oracleFields(p); f != nil {
			s.Proxy = append(s.Proxy, oracleProxy(f))
		}
	}
	return s
}

func oracleProxy(f fields) arena.ProxyCall {
	c := arena.ProxyCall{
		Attempt: f.string("kind") == "attempt", Method: f.string("method"), Path: f.string("path"),
		Params: f.raw("params"), Body: f.raw("json_data"), Response: f.raw("response"),
		Truncated: f.raw("response_truncated") == "true", Length: f.count("response_length"), Nonce: f.string("nonce_status"),
	}
	if f.raw("timestamp").Kind() == arena.Number {
		x, _ := f.float("timestamp")
		if n, err := strconv.ParseInt(string(f["timestamp"]), 10, 64); err == nil {
			c.AtMS = n
		} else if math.Abs(x) < 1<<53 {
			c.AtMS = int64(math.Round(x))
		}
	}
	c.DurationMS, _ = f.float("duration_ms")
	if x, ok := f.float("status_code"); ok && x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		c.Status = int(x)
	}
	ids, ok := f.list("result_product_ids")
	if ok {
		c.ItemIDs = []string{}
	}
	for _, raw := range ids {
		if id := (fields{"id": raw}).id("id"); id != "" {
			c.ItemIDs = append(c.ItemIDs, id)
		}
	}
	return c
}

// parsed returns the trace that the decoder reads, or the reason why it could not.
func parsed(text []byte) (*arena.Trace, error) {
	d := newDecoder(Limits{Depth: maxDepth, StringBytes: 1 << 30, Elements: 1 << 30})
	d.c.Reset(string(text))
	e := envelope{d: d}
	e.read()
	return e.t, d.c.End()
}

// FuzzEnvelopeAgreesWithEncodingJSON checks that the decoder accepts the same input as
// encoding/json and reads the same values.
func FuzzEnvelopeAgreesWithEncodingJSON(f *testing.F) {
	for _, seed := range envelopeSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		text = bytes.TrimSpace(replaceInvalidUTF8(text))
		if len(text) == 0 || text[0] != '{' {
			return
		}
		checkAgainstOracle(t, text)
	})
}

func checkAgainstOracle(tb testing.TB, text []byte) {
	tb.Helper()
	want, valid := oracle(text)
	got, err := parsed(text)
	if valid != (err == nil) {
		tb.Fatalf("encoding/json accepts: %v; the decoder returns %v\n%q", valid, err, text)
	}
	if !valid {
		return
	}
	for i := range got.Steps {
		if got.Steps[i].Calls == nil {
			got.Steps[i].Calls = []arena.ToolCall{}
		}
		if got.Steps[i].Proxy == nil {
			got.Steps[i].Proxy = []arena.ProxyCall{}
		}
	}
	// TestTypedStepsHoldNothingElse is about Typed.
	if d := cmp.Diff(want, got, nan, cmpopts.IgnoreFields(arena.Step{}, "Typed")); d != "" {
		tb.Fatalf("encoding/json -, decoder +:\n%s\n%q", d, text)
	}
}

var envelopeSeeds = []string{
	sampleEnvelope,
	`{}`, `{"dialogue":[]}`, `{"dialogue":null,"status":"FAILED","problem_id":12345678901234567890}`,
	`{"problem_id":"a","problem_id":"b","dialogue":[{"completion":{"content":"x"},"completion":{"reasoning_content":"\ud83d\ude00\ud800"}}]}`,
	`{"dialogue":[{"extra_info":{"step":2.0,"timestamp":1e3,"proxy_calls":[{"timestamp":1.5,"result_product_ids":[1,"2",null]},7]}},null,3]}`,
	`{"DIALOGUE":[],"Status":"x","error":"out of memory","error":{"type":"T","message":5}}`,
	`{"dialogue":[{"completion":{"message":{"think":7,"tool_call":{"name":"x"}}}}]}`,
	`{"a":-0.0e-12,"b":[1E+9,0.5,-1],"c":"\u0041\/\b\f\n\r\t\\\""}`,
	`{"a":01}`, `{"a":1.}`, `{"a":+1}`, `{"a":.5}`, `{"a":1e}`, `{"a":-}`, `{"a":tru}`, `{"a":nul}`, `{"a":"\x"}`,
	`{"a":"\u12"}`, `{"a" 1}`, `{"a":1,}`, `{,}`, `{"a":[1,]}`, `{"a":[1 2]}`, `{"a":1}}`, `{"a":"` + "\x01" + `"}`,
	`{"a":"\ud83d\u0041","b":"\udc00\ud83d"}`, "{\"a\":\"\xff\xfe\"}", "{\"a\"\t:\r\n1 }", `{"é":"日本\u2028"}`, `{"\u0064ialogue":[]}`,
}

// sampleEnvelope has every field that the sandbox writes.
const sampleEnvelope = `{"problem_id": "p-1", "status": "SUCCESS", "execution_time": 3.25, "inference_failure_count": 1, "inference_total": 2, "error": null, "dialogue": [
{"completion": {"reasoning_content": "kettles", "content": "<think>look</think>\n<tool_call>[]</tool_call>", "message": {"think": "look", "tool_call": [{"name": "find_product", "parameters": {"q": "kettle", "page": 1}, "tool_call_id": "c1", "result": [{"product_id": "77", "price": 12.5}]}], "response": "one moment"}},
 "extra_info": {"step": 1, "query": "A kettle, \"steel\".", "timestamp": 1780000000123, "problem_id": "p-1", "execution_time": 3.25, "proxy_calls": [
  {"kind": "summary", "method": "POST", "path": "/inference/chat/completions", "timestamp": 1780000000100, "duration_ms": 81.5, "status_code": 200, "json_data": {"model": "m"}, "response": {"choices": [{"message": {"content": "look"}}]}},
  {"kind": "attempt", "method": "GET", "path": "/search/find_product", "timestamp": 1780000000110, "duration_ms": 7, "status_code": null, "params": {"q": "kettle"}, "response_truncated": true, "response_length": 2411, "result_product_ids": ["77"], "nonce_status": "valid"}]}},
{"completion": {"reasoning_content": "", "content": "", "message": {"tool_call": [{"name": "terminate", "parameters": {}, "tool_call_id": "c2", "result": null}]}}, "extra_info": {"step": 2, "query": "A kettle, \"steel\".", "timestamp": 1780000001000}}]}`

func TestEnvelopeSeedsAgreeWithEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, seed := range envelopeSeeds {
		checkAgainstOracle(t, replaceInvalidUTF8([]byte(seed)))
	}
}

// TestEveryGeneratedEnvelopeAgreesWithEncodingJSON reads every line of two generated
// days both ways, without the tag long every eighth.
func TestEveryGeneratedEnvelopeAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"day", "judge"} {
		lines := sharedLines(t, set)
		for i := 0; i < len(lines); i += longtest.Pick(1, 8) {
			checkAgainstOracle(t, lines[i])
		}
	}
}

// sharedLines are all lines of all gzipped files of a generated day.
func sharedLines(tb testing.TB, set string) (lines [][]byte) {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(longtest.Shared(tb, "data/"+set), "traces", "*", "*.gz"))
	if err != nil || len(files) == 0 {
		tb.Fatal("no traces", err)
	}
	for _, name := range files {
		lines = append(lines, bytes.Split(bytes.TrimSpace(unpacked(tb, name)), []byte{'\n'})...)
	}
	return lines
}

func unpacked(tb testing.TB, name string) []byte {
	tb.Helper()
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// TestTruncatedEnvelopesAreRefused truncates the sample at every byte.
func TestTruncatedEnvelopesAreRefused(t *testing.T) {
	t.Parallel()
	for n := range len(sampleEnvelope) {
		if _, err := parsed([]byte(sampleEnvelope[:n])); err == nil {
			t.Fatalf("accepted the first %d bytes", n)
		}
	}
}

func TestIDsOfTwentyDigitsStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	const id = "12345678901234567891"
	line := strings.Replace(sampleEnvelope, `"p-1"`, id, 1)
	line = strings.ReplaceAll(line, "\n", "")
	if got := one(t, line); got.ProblemID != id || got.ID != "stdin/"+id {
		t.Errorf("problem id %s of trace %s, want %s", got.ProblemID, got.ID, id)
	}
}
