package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/report"
	"github.com/trajectory-arena/arena/student/inspectlog"
	"github.com/trajectory-arena/arena/student/rollout"
)

const hostile = `</style><script>alert(1)</script><img src=x onerror=alert(2)>"'&\u202e javascript:alert(3)`

// runFolder is a finished run in which everything that can be a text is
// hostile.
func runFolder(t testing.TB, samples int) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, v any) {
		b, err := json.Marshal(v)
		if text, is := v.(string); is {
			b, err = []byte(text), nil
		}
		if err = firstOf(err, os.WriteFile(filepath.Join(dir, name), b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("spec.json", map[string]any{"model": hostile, "samples": samples, "harness": hostile, "system": hostile, "sampling": map[string]string{"x": hostile}})
	write("summary.json", fmt.Sprintf(`{"problems":2,"samples":%d,"scored":%d,"coverage":0.75,"successes":1,"asr_all":0.25,"wilson95_all":[0.1,0.5],
		"wilson95_by_problem":[0.2,0.3],"by_category":{%q:{"problems":2,"asr_all":0.25,"wilson95_by_problem":[0.1,0.4]}},"by_contamination":{"clean":{},"contaminated":{}},
		"labels":{%q:2},"infra":{"http_500":1},"axes":{%q:0.5},"solved_problems":1,"flaky_problems":1,"tokens":{"prompt":7,"completion":5},
		"pass@1":{"mean":0.25},"pass@2":{"mean":0.5},"pass^1":{"mean":0.25},"pass^2":{"mean":0}}`, 2*samples, 2*samples-1, hostile, hostile, hostile))
	log, err := inspectlog.New(filepath.Join(dir, "inspect.eval"), inspectlog.Run{Samples: samples, System: hostile})
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i := range 2 * samples {
		r := rolloutOf(i/samples, i%samples)
		b, err := json.Marshal(r)
		if err = firstOf(err, log.Add(inspectlog.Sample{Problem: &arena.Problem{Query: hostile}, Result: r})); err != nil {
			t.Fatal(err)
		}
		lines.Write(append(b, '\n'))
	}
	if err := log.Close(nil); err != nil {
		t.Fatal(err)
	}
	write("results.jsonl", lines.String())
	write("telemetry.json", map[string]any{"servers": []any{map[string]any{"version": hostile}}, "cost": map[string]any{"gpu_usd": nil, "gpu_seconds": 12.5}})
	write("telemetry.jsonl", `{"seconds":0,"rollouts":1,"server":{"running":3,"kv_cache_use":0.1},"gpus":[{"index":0,"use":0.5,"memory_mib":2048,"power_w":300}]}
{"seconds":2,"rollouts":2,"server":{"running":4,"kv_cache_use":0.2},"gpus":[{"index":0,"use":0.6,"memory_mib":4096,"power_w":null}]}
{"seconds":0,"rollouts":0}
{"seconds":2,"gpus":[{"ind`)
	return dir
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// rolloutOf solves sample 0 of problem 0; the last sample has no answer.
func rolloutOf(problem, sample int) *rollout.Result {
	success, label, tokens := problem+sample == 0, rollout.Label(hostile), int64(5)
	if success {
		label = rollout.LabelSuccess
	}
	say := func(key string) string { b, _ := json.Marshal(hostile); return fmt.Sprintf("%q:%s", key, b) }
	line := `{"status":"SUCCESS","dialogue":[{"completion":{"message":{` + say("think") + "," + say("response") + `,"tool_call":[{` + say("name") + `,"parameters":{` + say("q") + `},` + say("result") + `}]}}}]}`
	r := &rollout.Result{
		ProblemID: hostile + fmt.Sprint(problem), Sample: sample, Outcome: rollout.Scored, Success: &success, Label: &label, Turns: 1 + sample,
		Score: []byte("null"), Recommended: []string{}, Tokens: evaluation.Tokens{Prompt: &tokens, Completion: &tokens}, Line: []byte(line),
	}
	if err := r.ReadTrace("run"); err != nil {
		panic(err)
	}
	return r
}

func pages(t testing.TB, dir string) (run, machine []byte) {
	t.Helper()
	r, err := report.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := report.ReadTelemetry(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Page()
	if err != nil {
		t.Fatal(err)
	}
	q, err := m.Page()
	if err != nil {
		t.Fatal(err)
	}
	run, err = p.HTML()
	machine, other := q.HTML()
	if err = firstOf(err, other); err != nil {
		t.Fatal(err)
	}
	return run, machine
}

func TestPagesOfARunEscapeWhatModelsSay(t *testing.T) {
	t.Parallel()
	run, machine := pages(t, runFolder(t, 4))
	for name, page := range map[string]string{"report": string(run), "telemetry": string(machine)} {
		if n := strings.Count(page, "<style>"); n != 1 || strings.Count(page, "</style>") != 1 {
			t.Errorf("%s: %d styles", name, n)
		}
		for _, bad := range []string{"<script", "<img", "http://", "https://", "<?xml", "xmlns"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s holds %q", name, bad)
			}
		}
		if strings.Count(page, "<iframe") > 1 || strings.Contains(page, "<a ") {
			t.Errorf("%s holds a link or a strange frame", name)
		}
	}
}

func TestThePageOfARun(t *testing.T) {
	t.Parallel()
	run, machine := pages(t, runFolder(t, 4))
	for _, want := range []string{
		"95 %: 0.200 to 0.300, by problem", "Success over samples", ">pass@k<", "By contamination", "infra: http_500", "Problems solved by some samples",
		"1 of 4", "solved: ", "system prompt", "replies of a rollout; the median is 3", `<iframe src="telemetry.html" sandbox`, "<svg ",
	} {
		if !bytes.Contains(run, []byte(want)) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, want := range []string{"gpu_usd", "unknown", "12.5", "finished rollouts", "memory of each GPU", "KV cache in use"} {
		if !bytes.Contains(machine, []byte(want)) {
			t.Errorf("the telemetry lacks %q", want)
		}
	}
	if bytes.Contains(machine, []byte("power of each GPU")) {
		t.Error("a plot of one point")
	}
}

// TestALongMomentIsRead: many servers and GPUs make a line of over 64 KiB.
func TestALongMomentIsRead(t *testing.T) {
	t.Parallel()
	dir := runFolder(t, 1)
	gpus := strings.Repeat(`{"index":0,"use":0.5,"power_w":300},`, 4000)
	if err := os.WriteFile(filepath.Join(dir, "telemetry.jsonl"), []byte(`{"seconds":0,"gpus":[`+strings.TrimSuffix(gpus, ",")+"]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := report.ReadTelemetry(dir); err != nil {
		t.Error(err)
	}
}

func TestARunHasOnePage(t *testing.T) {
	t.Parallel()
	dir := runFolder(t, 4)
	before, _ := pages(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "telemetry.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if after, _ := pages(t, dir); !bytes.Equal(before, after) {
		t.Error("the page depends on the telemetry")
	}
	one, _ := pages(t, runFolder(t, 1))
	if bytes.Contains(one, []byte("Success over samples")) {
		t.Error("a curve over one sample")
	}
}

func TestAFolderThatIsNoRun(t *testing.T) {
	t.Parallel()
	dir := runFolder(t, 1)
	for _, name := range []string{"results.jsonl", "summary.json", "spec.json", "inspect.eval"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := report.ReadRun(dir); err == nil {
			t.Errorf("a broken %s was read", name)
		}
	}
}
