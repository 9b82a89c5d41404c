package traces

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
)

// ruled is a line of the verdicts of oro-env-runtime 4.0.1 on the sample's episodes, which
// bench/interop/episodes.py played in it.
type ruled struct {
	ID, Kind     string
	Score        *float64
	Category     string
	Flags        []string
	LedgerSHA256 string `json:"ledger_sha256"`
}

func runtimeRulings(t *testing.T) map[string]ruled {
	t.Helper()
	f, err := os.Open("testdata/ruled.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ruledTraces := map[string]ruled{}
	for s := bufio.NewScanner(f); s.Scan(); {
		var r ruled
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		ruledTraces[r.ID] = r
	}
	return ruledTraces
}

func TestALedgerHasTheOutcomeThatItsRuntimeRuled(t *testing.T) {
	t.Parallel()
	want := runtimeRulings(t)
	attempts, faults, _ := readAll(t, "testdata/episodes", Defaults())
	if len(faults) > 0 || len(attempts) != len(want) {
		t.Fatalf("%d episodes of %d, faults %v", len(attempts), len(want), faults)
	}
	events := 0
	for _, tr := range attempts {
		w := want[tr.ID]
		r := tr.Ruling
		events += r.Events
		if r.Category != strings.ReplaceAll(w.Category, " ", "_") || !slices.Equal(r.Flags, w.Flags) {
			t.Errorf("%s: %+v, want %+v of the runtime", tr.ID, r, w)
		}
		switch {
		case w.Score == nil:
			if r.Score != nil || r.Success || r.Void != "environment_error" || !slices.Contains(tr.Vetoes, "environment_error") {
				t.Errorf("%s: a fault of the environment is %+v, vetoes %v", tr.ID, r, tr.Vetoes)
			}
		case r.Score == nil || *r.Score != *w.Score || r.Success != (*w.Score == 1) || r.Void != "":
			t.Errorf("%s: %+v, the runtime paid %v", tr.ID, r, *w.Score)
		}
		if slices.Contains(tr.Vetoes, "ledger_mismatch") {
			t.Errorf("%s: the ledger's sha256 is another than the runtime's", tr.ID)
		}
		if tr.Family == "" || tr.Agent.Suite != "pack-0" || tr.Tools == "" || len(tr.Steps) < 3 {
			t.Errorf("%s: family %q, pack %q, %d steps", tr.ID, tr.Family, tr.Agent.Suite, len(tr.Steps))
		}
	}
	if events != 9 {
		t.Errorf("%d changes of the world, of 9", events)
	}
}

// TestAForgedLedgerIsFound holds that a changed record, task or grading is found as a mismatch
// between the ledger and the verdict.
func TestAForgedLedgerIsFound(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/episodes/a-0-00.json")
	if err != nil {
		t.Fatal(err)
	}
	honest := string(text)
	for name, change := range map[string][2]string{
		"an argument":   {`"ordered": "p0"`, `"ordered": "p1"`},
		"a float":       {`"price": 100.0`, `"price": 100`},
		"the task":      {`"task_id": "w0-t0", "ledger_sha256"`, `"task_id": "w0-t1", "ledger_sha256"`},
		"the grading":   {`"grading": []`, `"grading": [1]`},
		"a final order": {`"steps": 5`, `"steps": 6`},
	} {
		forged := strings.Replace(honest, change[0], change[1], 1)
		if forged == honest {
			t.Fatalf("%s: the sample has no %s", name, change[0])
		}
		if tr := one(t, forged); !slices.Contains(tr.Vetoes, "ledger_mismatch") {
			t.Errorf("%s changed: vetoes %v", name, tr.Vetoes)
		}
	}
	if tr := one(t, honest); slices.Contains(tr.Vetoes, "ledger_mismatch") {
		t.Error("the honest ledger is refused")
	}
}

const feedbackText = `{"schema_version":"oro.episode_feedback.v1","episode_result_id":"e-1","task_id":"t-1","family":"ranking","phase":"RACE",
"outcome":"completed","step_count":2,"tool_call_count":2,"search_call_count":1,"termination_code":"placed_order","query":"A mug.","passed":false,"paid_reward":0.0,
"interaction":[{"step_index":0,"turn":1,"calls":[{"call_id":"c1","tool_name":"search","args":{"query":"mug"},"observation":{"hits":[]},"done":false,"error_code":null}],"shopper_message":"Red!","message":null},
{"step_index":1,"turn":2,"calls":[{"call_id":"c2","tool_name":"place_order","args":{"id":"p"},"observation":null,"done":true,"error_code":"out_of_stock"}],"message":"done"}],
"failure_category":"request_not_met"}`

func TestFeedbackIsReadCompletely(t *testing.T) {
	t.Parallel()
	tr := one(t, feedbackText)
	if tr.RunID != "e-1" || tr.ProblemID != "t-1" || tr.Family != "ranking" || tr.Query != "A mug." || len(tr.Steps) != 3 {
		t.Errorf("read as %+v", tr)
	}
	if r := tr.Ruling; r == nil || *r.Score != 0 || r.Success || r.Category != "request_not_met" || r.Ending != "completed" {
		t.Errorf("ruling %+v", r)
	}
	if got := tr.Steps[2].Calls[0].Result; got != `{"error":"out_of_stock"}` || tr.Steps[1].Content != "Red!" {
		t.Errorf("steps %+v", tr.Steps)
	}
	for _, outcome := range []string{"environment_error", "verifier_error"} {
		void := one(t, strings.Replace(feedbackText, `"completed"`, `"`+outcome+`"`, 1))
		if void.Ruling.Void != outcome || void.Ruling.Score != nil || !slices.Contains(void.Vetoes, outcome) {
			t.Errorf("%s is %+v", outcome, void.Ruling)
		}
	}
	broken := one(t, strings.NewReplacer(`"completed"`, `"agent_error"`, `"passed":false,"paid_reward":0.0,`, "").Replace(feedbackText))
	if r := broken.Ruling; r.Score == nil || *r.Score != 0 || broken.Status != arena.StatusFailed {
		t.Errorf("an agent that broke off: %+v, %s", r, broken.Status)
	}
}

// TestCorrectAndUnpaidIsNoSuccess checks that an episode with a correct verdict is a success only
// if its paid reward is above 0.
func TestCorrectAndUnpaidIsNoSuccess(t *testing.T) {
	t.Parallel()
	for reward, success := range map[string]bool{"0.0": false, "0.25": true, "1.0": true} {
		got := one(t, `{"schema_version":"oro.environment_episode.v1","episode":{"task_id":"t","evaluation_run_id":"r","bootstrap":{"policy_view":{"query":"Q"}},"verdict":{"correct":true,"paid_reward":`+reward+`}}}`)
		if got.Ruling.Success != success {
			t.Errorf("paid %s: success %v", reward, got.Ruling.Success)
		}
	}
}

// TestTheTranscriptShowsWhoWroteTheCalls checks that the replies precede the calls that they name,
// and that an episode without a transcript has no log.
func TestTheTranscriptShowsWhoWroteTheCalls(t *testing.T) {
	t.Parallel()
	trace := func(suffix string) *arena.Trace {
		return one(t, `{"schema_version":"oro.environment_episode.v1","episode":{"task_id":"t","evaluation_run_id":"r","bootstrap":{"policy_view":{"query":"Q"}},"call_trace":[
{"request":{"turn":1,"calls":[{"call_id":"1","action":{"name":"search","args":{"query":"mug"}}}]},"response":{"calls":[{"call_id":"1","observation":{"hits":[1]}}]}},
{"request":{"turn":2,"calls":[{"call_id":"2","action":{"name":"buy","args":{"id":1}}}]},"response":{"calls":[{"call_id":"2","observation":{}}]}}],
"verdict":{"correct":true,"paid_reward":0.5,"checks":{"b":true,"a":false}}}`+suffix+`}`)
	}
	reply := func(tool string) string {
		return `{"kind":"summary","method":"POST","path":"/inference/chat/completions","timestamp":1,"status_code":200,"response":{"choices":[{"message":{"content":"I ` + tool + `","reasoning_content":"why","tool_calls":[{"function":{"name":"` + tool + `","arguments":"{}"}}]}}]}}`
	}
	transcribed := trace(`,"inference_transcript":{"calls":[` + reply("search") + `,` + reply("buy") + `]}`)
	for i, tool := range []string{"search", "buy"} {
		s := transcribed.Steps[i]
		if len(s.Proxy) != 2 || !strings.HasSuffix(s.Proxy[0].Path, "completions") || s.Proxy[1].Path != "/"+tool || s.Content != "I "+tool || s.Reasoning != "why" {
			t.Errorf("step %d: %+v", i, s)
		}
	}
	if r := transcribed.Ruling; !r.Success || *r.Score != 0.5 || r.Failed[0] != "a" || r.Passed[0] != "b" || !transcribed.Source.HasProxyLog || transcribed.InferenceTotal != 2 {
		t.Errorf("%+v, %+v", r, transcribed.Source)
	}
	untold := trace("")
	if untold.Source.HasProxyLog || len(untold.Steps[0].Proxy) > 0 || untold.InferenceTotal != -1 {
		t.Errorf("without a transcript: %+v", untold)
	}
}

func TestAnEpisodeMatchesTheNameOfItsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{digest.SHA256([]byte(feedbackText)), strings.Repeat("0", 64)} {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(feedbackText), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	attempts, _, _ := readAll(t, dir, Defaults())
	vetoed := 0
	for _, tr := range attempts {
		if slices.Contains(tr.Vetoes, "content_mismatch") {
			vetoed++
		}
	}
	if len(attempts) != 2 || vetoed != 1 {
		t.Errorf("%d read, %d vetoed", len(attempts), vetoed)
	}
}
