package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/export"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/canary"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/mix"
	"github.com/trajectory-arena/arena/pipeline/public"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

// plant writes a secret into every place of an envelope that a run, a model or
// a shop fills in. Calls stay equal to their dispatches, so that attempts that
// were kept are kept again.
func plant(t *testing.T, line []byte, secret string) []byte {
	t.Helper()
	var x map[string]any
	if err := json.Unmarshal(line, &x); err != nil {
		t.Fatal(err)
	}
	if e, failed := x["error"].(map[string]any); failed {
		e["type"] = "Error " + secret
		e["message"] = "it said " + secret
	}
	steps, _ := x["dialogue"].([]any)
	for _, s := range steps {
		completion := s.(map[string]any)["completion"].(map[string]any)
		message := completion["message"].(map[string]any)
		if think, ok := message["think"].(string); ok {
			mark := think + "\nI noted " + secret + " there."
			completion["content"] = strings.Replace(completion["content"].(string), think, mark, 1)
			message["think"] = mark
		}
		calls, _ := message["tool_call"].([]any)
		for _, c := range calls {
			call := c.(map[string]any)
			if id, named := call["tool_call_id"].(string); named {
				call["tool_call_id"] = id + " " + secret
			}
			if results, listed := call["result"].([]any); listed && len(results) > 0 {
				if product, ok := results[0].(map[string]any); ok {
					product["seller_note"] = "ask " + secret
				}
			}
		}
	}
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// plantDay writes one canary after the other into the attempts of a copy of the
// sample day, two in each, and into its runs.
func plantDay(t *testing.T, secrets []canary.Canary) string {
	t.Helper()
	dir := copyDay(t, unchanged)
	files, err := filepath.Glob(filepath.Join(dir, "traces", "*", "*.jsonl.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	n := 0
	for i, path := range files {
		var out bytes.Buffer
		for line := range bytes.Lines(inflate(t, path)) {
			out.Write(append(plant(t, line, secrets[n%len(secrets)].Text+" | "+secrets[(n+1)%len(secrets)].Text), '\n'))
			n += 2
		}
		if err := os.WriteFile(path, gzipped(t, out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		meta := fmt.Sprintf(`{"eval_run_id": "run-%d", "agent_version_id": "v %s", "miner_hotkey": "k %s", "suite_version": "s %s"}`,
			i, escaped(t, secrets[i].Text), escaped(t, secrets[i+1].Text), escaped(t, secrets[i+2].Text))
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "run.json"), []byte(meta), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func escaped(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[1 : len(b)-1])
}

func inflate(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// quotingJudge cites the model's text, as judges do.
type quotingJudge struct{ lengthJudge }

func (q quotingJudge) Judge(ctx context.Context, t *arena.Trace, d *arena.Dialogue) (arena.Judgement, error) {
	j, err := q.lengthJudge.Judge(ctx, t, d)
	for _, turn := range d.Turns {
		j.Spans = append(j.Spans, arena.Span{Gate: 1, Quote: turn.Think})
		j.Detail = "it wrote " + turn.Think
	}
	return j, err
}

// TestCanariesReachNoCorpus plants secrets of two hundred kinds in the attempts of a day; without
// the tag long the attempts hold more than half of them. The corpus has at least nine tenths of the
// training rows that it has without the secrets, and no file of it holds one.
func TestCanariesReachNoCorpus(t *testing.T) {
	t.Parallel()
	secrets := canary.All()
	if len(secrets) < 200 {
		t.Fatalf("only %d kinds of secrets", len(secrets))
	}
	day := plantDay(t, secrets)
	dir := t.TempDir()
	plain := builtSample(t, filepath.Join(dir, "plain"))
	r := newRun(t, day, filepath.Join(dir, "corpus"))
	r.Config.Steps = true
	r.Judge = quotingJudge{}
	r.Pages = func(set *reports.Set) (map[string][]byte, error) {
		b, err := json.Marshal(set)
		return map[string][]byte{"index.html": b}, err
	}
	s := build(t, r)
	if s.Rows["sft/train"] < plain.Rows["sft/train"]*9/10 {
		t.Errorf("%d rows, %d without canaries", s.Rows["sft/train"], plain.Rows["sft/train"])
	}
	if where := canary.Find(t, secrets, r.Out); len(where) > 0 {
		t.Errorf("%d canaries are left, the first %v", len(where), where[0])
	}
	countsHold(t, filepath.Join(r.Out, "data/sft/train-00000-of-00001.parquet"))
	verified(t, r.Out)
	m, err := corpus.ReadManifest(corpus.Disk{}, r.Out)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(m.Redaction.Counts["sft"]); n < 15 { // the rule for any token finds most tokens of several issuers
		t.Errorf("config sft lost %d kinds of secrets: %v", n, m.Redaction.Counts["sft"])
	}
	if len(m.Redaction.Counts["judgements"]) == 0 || len(m.Redaction.Counts["attempts"]) == 0 {
		t.Errorf("the ledger lost nothing: %v", m.Redaction.Counts)
	}
}

// countsHold counts the tokens of each row in its file and compares them with the stored number.
func countsHold(t *testing.T, shard string) {
	t.Helper()
	err := corpus.ReadRows(corpus.Disk{}, shard, func(r *rows.SFT) error {
		ms, err := chat.Decode(r.Messages)
		n, countErr := rows.CountTokens(rows.Bytes4{}, ms, r.Tools)
		if countErr != nil || int64(n) != r.NTokens {
			t.Errorf("%s has %d tokens and states %d", r.SessionID, n, r.NTokens)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCanariesLeaveNoCorpus starts from a corpus that was built without redaction:
// none is in an export, a mixture or a publication of it. Without the tag long a quarter
// of them is in two runs.
func TestCanariesLeaveNoCorpus(t *testing.T) {
	t.Parallel()
	secrets := canary.Sample()
	dir := t.TempDir()
	day := plantDay(t, secrets)
	leaveRuns(t, day, longtest.Pick(10, 2))
	r := newRun(t, day, filepath.Join(dir, "corpus"))
	r.Config.Redact.Secrets = false
	build(t, r)
	if len(canary.Find(t, secrets, r.Out)) == 0 {
		t.Fatal("the canaries are not even in the corpus")
	}
	redactor := redact.New(redact.Options{})
	exported := filepath.Join(dir, "exported")
	mixed := filepath.Join(dir, "mixed")
	if _, err := export.Run(t.Context(), corpus.Disk{}, r.Out, exported, export.All(), &export.Options{Redact: redactor, Sessions: 100}, 2); err != nil {
		t.Fatal(err)
	}
	m := mix.Mix{Sources: []mix.Source{{Dir: r.Out, Weight: 1}}, Config: mix.Defaults(), Workers: 2, Target: finish.Target{Out: mixed, Version: "test", FS: corpus.Disk{}}}
	if _, err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	published := filepath.Join(dir, "published")
	p := public.Publication{Corpus: r.Out, WithEval: true, Target: finish.Target{Out: published, Version: "test", FS: corpus.Disk{}, Redact: redactor}}
	if _, err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	countsHold(t, filepath.Join(exported, "data/hf-json/train-00000-of-00001.parquet"))
	for _, out := range []string{exported, mixed, published} {
		if where := canary.Find(t, secrets, out); len(where) > 0 {
			t.Errorf("%d canaries are left in %s, the first %v", len(where), filepath.Base(out), where[0])
		}
	}
}
