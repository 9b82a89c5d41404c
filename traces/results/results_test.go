package results_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/traces/results"
)

// folder returns a file system of the files by their names.
func folder(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// describe formats an attempt of a trial.
func describe(a *results.Attempt) string {
	reward := "unknown"
	if a.Reward != nil {
		reward = fmt.Sprint(*a.Reward)
	}
	text := a.RunID + "/" + a.Trial + "/" + a.ProblemID + " by " + a.Agent + " with " + a.Model + ": " + reward
	if a.Error != nil {
		text += " after " + a.Error.Type
	}
	if len(a.Lost) > 0 {
		text += fmt.Sprint(" lost ", a.Lost)
	}
	return text + " in " + a.File
}

const head = `{"task_name":"knots","trial_name":"knots__7f","agent_info":{"name":"sailor","version":"2","model_info":{"name":"m"}},"config":{"job_id":"j"}`

// TestTrialOfHarbor reads the outcomes that Harbor records. What Harbor does not count is unknown.
func TestTrialOfHarbor(t *testing.T) {
	t.Parallel()
	const sourcePrefix = "j/knots__7f/knots by sailor@2 with m: "
	const trajectory = " in t/agent/trajectory.json"
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"solved":                {map[string]string{"result.json": head + `,"verifier_result":{"rewards":{"reward":1}},"exception_info":null}`}, sourcePrefix + "1" + trajectory},
		"in part":               {map[string]string{"result.json": head + `,"verifier_result":{"rewards":{"reward":0.25}}}`}, sourcePrefix + "0.25" + trajectory},
		"one other name":        {map[string]string{"result.json": head + `,"verifier_result":{"rewards":{"score":0.5}}}`}, sourcePrefix + "0.5" + trajectory},
		"reward among others":   {map[string]string{"result.json": head + `,"verifier_result":{"rewards":{"speed":9,"reward":0}}}`}, sourcePrefix + "0 lost [other_scores]" + trajectory},
		"several others":        {map[string]string{"result.json": head + `,"verifier_result":{"rewards":{"speed":9,"style":0}}}`}, sourcePrefix + "unknown lost [other_scores]" + trajectory},
		"the agent's time":      {map[string]string{"result.json": head + `,"verifier_result":{"rewards":{"reward":0}},"exception_info":{"exception_type":"AgentTimeoutError"},"reward_valid":true}`}, sourcePrefix + "0 after AgentTimeoutError" + trajectory},
		"not counted":           {map[string]string{"result.json": head + `,"verifier_result":{"rewards":{"reward":0}},"exception_info":{"exception_type":"ApiError"},"reward_valid":false}`}, sourcePrefix + "unknown after ApiError" + trajectory},
		"not counted by policy": {map[string]string{"result.json": head + `,"verifier_result":{"rewards":{"reward":1}},"exception_info":{"exception_type":"ApiError","policy":{"has_valid_reward":false}}}`}, sourcePrefix + "unknown after ApiError" + trajectory},
		"no verdict":            {map[string]string{"result.json": head + `,"verifier_result":null,"exception_info":{"exception_type":"EnvironmentStartTimeoutError"}}`, "verifier/reward.txt": "0"}, sourcePrefix + "unknown after EnvironmentStartTimeoutError" + trajectory},
		"verdict in a file":     {map[string]string{"result.json": head + `}`, "verifier/reward.txt": "1.0\n"}, sourcePrefix + "1" + trajectory},
		"both files":            {map[string]string{"result.json": head + `}`, "verifier/reward.txt": "1", "verifier/reward.json": `{"reward":0.5}`}, sourcePrefix + "0.5" + trajectory},
		"no number":             {map[string]string{"result.json": head + `}`, "verifier/reward.txt": "nan"}, sourcePrefix + "unknown lost [unread:verifier/reward.txt]" + trajectory},
		"no object":             {map[string]string{"result.json": head + `}`, "verifier/reward.json": "[]", "verifier/reward.txt": "1"}, sourcePrefix + "1 lost [unread:verifier/reward.json]" + trajectory},
		"broken result": {
			map[string]string{"result.json": head, "config.json": `{"trial_name":"k","task":{"path":"tasks/knots"},"job_id":"j"}`, "verifier/reward.txt": "1"},
			"j/k/knots by  with : 1 lost [unread:result.json]" + trajectory,
		},
		"killed": {map[string]string{"config.json": `{"trial_name":"knots__7f","task":{"path":"tasks/knots"},"agent":{"name":"sailor","model_name":"m"},"job_id":"j"}`}, "j/knots__7f/knots by sailor with m: unknown" + trajectory},
	} {
		files := map[string]string{"t/agent/trajectory.json": "{}"}
		for file, text := range tt.files {
			files["t/"+file] = text
		}
		attempts := results.ReadTrial(folder(files), "t")
		if len(attempts) != 1 || describe(&attempts[0]) != tt.want || !attempts[0].HasTrajectory {
			t.Errorf("%s: %+v, want %s", name, attempts, tt.want)
		}
	}
}

// TestTrialWithoutTrajectory finds an attempt in a trial whose agent never began.
func TestTrialWithoutTrajectory(t *testing.T) {
	t.Parallel()
	files := folder(map[string]string{"t/result.json": head + `,"exception_info":{"exception_type":"SandboxBuildFailedError"}}`, "t/trial.log": "…"})
	attempts := results.ReadTrial(files, "t")
	if len(attempts) != 1 || attempts[0].HasTrajectory || attempts[0].File != "t/result.json" || attempts[0].Error == nil {
		t.Errorf("%+v", attempts)
	}
}

// TestTrialInSteps finds an attempt for each step of a task, with the reward of the step.
func TestTrialInSteps(t *testing.T) {
	t.Parallel()
	const steps = `,"verifier_result":{"rewards":{"reward":0.5}},"step_results":[{"step_name":"a","verifier_result":{"rewards":{"reward":1}}},{"step_name":"b","exception_info":{"exception_type":"ApiError"}}]}`
	attempts := results.ReadTrial(folder(map[string]string{
		"t/result.json": head + steps, "t/steps/a/agent/trajectory.json": "{}", "t/steps/b/agent/trajectory.json": "{}", "t/steps/c/trial.log": "",
	}), "t")
	var got []string
	for i := range attempts {
		got = append(got, describe(&attempts[i]))
	}
	want := []string{
		"j/knots__7f/knots/a by sailor@2 with m: 1 in t/steps/a/agent/trajectory.json",
		"j/knots__7f/knots/b by sailor@2 with m: unknown after ApiError in t/steps/b/agent/trajectory.json",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestTrialThatContinues reads each trajectory after a summary as an attempt of its own.
func TestTrialThatContinues(t *testing.T) {
	t.Parallel()
	fsys := folder(map[string]string{
		"t/result.json":                         head + `,"verifier_result":{"rewards":{"reward":1}}}`,
		"t/agent/trajectory.json":               "{}",
		"t/agent/trajectory.cont-1.json":        "{}",
		"t/agent/trajectory.cont-2.json":        "{}",
		"t/agent/trajectory.summarization.json": "{}",
	})
	const sourceSuffix = " by sailor@2 with m: 1 in t/agent/trajectory"
	want := []string{
		"j/knots__7f/knots" + sourceSuffix + ".json",
		"j/knots__7f-cont-1/knots" + sourceSuffix + ".cont-1.json",
		"j/knots__7f-cont-2/knots" + sourceSuffix + ".cont-2.json",
	}
	var got []string
	for _, a := range results.ReadTrial(fsys, "t") {
		got = append(got, describe(&a))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestFoldersOfOthersAreNoTrials checks that a folder which happens to have files of the same names
// is read as any other.
func TestFoldersOfOthersAreNoTrials(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a trace":    `{"messages":[{"role":"user","content":"q"}]}`,
		"an array":   `[]`,
		"no JSON":    `{"trial_name":`,
		"too deep":   `{"trial_name":"x","task":` + strings.Repeat("[", 1<<20),
		"other keys": `{"task":"x","name":"y"}`,
	} {
		files := folder(map[string]string{"t/result.json": text, "t/config.json": text})
		if attempts := results.ReadTrial(files, "t"); attempts != nil {
			t.Errorf("%s is a trial: %+v", name, attempts)
		}
		if results.IsJob(files, "t") {
			t.Errorf("%s is a job", name)
		}
	}
	if !results.IsJob(folder(map[string]string{"j/result.json": `{"n_total_trials":3}`}), "j") {
		t.Error("a job is none")
	}
}

// TestReportOfSWEbench reads the reports of the harness and of earlier versions of SWE-agent. A
// failed evaluation, and reports that differ, leave the outcome unknown. A report of a run in which
// a problem was not evaluated differs from none.
func TestReportOfSWEbench(t *testing.T) {
	t.Parallel()
	const now = `{"total_instances":8,"resolved_instances":1,"resolved_ids":["a"],"unresolved_ids":["b","c"],"empty_patch_ids":["d"],"error_ids":["e"],"infra_failure_ids":["c"],"incomplete_ids":["f"],"schema_version":2}`
	const before = `{"no_generation":["d"],"generated":["a","b","e"],"applied":["a","b"],"resolved":["a"],"test_errored":["e"]}`
	const other = `{"resolved_ids":["b"],"unresolved_ids":["a"]}`
	const firstHalf = `{"submitted_ids":["a","b"],"incomplete_ids":["c","d","e","f"],"resolved_ids":["a"],"unresolved_ids":["b"]}`
	const secondHalf = `{"submitted_ids":["c","d"],"incomplete_ids":["a","b","e","f"],"resolved_ids":["d"],"error_ids":["c"]}`
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"harness":   {map[string]string{"r/model.run.json": now}, "a:1 b:0 c:evaluation_error d:0 e:evaluation_error f:? g:-"},
		"SWE-agent": {map[string]string{"r/results.json": before}, "a:1 b:0 c:- d:0 e:evaluation_error f:- g:-"},
		"two":       {map[string]string{"r/model.run.json": now, "r/model.again.json": other}, "a:reports_differ b:reports_differ c:evaluation_error d:0 e:evaluation_error f:? g:-"},
		"halves":    {map[string]string{"r/1.json": firstHalf, "r/2.json": secondHalf, "r/3.json": firstHalf}, "a:1 b:0 c:evaluation_error d:1 e:? f:? g:-"},
		"differ":    {map[string]string{"r/1.json": now, "r/2.json": other, "r/3.json": secondHalf}, "a:reports_differ b:reports_differ c:evaluation_error d:reports_differ e:evaluation_error f:? g:-"},
	} {
		tt.files["r/a.traj"] = "{}"
		tt.files["r/trace.json"] = `{"messages":[]}`
		report, files := results.ReadReport(folder(tt.files), "r")
		if report == nil || len(files) != len(tt.files)-2 {
			t.Errorf("%s: report %v in %v", name, report, files)
			continue
		}
		got := ""
		for _, id := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			result := report.Result(id)
			switch {
			case result == nil:
				got += " " + id + ":-"
			case result.Error != nil:
				got += " " + id + ":" + result.Error.Type
			case result.Reward == nil:
				got += " " + id + ":?"
			default:
				got += fmt.Sprintf(" %s:%v", id, *result.Reward)
			}
		}
		if got[1:] != tt.want {
			t.Errorf("%s:\n%s, want\n%s", name, got[1:], tt.want)
		}
	}
	if report, _ := results.ReadReport(folder(map[string]string{"r/results.json": `{"resolved":3}`}), "r"); report != nil {
		t.Error("a file without lists is a report")
	}
	report, _ := results.ReadReport(folder(map[string]string{"r/results.json": `{"resolved":[3,"",{}]}`}), "r")
	if report == nil || report.Result("") != nil {
		t.Errorf("%v: an attempt without a problem is solved", report)
	}
}

func FuzzReadTrial(f *testing.F) {
	f.Add([]byte(head+`,"verifier_result":{"rewards":{"reward":1}}}`), []byte("1"))
	f.Add([]byte(`{"resolved_ids":["a"],"resolved":[{}]}`), []byte("nan"))
	f.Fuzz(func(t *testing.T, text, reward []byte) {
		files := folder(map[string]string{"t/result.json": string(text), "t/results.json": string(text), "t/verifier/reward.txt": string(reward)})
		for _, a := range results.ReadTrial(files, "t") {
			if a.File == "" || a.SHA256 == "" {
				t.Errorf("%q: an attempt without file or hash", text)
			}
		}
		report, _ := results.ReadReport(files, "t")
		if report != nil && report.SHA256 == "" {
			t.Errorf("%q: a report without hash", text)
		}
	})
}
