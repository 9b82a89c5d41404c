package pipeline_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// harborEndings are the endings of the trials of a generated job: what Harbor records, and the
// expected outcome. The exceptions have the policies that Harbor assigns to them.
var harborEndings = []struct {
	rewards, exception string
	isUnstarted        bool
	want               string
}{
	{rewards: `{"reward":1.0}`, want: "solved 1"},
	{rewards: `{"reward":1}`, want: "solved 1"},
	{rewards: `{"reward":0.0}`, want: "failed 0"},
	{rewards: `{"reward":0.5,"style":1}`, want: "failed 0.5"},
	{rewards: `{"reward":0}`, exception: "AgentTimeoutError", want: "failed 0"},
	{rewards: `{"reward":1}`, exception: "NonZeroAgentExitCodeError", want: "solved 1"},
	{rewards: `{"reward":0}`, exception: "ApiRateLimitError", want: "infrastructure_error"},
	{rewards: `{"reward":1}`, exception: "ApiConnectionClosedError", want: "infrastructure_error"},
	{exception: "VerifierTimeoutError", want: "infrastructure_error"},
	{exception: "EnvironmentStartTimeoutError", isUnstarted: true, want: "infrastructure_error"},
	{exception: "CancelledError", isUnstarted: true, want: "infrastructure_error"},
	{rewards: "null", want: "undeclared_outcome"},
}

// isCounted reports whether Harbor counts the reward of a trial with an exception.
func isCounted(exception string) bool {
	return exception == "" || exception == "AgentTimeoutError" || exception == "NonZeroAgentExitCodeError"
}

// writeHarborJob writes a job of 60 trials in the layout of Harbor 0.26: 15 tasks with four trials
// each. It returns the outcome of each trial by its name.
func writeHarborJob(t *testing.T, dir string) map[string]string {
	t.Helper()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{}
	write("config.json", `{"job_name":"night","jobs_dir":"jobs","n_attempts":4}`)
	write("result.json", `{"id":"5f","started_at":"2026-10-01T10:00:00Z","n_total_trials":60,"stats":{"n_completed_trials":60}}`)
	write("job.log", "Running 60 trials\n")
	for i := range 60 {
		ending := harborEndings[(i*7)%len(harborEndings)]
		task := fmt.Sprintf("repair-%s-%d", goods[i%15], i%15)
		name := fmt.Sprintf("%s__t%02dxQ", task, i)
		exception := "null"
		if ending.exception != "" {
			exception = fmt.Sprintf(`{"exception_type":%q,"exception_message":"m","exception_traceback":"Traceback","occurred_at":"2026-10-01T10:05:00Z","policy":{"should_retry":false,"should_grade":true,"has_valid_reward":%v}}`,
				ending.exception, isCounted(ending.exception))
		}
		verifier := "null"
		if ending.rewards != "" {
			verifier = `{"rewards":` + ending.rewards + `}`
			write(name+"/verifier/test-stdout.txt", "collected 3 items\n")
		}
		isValid := ending.rewards != "" && ending.rewards != "null" && isCounted(ending.exception)
		config := fmt.Sprintf(`{"task":{"path":"tasks/%s"},"trial_name":%q,"trials_dir":"jobs/night","agent":{"name":"terminus-2","model_name":"some/model"},"job_id":"5f"}`, task, name)
		write(name+"/config.json", config)
		write(name+"/trial.log", "started\n")
		write(name+"/result.json", fmt.Sprintf(`{"schema_version":1,"id":"%d","task_name":%q,"trial_name":%q,"trial_uri":"file:///jobs/night/%s","task_id":{"path":"tasks/%s"},"task_checksum":"c","config":%s,`+
			`"agent_info":{"name":"terminus-2","version":"2.0","model_info":{"name":"model","provider":"some"}},"agent_result":{"n_input_tokens":9},"verifier_result":%s,"exception_info":%s,"reward_valid":%v}`,
			i, task, name, name, task, config, verifier, exception, isValid))
		if !ending.isUnstarted {
			write(name+"/agent/trajectory.json", harborTrajectory(i, task))
			write(name+"/agent/episode-0/prompt.txt", "prompt")
			write(name+"/agent/episode-0/debug.json", `{"messages":[{"role":"user","content":"not a trace of its own"}]}`)
		}
		want["5f-trial-"+name+"/"+task] = ending.want
	}
	return want
}

// harborTemplate wraps the instruction of every task, as agents in a terminal do.
const harborTemplate = `You work in a terminal of a container and solve the task that is given below.
Answer with a plan and with the keystrokes that are to be sent to the terminal, and nothing else.
Wait for the screen after each batch of keystrokes before you decide what comes next in the work.

Task:
Mend the %s script of %s so that its %d tests pass.

The screen of the terminal is empty at the beginning, and the folder of the work is /app today.
Say that the task is complete only when you have seen with your own eyes that all tests pass.`

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(b)
}

func harborTrajectory(i int, task string) string {
	step := func(n int, text, keys, screen string) string {
		return fmt.Sprintf(`{"step_id":%d,"source":"agent","message":%q,"tool_calls":[{"tool_call_id":"call_%d","function_name":"bash_command","arguments":{"keystrokes":%q,"duration":1.0}}],"observation":{"results":[{"content":%q}]},"llm_call_count":1}`,
			n, text, n, keys, screen)
	}
	thing := goods[i%15]
	return fmt.Sprintf(`{"schema_version":"ATIF-v1.8","session_id":"s%d","agent":{"name":"terminus-2","version":"2.0","model_name":"some/model"},"steps":[{"step_id":1,"source":"user","message":%s},%s,%s,{"step_id":4,"source":"agent","message":"The %s script is mended in way %d.","llm_call_count":1}]}`,
		i, quoted(fmt.Sprintf(harborTemplate, thing, task, 3+i%15)),
		step(2, fmt.Sprintf("I look at %s first, in way %d.", thing, i), fmt.Sprintf("cat %s_%d.py\n", thing, i), fmt.Sprintf("def %s(x): return x + %d", thing, i)),
		step(3, fmt.Sprintf("Line 1 adds %d too much.", i), fmt.Sprintf("sed -i s/%d/%d/ %s_%d.py\n", i, i+1, thing, i), "ok"),
		thing, i)
}

// TestHarborJobIsItsOwnMeasure builds a job of Harbor: the outcome of every trial is the one that
// Harbor recorded, a trial that failed for another's reason is unknown, and the card names no shop.
func TestHarborJobIsItsOwnMeasure(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	want := writeHarborJob(t, day)
	r := newForeignRun(t, day, "")
	summary := build(t, r)
	verified(t, r.Out)
	got, rewards := declaredOutcomes(t, r.Out)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if rewards != 30 {
		t.Errorf("%d rewards in the ledger", rewards)
	}
	for _, stage := range summary.Funnel {
		if stage.Name == "guard" && len(stage.Dropped) > 0 {
			t.Errorf("attempts at other tasks were dropped for the template that all tasks share: %v", stage.Dropped)
		}
	}
	trained := 0
	for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
		for _, row := range readRows[rows.SFT](t, r.Out, "data/sft/"+split+"-00000-of-00001.parquet") {
			trained++
			if got[row.SessionID] != "solved 1" {
				t.Errorf("%s is %s, and in sft", row.SessionID, got[row.SessionID])
			}
		}
	}
	if trained == 0 {
		t.Errorf("no row: %+v", summary.Funnel)
	}
	card, err := os.ReadFile(filepath.Join(r.Out, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if word := regexp.MustCompile(`(?i)shop|seller|product|voucher`).Find(card); word != nil {
		t.Errorf("the card has the word %q", word)
	}
}

// declaredOutcomes returns the outcome of each attempt of a corpus as text, and the number of the
// rewards in the ledger.
func declaredOutcomes(t *testing.T, dir string) (outcomes map[string]string, rewards int) {
	t.Helper()
	outcomes = map[string]string{}
	for _, o := range readRows[rows.Outcome](t, dir, "tables/outcomes.parquet") {
		switch {
		case o.Success:
			outcomes[o.TraceID] = fmt.Sprint("solved ", *o.Paid)
		case o.Scored:
			outcomes[o.TraceID] = fmt.Sprint("failed ", *o.Paid)
		default:
			outcomes[o.TraceID] = o.Error
		}
	}
	for _, d := range readRows[rows.Declared](t, dir, "tables/declared.parquet") {
		if d.Reward != nil {
			rewards++
		}
	}
	return outcomes, rewards
}
