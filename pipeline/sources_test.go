package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// sourceEnding is how an attempt ends in the records of another tool, and what its outcome then is.
type sourceEnding struct{ record, want string }

// asks returns the request of a task as a JSON string.
func asks(task int) string {
	return fmt.Sprintf(`"Please find out how the %s of house %d is mended."`, goods[task], 30+task)
}

func answers(task int) string {
	return fmt.Sprintf(`"The %s of house %d is mended with %d nails."`, goods[task], 30+task, 3*task+1)
}

// recordingTools are tools that record outcomes. write returns the record of an attempt at a task.
// The endings follow each other from task to task.
var recordingTools = map[string]struct {
	file    string
	before  string
	between string
	after   string
	endings []sourceEnding
	write   func(task int, ending string) string
}{
	"NeMo-Gym": {
		file: "rollouts.jsonl", between: "\n",
		endings: []sourceEnding{{`,"reward":1.0`, "solved 1"}, {`,"reward":0.0`, "failed 0"}, {`,"reward":0.25`, "failed 0.25"}, {``, "undeclared_outcome"}},
		write: func(task int, ending string) string {
			return fmt.Sprintf(`{"responses_create_params":{"input":[{"role":"user","content":%s}],"tools":[{"type":"function","name":"look","parameters":{"type":"object"}}]},"response":{"id":"r%d","model":"m","object":"response","output":[{"type":"function_call","call_id":"c","name":"look","arguments":"{\"n\":%d}"},{"type":"function_call_output","call_id":"c","output":"seen %d"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":%s}]}]}%s,"task_id":"t%d"}`,
				asks(task), task, task, task, answers(task), ending, task)
		},
	},
	"inspect": {
		file: "log.json", before: `{"version":2,"status":"success","eval":{"run_id":"r","model":"m","task":"t"},"plan":{},"results":{},"stats":{},"samples":[`, between: ",", after: "]}",
		endings: []sourceEnding{
			{`,"scores":{"match":{"value":"C"}}`, "solved 1"},
			{`,"scores":{"match":{"value":"I"}}`, "failed 0"},
			{`,"scores":{"match":{"value":"P"}}`, "failed 0.5"},
			{`,"scores":{"match":{"value":0.75}}`, "failed 0.75"},
			{`,"scores":{"match":{"value":"I"}},"error":{"message":"docker died","traceback":"…","traceback_ansi":"…"}`, "infrastructure_error"},
			{`,"scores":{"match":{"value":0}},"limit":{"type":"message","limit":30}`, "failed 0"},
			{`,"scores":{}`, "undeclared_outcome"},
		},
		write: func(task int, ending string) string {
			return fmt.Sprintf(`{"id":"t%d","epoch":1,"input":%s,"messages":[{"role":"user","content":%s},{"role":"assistant","content":"","tool_calls":[{"id":"c","function":"look","arguments":{"n":%d},"type":"function"}]},{"role":"tool","content":"seen %d","tool_call_id":"c","function":"look"},{"role":"assistant","content":%s}]%s}`,
				task, asks(task), asks(task), task, task, answers(task), ending)
		},
	},
	"verifiers": {
		file: "results.jsonl", between: "\n",
		endings: []sourceEnding{
			{`,"reward":1.0,"error":null`, "solved 1"},
			{`,"reward":0.0`, "failed 0"},
			{`,"reward":0.5`, "failed 0.5"},
			{`,"reward":0.0,"error":{"error":"SandboxError","error_chain_repr":"SandboxError('gone')","error_chain_str":"gone"},"error_chain":"SandboxError('gone')","long_error_chain":"gone"`, "infrastructure_error"},
			{`,"reward":0.0,"error":"ModelError('503')"`, "infrastructure_error"},
			{`,"reward":null`, "undeclared_outcome"},
		},
		write: func(task int, ending string) string {
			return fmt.Sprintf(`{"example_id":"t%d","prompt":[{"role":"user","content":%s}],"completion":[{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"look","arguments":"{\"n\":%d}"}}]},{"role":"tool","tool_call_id":"c","content":"seen %d"},{"role":"assistant","content":%s}]%s}`,
				task, asks(task), task, task, answers(task), ending)
		},
	},
	"tau2": {
		file: "results.json", before: `{"timestamp":"t","info":{"agent_info":{"llm":"m"},"environment_info":{"domain_name":"mending","policy":"Help."}},"tasks":[],"simulations":[`, between: ",", after: "]}",
		endings: []sourceEnding{
			{`,"termination_reason":"user_stop","reward_info":{"reward":1.0}`, "solved 1"},
			{`,"termination_reason":"agent_stop","reward_info":{"reward":0.0}`, "failed 0"},
			{`,"termination_reason":"max_steps","reward_info":{"reward":0.0}`, "failed 0"},
			{`,"termination_reason":"infrastructure_error","reward_info":{"reward":0.0}`, "infrastructure_error"},
			{`,"termination_reason":"user_stop","reward_info":null`, "undeclared_outcome"},
		},
		write: func(task int, ending string) string {
			return fmt.Sprintf(`{"id":"s%d","task_id":"t%d","trial":0%s,"messages":[{"role":"user","content":%s},{"role":"assistant","content":null,"tool_calls":[{"id":"c","name":"look","arguments":{"n":%d},"requestor":"assistant"}]},{"id":"c","role":"tool","content":"seen %d","requestor":"assistant"},{"role":"assistant","content":%s}]}`,
				task, task, ending, asks(task), task, task, answers(task))
		},
	},
}

// TestSourcesAreTheirOwnMeasure builds the results of several tools: the outcome of every attempt
// and its reward are those that the tool recorded, and an outcome that the tool does not record is
// unknown.
func TestSourcesAreTheirOwnMeasure(t *testing.T) {
	t.Parallel()
	for name, tool := range recordingTools {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			day := t.TempDir()
			var records, want []string
			for task := range goods {
				ending := tool.endings[task%len(tool.endings)]
				records = append(records, tool.write(task, ending.record))
				want = append(want, fmt.Sprintf("t%d %s", task, ending.want))
			}
			text := tool.before + strings.Join(records, tool.between) + tool.after + "\n"
			if err := os.WriteFile(filepath.Join(day, tool.file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			checkOutcomes(t, day, want)
		})
	}
}

// TestReportIsTheMeasureOfSWEagent builds a run of SWE-agent, whose outcomes are in the report of
// the evaluation next to the folders of the trajectories.
func TestReportIsTheMeasureOfSWEagent(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	lists := map[string][]string{}
	var want []string
	endings := []struct{ list, want string }{
		{"resolved_ids", "solved 1"}, {"unresolved_ids", "failed 0"}, {"error_ids", "infrastructure_error"},
		{"empty_patch_ids", "failed 0"}, {"incomplete_ids", "undeclared_outcome"},
	}
	for task := range goods {
		ending := endings[task%len(endings)]
		id := fmt.Sprintf("t%d", task)
		lists[ending.list] = append(lists[ending.list], `"`+id+`"`)
		want = append(want, id+" "+ending.want)
		replay := fmt.Sprintf(`,"replay_config":"{\"problem_statement\":{\"id\":\"%s\"}}"`, id)
		if task%2 == 1 {
			replay = "" // the id is the name of the file
		}
		text := fmt.Sprintf(`{"environment":"main","trajectory":[],"history":[{"role":"system","content":"Mend it.","agent":"main"},{"role":"user","content":%s,"agent":"main"},{"role":"assistant","content":"Look.","agent":"main","tool_calls":[{"id":"c","type":"function","function":{"name":"bash","arguments":"{\"command\":\"cat %d.py\"}"}}]},{"role":"tool","content":"seen %d","tool_call_ids":["c"],"agent":"main"},{"role":"assistant","content":%s,"agent":"main","tool_calls":[{"id":"d","type":"function","function":{"name":"submit","arguments":"{}"}}]},{"role":"tool","content":"diff --git","tool_call_ids":["d"],"agent":"main"}],"info":{"exit_status":"submitted"}%s}`,
			asks(task), task, task, answers(task), replay)
		folder := filepath.Join(day, "run", id)
		if err := os.MkdirAll(folder, 0o750); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{".traj": text, ".config.yaml": "agent:\n  x: 1\n", ".trace.log": "started\nended\n", ".pred": "{}", ".patch": "+x\n"} {
			if err := os.WriteFile(filepath.Join(folder, id+name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(day, "run", "preds.json"), []byte(`{"t0":{"model_patch":"+x"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	report := `{"total_instances":24`
	for list, ids := range lists {
		report += fmt.Sprintf(`,%q:[%s]`, list, strings.Join(ids, ","))
	}
	if err := os.WriteFile(filepath.Join(day, "run", "m.first.json"), []byte(report+`,"schema_version":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	checkOutcomes(t, day, want)
}

// checkOutcomes builds a day of one attempt a problem, and compares the outcomes of the problems,
// the rewards and the training rows with want.
func checkOutcomes(t *testing.T, day string, want []string) {
	t.Helper()
	r := newForeignRun(t, day, "")
	build(t, r)
	verified(t, r.Out)
	outcomes, _ := declaredOutcomes(t, r.Out)
	problems := map[string]string{}
	for _, a := range readRows[rows.Attempt](t, r.Out, "tables/attempts.parquet") {
		problems[a.TraceID] = a.ProblemID
	}
	got := map[string]string{}
	for id, text := range outcomes {
		got[problems[id]] = text
	}
	expected := map[string]string{}
	for _, line := range want {
		problem, text, _ := strings.Cut(line, " ")
		expected[problem] = text
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Error(diff)
	}
	for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
		path := "data/sft/" + split + "-00000-of-00001.parquet"
		if _, err := os.Stat(filepath.Join(r.Out, path)); err != nil {
			continue
		}
		for _, row := range readRows[rows.SFT](t, r.Out, path) {
			if expected[row.ProblemID] != "solved 1" || row.Reward != 1 {
				t.Errorf("%s is %s, and in sft with the reward %v", row.ProblemID, expected[row.ProblemID], row.Reward)
			}
		}
	}
}
