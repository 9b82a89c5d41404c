package inspectlog

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/student/rollout"
)

var update = flag.Bool("update", false, "write the golden files anew")

func ptr[T any](v T) *T { return &v }

var problem = arena.Problem{Query: "A lamp, <please>", Category: arena.CategoryProduct, Rewards: []arena.Reward{{ProductID: "700"}}}

// step is a trace's step: a thought, a text, calls and faults as JSON.
func step(think, text, calls, faults, finish string) string {
	return fmt.Sprintf(`{"completion":{"message":{"think":%q,"response":%q,"tool_call":%s}},"extra_info":{"malformed":%s,`+
		`"proxy_calls":[{"response":{"choices":[{"finish_reason":%q}],"usage":{"prompt_tokens":10,"completion_tokens":4}}}]}}`, think, text, calls, faults, finish)
}

func trace(steps ...string) []byte {
	return []byte(`{"problem_id":"p","status":"SUCCESS","dialogue":[` + strings.Join(steps, ",") + `]}`)
}

func samples() []*rollout.Result {
	scored := rollout.Result{
		ProblemID: "p/1", Outcome: rollout.Scored, Success: ptr(true), Label: ptr(rollout.LabelSuccess), Turns: 2, Stop: rollout.StopTerminated,
		Recommended: []string{"700"}, Score: []byte(`{"length":1,"rule":0.5}`), Quality: ptr(0.7), Category: "Product",
		Tokens: evaluation.Tokens{Prompt: ptr(int64(20)), Completion: ptr(int64(8))},
		Line: trace(
			step("Search.", "", `[{"name":"find_product","parameters":{"q":"lamp"},"result":[{"product_id":"700"}]}]`, `[]`, "tool_calls"),
			step("", "Here it is.", `[{"name":"terminate","parameters":{},"result":"ok"}]`, `[]`, "stop")),
	}
	faulty := scored
	faulty.Sample = 1
	faulty.Success = ptr(false)
	faulty.Label = ptr(rollout.LabelMalformedCall)
	faulty.Stop = rollout.StopMaxSteps
	faulty.Quality = nil
	faulty.Line = trace(step("", "", `[]`, `[{"name":"find_product","text":"{\"q\"","error":"Error: it ends"}]`, "length"))
	lost := rollout.Result{ProblemID: "p2", Outcome: rollout.Infra, Stop: rollout.StopInfra, Infra: ptr("http_500"), Line: []byte(`{"status":"FAILED","dialogue":null}`)}
	full := scored
	full.ProblemID = "p2"
	full.Success = ptr(false)
	full.Label = ptr(rollout.LabelOverflow)
	full.Stop = rollout.StopOverflow
	full.Line = trace()
	full.Sample = 1
	var results []*rollout.Result
	for _, r := range []rollout.Result{scored, faulty, lost, full} {
		r.SetScore(r.Score)
		if err := r.ReadTrace("run"); err != nil {
			panic(err)
		}
		results = append(results, &r)
	}
	return results
}

func run() Run {
	return Run{
		ID: "eval-0-s0", Task: "shopping_7-tool", Model: "m", ProblemIDs: []string{"p/1", "p2"}, Samples: 2, System: "You shop.", MaxSteps: 6,
		Spec: map[string]string{"harness": "7-tool"},
	}
}

func newFile(t testing.TB, path string) *atomicfile.File {
	t.Helper()
	file, err := atomicfile.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// written is the log of samples as bytes.
func written(t testing.TB, r Run, results []*rollout.Result) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "inspect.eval")
	l, err := New(newFile(t, path), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range results {
		if err = l.Add(&problem, s); err != nil {
			t.Fatal(err)
		}
	}
	if err = l.Close([]Score{{Name: "success", Scored: 3, Unscored: 1, Metrics: map[string]*float64{"accuracy": ptr(0.25)}}}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if leftovers, err := os.ReadDir(filepath.Dir(path)); err != nil || len(leftovers) != 1 {
		t.Errorf("%d files are left, %v", len(leftovers), err)
	}
	return b
}

// entries are the documents of a log by name, in order.
func entries(t testing.TB, log []byte) (names []string, texts map[string][]byte) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(log), int64(len(log)))
	if err != nil {
		t.Fatal(err)
	}
	texts = map[string][]byte{}
	for _, f := range z.File {
		reader, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		names, texts[f.Name] = append(names, f.Name), b
	}
	return names, texts
}

func TestTheLog(t *testing.T) {
	t.Parallel()
	log := written(t, run(), samples())
	if again := written(t, run(), samples()); !bytes.Equal(log, again) {
		t.Error("the same run has other bytes")
	}
	names, texts := entries(t, log)
	var got bytes.Buffer
	for _, name := range names {
		fmt.Fprintf(&got, "== %s\n", name)
		if err := json.Indent(&got, texts[name], "", " "); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	golden := filepath.Join("testdata", "log.txt")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestArgumentsThatOtherReadersCannotRead checks for valid and broken arguments of a model that the
// log has an object within the limits of Python's reader.
func TestArgumentsThatOtherReadersCannotRead(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("9", 5000)
	deep := strings.Repeat("[", 3000) + strings.Repeat("]", 3000)
	for raw, valid := range map[string]bool{
		`{"q":"lamp","price":10}`:                       true,
		`{"a":[1,{"b":null}],"c":0.5e3}`:                true,
		`{"q":"` + strings.Repeat("long ", 1000) + `"}`: true,
		`{"q":"\ud83d\ude00"}`:                          false,
		`{"q":"a \ud800 b"}`:                            false,
		`{"a":"\uD800"}`:                                false,
		`{"q":` + long + `}`:                            false,
		`{"q":` + deep + `}`:                            false,
		`{"q":`:                                         false,
		`[]`:                                            false,
		"{\"q\":\"\xff\"}":                              false,
	} {
		var as struct{ Text string }
		got := tame(raw)
		err := json.Unmarshal(got, &as)
		isKept := as.Text == strings.ToValidUTF8(raw, "\ufffd")
		if valid {
			isKept = string(got) == raw
		}
		if err != nil || !isKept {
			t.Errorf("%.40s is changed to %.80s, %v", raw, got, err)
		}
	}
}

// TestARolloutThatIsTooLargeIsLeftOutAndNamed checks that the sample of a rollout that is too large
// is written without its content, so that the others keep their positions.
func TestARolloutThatIsTooLargeIsLeftOutAndNamed(t *testing.T) {
	t.Parallel()
	results := samples()
	long := *results[0]
	long.Line = trace(step("", strings.Repeat("long ", maxRollout/5), `[]`, `[]`, "stop"))
	if err := long.ReadTrace("run"); err != nil {
		t.Fatal(err)
	}
	results[0] = &long
	_, texts := entries(t, written(t, run(), results))
	text := texts["samples/p/1_epoch_1.json"]
	if len(text) == 0 || len(text) > 64<<10 || !bytes.Contains(text, []byte(`"left_out":"the conversation: its trace of `)) {
		t.Errorf("a sample of %d bytes: %.300s", len(text), text)
	}
	if text := texts["samples/p/1_epoch_2.json"]; bytes.Contains(text, []byte("left_out")) {
		t.Errorf("another sample: %.300s", text)
	}
}

// TestMemoryDoesNotGrowWithTheRun checks that ten times the samples need at most 2 MiB more heap.
func TestMemoryDoesNotGrowWithTheRun(t *testing.T) {
	bytesFor := func(count int) uint64 {
		l, err := New(newFile(t, filepath.Join(t.TempDir(), "inspect.eval")), run())
		if err != nil {
			t.Fatal(err)
		}
		results := samples()
		for i := range count {
			s := results[i%len(results)]
			if err := l.Add(&problem, s); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if err := l.Close(nil); err != nil {
			t.Fatal(err)
		}
		return m.HeapAlloc
	}
	small := bytesFor(300)
	large := bytesFor(3000)
	// The zip keeps a few hundred bytes for each entry's place.
	if large > small+2<<20 {
		t.Errorf("300 samples hold %d bytes, 3,000 hold %d", small, large)
	}
}

func TestNamesThatAZipCannotHold(t *testing.T) {
	t.Parallel()
	if got := sampleID("a\x00b"); strings.Contains(got, "\x00") {
		t.Errorf("%q", got)
	}
	a := sampleID(strings.Repeat("x", 70_000) + "a")
	b := sampleID(strings.Repeat("x", 70_000) + "b")
	if len(a) > 300 || a == b {
		t.Errorf("%d bytes, equal %v", len(a), a == b)
	}
}

// FuzzAnyTraceIsADocument checks that the sample of any trace is JSON that can be read back.
func FuzzAnyTraceIsADocument(f *testing.F) {
	for _, s := range samples() {
		f.Add(s.Line)
	}
	f.Add([]byte(`{"dialogue":[{"completion":{"message":{"tool_call":[{"parameters":[1]}]}}},7]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		l := Log{run: run()}
		s := samples()[0]
		s.Line = line
		sample, _ := l.sample(&problem, s)
		if err := l.encode(sample); err != nil {
			t.Fatal(err)
		}
		gjson.GetBytes(l.encoded.Bytes(), "messages.#.tool_calls|@flatten").ForEach(func(_, call gjson.Result) bool {
			if !call.Get("arguments").IsObject() {
				t.Errorf("arguments are %s", call.Get("arguments").Raw)
			}
			return true
		})
	})
}

func BenchmarkAdd(b *testing.B) {
	l, err := New(newFile(b, filepath.Join(b.TempDir(), "inspect.eval")), run())
	if err != nil {
		b.Fatal(err)
	}
	results := samples()
	b.ReportAllocs()
	for i := range b.N {
		if err := l.Add(&problem, results[i%len(results)]); err != nil {
			b.Fatal(err)
		}
	}
}
