package pipeline_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/shop/gates"
	"github.com/trajectory-arena/arena/judges/shop/steps"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/traces"
)

// goods are items for requests that are all different.
var goods = []string{
	"kettle", "ladder", "violin", "tent", "globe", "saddle", "anvil", "canoe", "lantern", "compass", "easel", "harp",
	"sledge", "telescope", "spindle", "trowel", "barometer", "hammock", "accordion", "sextant", "loom", "mortar", "kite", "bellows",
}

// trial is a row of messages as tau-bench writes it, of each fourth task without a call. Its reward
// is left out if it is empty.
func trial(task, n int, reward, extra string) string {
	thing := goods[task%len(goods)]
	text := fmt.Sprintf(`{"task_id":%d,"trial":%d,"info":{"task":{"instruction":"You are customer %s_%d. You want to return the %s of order W%d because it is broken in way %d."}}%s,"traj":[{"role":"system","content":"Help the customers."},
{"role":"user","content":"Hello %d, my %s is broken."},`, task, n, thing, task, thing, 70+task, 31*task, extra, n, thing)
	if task%4 != 1 {
		text += fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"get_order_details","arguments":"{\"order_id\":\"W%d\"}"}}]},{"role":"tool","tool_call_id":"c","content":"delivered"},
`, 70+task)
	}
	text += fmt.Sprintf(`{"role":"assistant","content":"The %s of order W%d goes back, said in way %d."}]`, thing, 70+task, n*n+task)
	if reward != "" {
		text += `,"reward":` + reward
	}
	return text + "}\n"
}

// writeTrials writes two trials of each task: of each third task none is solved, and of the task
// after it one trial has no reward.
func writeTrials(t *testing.T, dir string) (solved int) {
	t.Helper()
	text := ""
	for task := range goods {
		rewards := []string{"1.0", "0.0"}
		switch task % 3 {
		case 0:
			rewards[0] = "0.5"
		case 1:
			rewards[1] = ""
			solved++
		default:
			solved++
		}
		for n, reward := range rewards {
			text += trial(task, n, reward, "")
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "trials.jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return solved
}

func newForeignRun(t *testing.T, day, named string) *pipeline.Run {
	t.Helper()
	r := newRun(t, day, filepath.Join(t.TempDir(), "corpus"))
	domains, err := domain.NewSet(named)
	if err != nil {
		t.Fatal(err)
	}
	r.Domains = domains
	return r
}

// TestDeclaredOutcomesAreBuilt builds traces of another tool without any file of problems: the
// outcomes are those of the source, unknown ones remain unknown, and no failed attempt is in sft.
func TestDeclaredOutcomesAreBuilt(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	solved := writeTrials(t, day)
	r := newForeignRun(t, day, "")
	build(t, r)
	verified(t, r.Out)

	got := map[string]int{}
	successes := map[string]bool{}
	for _, o := range readRows[rows.Outcome](t, r.Out, "tables/outcomes.parquet") {
		successes[o.TraceID] = o.Success
		switch {
		case o.Success:
			got["solved"]++
		case o.Scored:
			got["failed"]++
		default:
			got[o.Error]++
			if o.Paid != nil {
				t.Errorf("%s: an unknown outcome has the reward %v", o.TraceID, *o.Paid)
			}
		}
	}
	want := map[string]int{"solved": solved, "failed": 2*len(goods) - solved - 8, domain.VoidUndeclared: 8}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
		for _, row := range readRows[rows.SFT](t, r.Out, "data/sft/"+split+"-00000-of-00001.parquet") {
			if !successes[row.SessionID] || row.Reward != 1 || row.JudgeScore != nil || *row.JudgeMultiplier != 1 {
				t.Errorf("row of sft: %s, solved %v, reward %v, grade %v", row.SessionID, successes[row.SessionID], row.Reward, row.JudgeScore)
			}
			if strings.Contains(strings.Join(row.Tools, ""), "find_product") {
				t.Errorf("row of sft: %s has tools of the shop", row.SessionID)
			}
		}
		for _, row := range readRows[rows.KTO](t, r.Out, "data/kto/"+split+"-00000-of-00001.parquet") {
			if row.Harness != "source" || strings.Contains(row.Prompt[0].Content, "find_product") {
				t.Errorf("row of kto: %s of harness %s has the system turn %s", row.SessionID, row.Harness, row.Prompt[0].Content)
			}
		}
	}
	for _, j := range readRows[rows.Judgement](t, r.Out, "tables/judgements.parquet") {
		if j.Outcome != string(arena.JudgeNotMeasured) || j.Score != nil {
			t.Errorf("%s: judgement %s with score %v", j.TraceID, j.Outcome, j.Score)
		}
	}
	m, err := corpus.ReadManifest(corpus.Disk{}, r.Out)
	if err != nil {
		t.Fatal(err)
	}
	card, err := os.ReadFile(filepath.Join(r.Out, corpus.CardName))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(card), "\nlanguage:") {
		t.Error("the card names a language, which the domain does not know")
	}
	if len(m.Domains) != 1 || m.Domains[0].Name != "service" || m.Domains[0].Attempts != int64(2*len(goods)) {
		t.Errorf("domains of the manifest: %+v", m.Domains)
	}
}

// TestALastCallThatEndsNeedsNoResult builds trials that stop at a call of a tool with the role end,
// which has no result: they are complete. A call of another tool without a result is unanswered, unless
// the domain has no tool with this role.
func TestALastCallThatEndsNeedsNoResult(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, domain string
		want         int64
	}{
		{"transfer_to_human_agents", "", 0},
		{"cancel_pending_order", "", 12},
		{"final_answer", "base", 0},
	} {
		tool, want := c.tool, c.want
		text := ""
		for task := range 12 {
			row := trial(4*task, 0, "1", "")
			answer := strings.LastIndex(row, `{"role":"assistant"`)
			text += row[:answer] + fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"z","function":{"name":%q,"arguments":"{\"summary\":\"case %d\"}"}}]}],"reward":1}`, tool, task) + "\n"
		}
		day := t.TempDir()
		if err := os.WriteFile(filepath.Join(day, "trials.jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := newForeignRun(t, day, c.domain)
		s, err := r.Build(t.Context())
		if want == 0 && err != nil {
			t.Fatal(err)
		}
		dropped := map[string]int64{}
		for _, c := range s.Funnel {
			maps.Copy(dropped, c.Dropped)
		}
		if dropped["unanswered_call"] != want {
			t.Errorf("%s: dropped %v, want %d as unanswered", tool, dropped, want)
		}
	}
}

// TestTasksOfSeveralSourcesMayShareTheirID builds a day with the trials of another source, which
// counts its tasks from 0 too. Tasks with different instructions are different problems; a hash after
// the ID tells them apart, in any order of the files. IDs that no two tasks share stay as they are.
func TestTasksOfSeveralSourcesMayShareTheirID(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	writeTrials(t, day)
	var others strings.Builder
	for task := range 3 {
		// The other source's task n is about the goods of task n+8.
		line := trial(task+8, 0, "1.0", "")
		others.WriteString(strings.Replace(line, fmt.Sprintf(`"task_id":%d,`, task+8), fmt.Sprintf(`"task_id":%d,`, task), 1))
	}
	for _, name := range []string{"another.jsonl", "z.jsonl"} {
		path := filepath.Join(day, name)
		if err := os.WriteFile(path, []byte(others.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		r := newForeignRun(t, day, "")
		build(t, r)
		verified(t, r.Out)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		names := map[string]map[string]bool{} // by ID without hash
		for _, a := range readRows[rows.Attempt](t, r.Out, "tables/attempts.parquet") {
			id, _, _ := strings.Cut(a.ProblemID, "~")
			if names[id] == nil {
				names[id] = map[string]bool{}
			}
			names[id][a.ProblemID] = true
		}
		for id, found := range names {
			want := 1
			if id == "0" || id == "1" || id == "2" {
				want = 2
			}
			if len(found) != want || found[id] != (want == 1) {
				t.Errorf("%s: the attempts at task %s have the problems %v", name, id, found)
			}
		}
	}
}

// TestAnAttemptOfSeveralDomainsIsLeftOut builds and imports a day with two attempts whose tools
// match two domains equally. The rules that apply are unknown: both commands leave the attempts out
// with that reason, with and without a reward, and their outcome is unknown.
func TestAnAttemptOfSeveralDomainsIsLeftOut(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	writeTrials(t, day)
	row := `{"eval_run_id":"tied","problem_id":"%s","messages":[{"role":"user","content":"Mend the %s."},{"role":"assistant","content":"","tool_calls":[{"id":"a","function":{"name":"search","arguments":"{}"}},{"id":"b","function":{"name":"view","arguments":"{}"}},{"id":"c","function":{"name":"bash","arguments":"{}"}},{"id":"d","function":{"name":"edit","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"},{"role":"tool","tool_call_id":"c","content":"3"},{"role":"tool","tool_call_id":"d","content":"4"},{"role":"assistant","content":"Done."}]%s}` + "\n"
	writeFile(t, filepath.Join(day, "tied.jsonl"), fmt.Sprintf(row, "roof", "roof", `,"reward":1`)+fmt.Sprintf(row, "wall", "wall", ""))
	r := newForeignRun(t, day, "")
	build(t, r)
	imported, _ := imports(t, day)
	for name, dir := range map[string]string{"build": r.Out, "import": imported} {
		n := 0
		for id, line := range linesByID(t, dir) {
			if !strings.HasPrefix(id, "tied/") {
				continue
			}
			n++
			if a := line.Attempt; a.Fate != rows.FateDropped || a.Reason != domain.VetoSeveral {
				t.Errorf("%s: %s is %s, %s", name, id, a.Fate, a.Reason)
			}
			if o := line.Outcome; o == nil || o.Scored || o.Success || o.Error != domain.VetoSeveral {
				t.Errorf("%s: %s has the outcome %+v", name, id, o)
			}
		}
		if n != 2 {
			t.Errorf("%s: %d attempts of several domains in the ledger", name, n)
		}
	}
}

// TestBenchmarkIsItsOwnMeasure builds the 200 dialogues of tau-bench: their outcomes are the
// benchmark's.
func TestBenchmarkIsItsOwnMeasure(t *testing.T) {
	t.Parallel()
	day := longtest.Shared(t, "data/real/tau-bench")
	inputs, err := traces.Discover(day)
	if err != nil {
		t.Fatal(err)
	}
	solved := map[bool]int{}
	if _, err = traces.Read(t.Context(), inputs[0], traces.Defaults(), func(item traces.Item) error {
		solved[*item.Trace.Declared >= 1]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	r := newForeignRun(t, day, "")
	build(t, r)
	verified(t, r.Out)
	got := map[bool]int{}
	for _, o := range readRows[rows.Outcome](t, r.Out, "tables/outcomes.parquet") {
		got[o.Success]++
	}
	if diff := cmp.Diff(solved, got); diff != "" {
		t.Error(diff)
	}
}

// TestDomainIsAFile builds traces of a domain that no Go knows.
func TestDomainIsAFile(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	writeTrials(t, day)
	file := filepath.Join(t.TempDir(), "repairs.yaml")
	const text = "name: repairs\ntitle: Repair desk trajectories\noutcome: {from: declared, pass: 0.5}\nunlogged: keep\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newForeignRun(t, day, file)
	build(t, r)
	solved := 0
	for _, o := range readRows[rows.Outcome](t, r.Out, "tables/outcomes.parquet") {
		if o.Success {
			solved++
		}
	}
	if solved != len(goods) {
		t.Errorf("%d solved with the pass mark of the file, want %d", solved, len(goods))
	}
	card, err := os.ReadFile(filepath.Join(r.Out, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"# Repair desk trajectories", "| repairs | 48 |"} {
		if !strings.Contains(string(card), word) {
			t.Errorf("the card lacks %q", word)
		}
	}
}

// TestRepeatedCallsAreWasteInService builds attempts of which every fourth repeats a call in vain. Their
// steps have labels by the rule that the domain names, the repeated call the label false. Other attempts
// have no labels.
func TestRepeatedCallsAreWasteInService(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	writeTrials(t, day)
	path := filepath.Join(day, "trials.jsonl")
	const answered = `{"role":"tool","tool_call_id":"c","content":"delivered"},`
	text := readFile(t, path)
	for task := 0; task < len(goods); task += 4 {
		call := fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"get_order_details","arguments":"{\"order_id\":\"W%d\"}"}}]},`, 70+task)
		text = strings.ReplaceAll(text, call+answered, call+answered+call+answered)
	}
	writeFile(t, path, text)
	rule, _ := judges.StepsByFlag("steps")
	r := newForeignRun(t, day, "")
	r.Config.Steps = true
	judge, identity, err := rule.OpenSteps(nil)
	if err != nil {
		t.Fatal(err)
	}
	r.StepJudge = judge
	r.Instruments.StepJudge = pipeline.NewInstrumentID(identity)
	build(t, r)
	verified(t, r.Out)
	found := map[string]int{}
	for _, row := range readRows[rows.Steps](t, r.Out, "data/steps/train-00000-of-00001.parquet") {
		found[fmt.Sprintf("%s %v", row.Rule, row.Labels)]++
	}
	const want = "repeats_v1 [true false true]"
	if found[want] == 0 || len(found) > 1 {
		t.Errorf("rows %v, want only %s", found, want)
	}
}

// TestBuiltInDomainsMeasureTheseVersions holds that a new version of an instrument is measured again
// on every domain that had measured it: else the instrument is silently off there.
func TestBuiltInDomainsMeasureTheseVersions(t *testing.T) {
	t.Parallel()
	versions := map[string]string{
		domain.Judge: gates.Name,
	}
	if domain.StepsV2 != steps.Name {
		t.Errorf("the default of the key steps is %s, this program has %s", domain.StepsV2, steps.Name)
	}
	set, err := domain.NewSet("")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range set.Names() {
		d := set.ByName(name)
		versions[domain.Adaptivity] = d.Adaptivity
		versions[domain.Steps] = d.Steps
		versions[domain.Rewordings] = guard.RewordingsIn(d)
		for instrument, m := range d.Measured {
			if m.Version != versions[instrument] {
				t.Errorf("%s measures %s %s, this program has %s", name, instrument, m.Version, versions[instrument])
			}
		}
	}
}

// TestAdaptivityIsSilentWhereItWasNotMeasured builds a day of the shop together with episodes of
// packs, whose agents have habits, too: only those of the shop's agents are printed.
func TestAdaptivityIsSilentWhereItWasNotMeasured(t *testing.T) {
	t.Parallel()
	packs := longtest.Shared(t, "cases/domains/pack")
	r := newForeignRun(t, sampleDay, "")
	r.Sources.Days = append(r.Sources.Days, packs)
	build(t, r)
	text, err := os.ReadFile(filepath.Join(r.Out, "reports", "agents.json"))
	if err != nil {
		t.Fatal(err)
	}
	printed := 0
	others := 0
	for _, a := range gjson.GetBytes(text, "agents").Array() {
		isPrinted := a.Get("adaptivity").IsObject()
		name := a.Get("agent_version_id").Str
		if slices.Contains([]string{"native", "qwenxml", "dspy", "classify"}, name) {
			others++
			if isPrinted {
				t.Errorf("adaptivity of %s: %s", name, a.Get("adaptivity").Raw)
			}
		}
		if isPrinted {
			printed++
		}
	}
	if printed == 0 || others == 0 {
		t.Errorf("%d agents have an adaptivity; %d agents of other domains", printed, others)
	}
}

// writeCommands writes attempts at coding tasks: one agent reads files that a result named, in
// several orders, and the other runs the same commands always.
func writeCommands(t *testing.T, dir string) {
	t.Helper()
	for _, agent := range []string{"reader", "planner"} {
		folder := filepath.Join(dir, agent)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		text := ""
		for task, thing := range goods {
			commands := []string{"ls", "git status", "submit"}
			if agent == "reader" {
				commands = []string{"ls", "cat " + thing + "_test.py", "grep price " + thing + "_shop.py"}
				if task%2 == 0 {
					commands[1], commands[2] = commands[2], commands[1]
				}
			}
			text += fmt.Sprintf(`{"eval_run_id":%q,"problem_id":"task-%d","reward":%d,"messages":[{"role":"user","content":"Mend the %s in way %d of the repository."}`, agent, task, task%3%2, thing, task)
			for n, command := range commands {
				text += fmt.Sprintf(`,{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","function":{"name":"bash","arguments":"{\"command\":\"%s\"}"}}]},{"role":"tool","tool_call_id":"c%d","content":"%s_test.py %s_shop.py"}`, n, command, n, thing, thing)
			}
			text += fmt.Sprintf(`,{"role":"assistant","content":"The %s is mended by %s."}]}`+"\n", thing, agent)
		}
		for name, content := range map[string]string{"run.json": `{"agent_version_id":"` + agent + `"}`, "attempts.jsonl": text} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAdaptivityNeedsNoRolesOfTools builds attempts of the domain coding, whose adaptivity has the
// formula use_v1: it is the same for any number of workers.
func TestAdaptivityNeedsNoRolesOfTools(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	writeCommands(t, day)
	var texts []string
	for _, workers := range []int{1, 3} {
		r := newForeignRun(t, day, "coding")
		r.Config.Workers = workers
		build(t, r)
		text, err := os.ReadFile(filepath.Join(r.Out, "reports", "agents.json"))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
		byAgent := map[string]float64{}
		for _, v := range readRows[rows.Verdict](t, r.Out, "tables/verdicts.parquet") {
			if v.Adaptivity == nil {
				t.Fatalf("no adaptivity of %s", v.TraceID)
			}
			agent, _, _ := strings.Cut(v.TraceID, "/")
			byAgent[agent] = *v.Adaptivity
		}
		if byAgent["planner"] != 0 || byAgent["reader"] < 0.4 {
			t.Errorf("adaptivity %v", byAgent)
		}
	}
	printed := gjson.Get(texts[0], "agents.#.adaptivity.point")
	if len(printed.Array()) != 2 {
		t.Errorf("the report has adaptivity %s", printed.Raw)
	}
	if texts[0] != texts[1] {
		t.Errorf("one worker: %s\nthree workers: %s", texts[0], texts[1])
	}
}
