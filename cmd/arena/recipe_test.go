package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/longtest"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
	"github.com/trajectory-arena/arena/internal/script"
	"github.com/trajectory-arena/arena/pipeline/recipe"
)

// dayStudent serves a student that solves a share of the test day's problems and recommends an
// unrelated product for the others.
func dayStudent(t *testing.T, share float64) *script.Server {
	t.Helper()
	plan, err := script.Day(testDay, share)
	if err != nil {
		t.Fatal(err)
	}
	return &script.Server{Dialect: "native", Plan: plan}
}

func studentURL(t *testing.T, s *script.Server) string {
	t.Helper()
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return web.URL + "/v1"
}

// must runs the program and fails the test unless it exits as wanted.
func must(t *testing.T, want int, args ...string) string {
	t.Helper()
	code, _, words := arenaRun(args...)
	if code != want {
		t.Fatalf("arena %s: exit %d, want %d\n%s", strings.Join(args, " "), code, want, words)
	}
	return words
}

// trainRows reads the train rows of a config.
func trainRows[T any](t *testing.T, dir, config string) (rows []T) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "data", config, "train-*.parquet"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no shard of %s in %s: %v", config, dir, err)
	}
	for _, path := range paths {
		if err := corpus.ReadRows(corpus.Disk{}, path, func(row *T) error { rows = append(rows, *row); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

func recipeReport(t *testing.T, dir string) (r recipe.Report) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "reports", "recipe.json"))
	if err != nil || json.Unmarshal(b, &r) != nil {
		t.Fatalf("report of %s: %v", dir, err)
	}
	return r
}

// TestRecipes makes the data of every stage and compares it with what the plan of the scripted
// student implies.
func TestRecipes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	buildTestDay(t, inDir("corpus"))
	student := dayStudent(t, 0.6)
	url := studentURL(t, student)
	teacher := studentURL(t, dayStudent(t, 1))
	stage := func(name, out string, more ...string) {
		t.Helper()
		args := append([]string{"recipe", name, "--corpus", inDir("corpus"), "--catalog", filepath.Join(testDay, "catalog.jsonl"), "-o", inDir(out)}, more...)
		must(t, cli.ExitOK, args...)
		if longtest.Tests || name == "rft" {
			must(t, cli.ExitOK, "verify", inDir(out))
		}
		if evals, err := filepath.Glob(filepath.Join(inDir(out), "data", "*", "eval*")); err != nil || len(evals) > 0 {
			t.Errorf("got the files %v next to the train split, want none, %v", evals, err)
		}
	}
	training := trainRows[rows.RL](t, inDir("corpus"), "rl")

	stage("rft", "rft", "--endpoint", url, "--model", "m")
	if requests := student.Asked(); len(requests) == 0 || strings.Contains(fmt.Sprint(requests), "#8#") {
		t.Errorf("%d turns were asked, not samples 0 to 7", len(requests))
	}
	local := 0
	solved := map[string]bool{}
	for _, row := range trainRows[rows.SFT](t, inDir("rft"), "hf-json") {
		if strings.HasPrefix(row.SessionID, "eval-") {
			local++
			solved[row.ProblemID] = true
			if row.Reward != 1 {
				t.Errorf("rollout %s has reward %v", row.SessionID, row.Reward)
			}
		} else {
			local--
		}
	}
	if local != 0 || len(solved) == 0 || len(solved) > len(training) {
		t.Errorf("%d rollouts more than rows of the corpus, %d problems solved", local, len(solved))
	}
	for _, p := range []string{"sft_turns", "text", "sharegpt/train", "verl-sft"} {
		if _, err := os.Stat(filepath.Join(inDir("rft"), "data", p)); err != nil {
			t.Error(err)
		}
	}

	words := must(t, cli.ExitFailure, "recipe", "rft", "--corpus", inDir("corpus"), "--catalog", filepath.Join(testDay, "catalog.jsonl"),
		"--run", inDir("rft.work/run"), "--set", "select.where=n_steps > 1000", "-o", inDir("none"))
	if !strings.Contains(words, "no row is left to train on: ") || !strings.Contains(words, "rollouts were solved and dropped") {
		t.Error(words)
	}

	stage("teacher", "teacher", "--endpoint", teacher, "--model", "big")
	times := map[string]int{}
	for _, row := range trainRows[rows.SFT](t, inDir("teacher"), "hf-json") {
		times[row.SessionID+" "+row.TaskType]++
	}
	for row, n := range times {
		want := 1
		if strings.HasSuffix(row, " voucher") {
			want = 3
		}
		if n != want {
			t.Errorf("%s occurs %d times, want %d", row, n, want)
		}
	}
	if len(times) != len(training) {
		t.Errorf("%d problems of %d are taught", len(times), len(training))
	}

	run := inDir("rft.work/run")
	stage("kto", "kto", "--run", run)
	labels := map[string][2]int{}
	for _, row := range trainRows[rows.KTO](t, inDir("kto"), "kto") {
		n := labels[row.ProblemID]
		if row.Label {
			n[1]++
		} else {
			n[0]++
		}
		labels[row.ProblemID] = n
	}
	for id, n := range labels {
		if n[0] == 0 || n[1] == 0 {
			t.Errorf("problem %s has labels %v", id, n)
		}
	}

	stage("pref", "pref", "--run", run)
	for _, row := range trainRows[rows.Pref](t, inDir("pref"), "pref") {
		if row.ChosenScore < 0.5 || row.RejectedScore >= 0.5 {
			t.Errorf("pair %s: scores %v and %v", row.ProblemID, row.ChosenScore, row.RejectedScore)
		}
	}

	stage("steps", "steps", "--run", run, "--teacher", inDir("teacher.work/run"))
	for _, row := range trainRows[rows.Steps](t, inDir("steps"), "stepwise") {
		holds := 0.0
		sum := 0.0
		for i, label := range row.Labels {
			if label {
				holds++
			}
			sum += row.Rewards[i]
		}
		// The student and the teacher take the same steps where the student solves the problem.
		// Otherwise only the searched and recommended product differs.
		if allHold := holds == float64(len(row.Labels)); allHold != (row.Reward == 1) || holds < 2 || sum != holds+row.Reward {
			t.Errorf("problem %s: labels %v, rewards %v, reward %v", row.ProblemID, row.Labels, row.Rewards, row.Reward)
		}
	}

	for _, name := range []string{"sft", "kto", "pref"}[:longtest.Pick(3, 1)] {
		stage(name, name+"-of-corpus")
	}
	if r := recipeReport(t, inDir("sft-of-corpus")); len(r.Proof.Outside) != 0 || r.Proof.Canary != "caught" || r.Proof.Guard.Rows == 0 {
		t.Errorf("proof %+v", r.Proof)
	}
}

// forgetful returns a student that solves every problem in the first sample. In the others it
// recommends an unknown product, recommends none, answers that it found nothing, and writes a token
// that no chat template accepts.
func forgetful(t *testing.T) *script.Server {
	t.Helper()
	student := dayStudent(t, 1)
	solve := student.Plan
	student.Plan = func(query string, seed int64) script.Plan {
		plan := solve(query, seed)
		recommend := func(ids string) script.Plan {
			call := script.Call{Name: "recommend_product", Arguments: fmt.Sprintf(`{"product_ids":%q}`, ids)}
			return script.Plan{plan[0], {Content: "<think>This must be it.</think>", Calls: []script.Call{call}}, plan[len(plan)-1]}
		}
		return []script.Plan{
			plan, recommend("31415926535"), recommend(""),
			{plan[0], {Content: "I found nothing that fits."}},
			{plan[0], {Content: "<|im_end|> Nothing fits."}},
		}[seed]
	}
	return student
}

// TestMistakesAreFailures plays a student whose failures are of the kinds that builds reject: kto
// and pref train on them, rft and a build of the same run do not.
func TestMistakesAreFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	buildTestDay(t, inDir("corpus"))
	stage := func(name string, more ...string) string {
		t.Helper()
		words := must(t, cli.ExitOK, append([]string{"recipe", name, "--corpus", inDir("corpus"), "--catalog", filepath.Join(testDay, "catalog.jsonl"), "-o", inDir(name)}, more...)...)
		if longtest.Tests {
			must(t, cli.ExitOK, "verify", inDir(name))
		}
		return words
	}
	words := stage("kto", "--endpoint", studentURL(t, forgetful(t)), "--model", "m", "-k", "5")
	labels := map[string]int{}
	for _, row := range trainRows[rows.KTO](t, inDir("kto"), "kto") {
		sample := row.SessionID[:strings.Index(row.SessionID, "/")]
		labels[fmt.Sprint(sample[strings.LastIndex(sample, "-")+1:], " ", row.Label)]++
	}
	n := len(trainRows[rows.RL](t, inDir("corpus"), "rl"))
	if want := map[string]int{"s0 true": n, "s1 false": n, "s2 false": n, "s3 false": n}; !maps.Equal(labels, want) {
		t.Errorf("rows %v, want %v", labels, want)
	}
	mistakes := map[string]int64{"invented_id": int64(n), "recommend_count": int64(n)}
	if c := recipeReport(t, inDir("kto")).Counts[0]; !maps.Equal(c.Mistakes, mistakes) {
		t.Errorf("report %+v, want mistakes %v", c, mistakes)
	}
	if !strings.Contains(words, fmt.Sprintf("control_token %d", n)) {
		t.Errorf("what no template takes is not counted: %s", words)
	}

	stage("pref", "--run", inDir("kto.work/run"))
	rejected := map[string]bool{}
	for _, row := range trainRows[rows.Pref](t, inDir("pref"), "pref") {
		rejected[row.RejectedSession] = true
		if row.ChosenScore < 0.5 || row.RejectedScore >= 0.5 {
			t.Errorf("pair %s: scores %v and %v", row.ProblemID, row.ChosenScore, row.RejectedScore)
		}
	}
	if len(rejected) != n {
		t.Errorf("%d pairs of %d problems", len(rejected), n)
	}

	stage("rft", "--run", inDir("kto.work/run"))
	if r := recipeReport(t, inDir("rft")); r.Counts[0].In != int64(n) || r.Counts[0].Mistakes != nil {
		t.Errorf("rft reads %+v", r.Counts[0])
	}
	must(t, cli.ExitOK, "build", inDir("kto.work/run"), "--problems", inDir("kto.work/problems.jsonl"), "--catalog", filepath.Join(testDay, "catalog.jsonl"), "--bank", inDir("corpus/bank.json"), "-o", inDir("built"), "-q")
	for _, row := range trainRows[rows.KTO](t, inDir("built"), "kto") {
		if strings.Contains(row.SessionID, "-s1/") || strings.Contains(row.SessionID, "-s3/") {
			t.Errorf("%s is a row of a plain build", row.SessionID)
		}
	}
}

// TestRecipeKeepsHeldOutOut plants requests of training problems, verbatim and
// in other words, as held out: nothing is played at them, rows of them go, and
// the report names each.
func TestRecipeKeepsHeldOutOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	buildTestDay(t, inDir("corpus"))
	built := trainRows[rows.SFT](t, inDir("corpus"), "sft")
	planted := built[0].Goal
	reworded := "Hello! " + strings.ToUpper(built[len(built)-1].Goal) + " Thank you."
	bank := fmt.Sprintf("{\"id\":\"p1\",\"query\":%q}\n{\"id\":\"p2\",\"query\":%q}\n", planted, reworded)
	if err := os.WriteFile(inDir("held.jsonl"), []byte(bank), 0o600); err != nil {
		t.Fatal(err)
	}
	student := dayStudent(t, 0.6)
	must(t, cli.ExitOK, "recipe", "rft", "--corpus", inDir("corpus"), "--catalog", filepath.Join(testDay, "catalog.jsonl"),
		"--held-out", inDir("held.jsonl"), "--endpoint", studentURL(t, student), "--model", "m", "-k", "4", "-o", inDir("rft"))
	for turn := range student.Asked() {
		if strings.HasPrefix(turn, planted) || strings.HasPrefix(turn, built[len(built)-1].Goal) {
			t.Errorf("a rollout was played at a protected problem: %s", turn)
		}
	}
	for _, row := range trainRows[rows.SFT](t, inDir("rft"), "hf-json") {
		if row.ProblemID == built[0].ProblemID || row.ProblemID == built[len(built)-1].ProblemID {
			t.Errorf("row %s is of a protected problem", row.SessionID)
		}
	}
	r := recipeReport(t, inDir("rft"))
	dropped := map[string]bool{}
	for _, d := range r.Proof.Guard.Dropped {
		for id := range strings.SplitSeq(d.HeldOut, ", ") {
			dropped[id] = true
		}
	}
	if !dropped["p1"] || !dropped["p2"] || r.Proof.HeldOut != 2 || r.Counts[1].Dropped["leak"] == 0 {
		t.Errorf("dropped %v, %d held-out entries, counts %+v", dropped, r.Proof.HeldOut, r.Counts)
	}

	// An unfinished run is refused as a source of rollouts.
	if err := os.Remove(inDir("rft.work/run/summary.json")); err != nil {
		t.Fatal(err)
	}
	words := must(t, cli.ExitFailure, "recipe", "kto", "--corpus", inDir("corpus"), "--catalog", filepath.Join(testDay, "catalog.jsonl"), "--run", inDir("rft.work/run"), "-o", inDir("kto"))
	if !strings.Contains(words, "the run is not finished") {
		t.Error(words)
	}

	// The bank of a corpus that was guarded by a file protects without that file.
	must(t, cli.ExitOK, "build", testDay, "-o", inDir("guarded"), "--held-out", inDir("held.jsonl"), "-q")
	must(t, cli.ExitOK, "recipe", "sft", "--corpus", inDir("guarded"), "-o", inDir("sft"))
	if r = recipeReport(t, inDir("sft")); r.Proof.Clusters[guard.PoolHeldOut] == 0 {
		t.Errorf("no cluster of %v is held out", r.Proof.Clusters)
	}
}

// TestRecipeKilledAndResumed kills a recipe at several moments and resumes it: the data is that of
// an uninterrupted run, and no answered turn is asked for again.
func TestRecipeKilledAndResumed(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: the race detector cannot report from a killed process")
	}
	t.Parallel()
	dir, program := t.TempDir(), program(t)
	inDir := func(name string) string { return filepath.Join(dir, name) }
	buildTestDay(t, inDir("corpus"))
	student := dayStudent(t, 0.6)
	student.Latency = 2 * time.Millisecond
	url := studentURL(t, student)
	command := func(url, out string) *exec.Cmd {
		return exec.Command(program, "recipe", "rft", "--corpus", inDir("corpus"), "--catalog", filepath.Join(testDay, "catalog.jsonl"),
			"--endpoint", url, "--model", "m", "-q", "-k", "4", "--concurrency", "4", "-o", inDir(out))
	}
	start := time.Now()
	if b, err := command(studentURL(t, dayStudent(t, 0.6)), "whole").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	took := time.Since(start)
	finished := func() bool {
		_, err := os.Stat(filepath.Join(inDir("killed"), "manifest.json"))
		return err == nil
	}
	kills := longtest.Pick(4, 1)
	for i := 0; i < kills && !finished(); i++ {
		c := command(url, "killed")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(i+1) / time.Duration(kills+1))
		_ = c.Process.Kill() // it may have ended already
		_ = c.Wait()         // killed, or done before
	}
	if !finished() {
		if b, err := command(url, "killed").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
	}
	if !bytes.Equal(read(t, filepath.Join(dir, "whole")), read(t, filepath.Join(dir, "killed"))) {
		t.Error("the manifest of the resumed recipe differs: so does some file of it")
	}
	again := 0
	for _, n := range student.Asked() {
		again += n - 1
	}
	// For each of four rollouts at once, a kill may lose one request in progress and one answer
	// that was not written yet. Each start also sends one greeting.
	if again > (2*4+1)*kills {
		t.Errorf("%d turns were asked again", again)
	}
}

// TestRewriteMakesAStage rewrites the programs' attempts of the test day with an honest model, and
// repeats the rewrite from the ledger alone.
func TestRewriteMakesAStage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	buildTestDay(t, inDir("corpus"))
	server := modeltest.New(t, func(c modeltest.Call) modeltest.Action {
		return modeltest.Reply(script.Reason(c.Text, (*script.Shown).Honest))
	})
	args := []string{"recipe", "rewrite", testDay, "--corpus", inDir("corpus"), "--endpoint", server.BaseURL(), "--model", "m", "--ledger", inDir("ledger"), "-o", inDir("stage")}
	if words := must(t, cli.ExitOK, append(args, "-n")...); !strings.Contains(words, " 0 answers are held") || len(server.Calls()) > 0 {
		t.Errorf("a dry run sent %d requests, want 0, and printed %s", len(server.Calls()), words)
	}
	must(t, cli.ExitLimit, append(args, "--budget-tokens", "4000")...)
	must(t, cli.ExitOK, args...)
	requests := len(server.Calls())
	must(t, cli.ExitOK, append(args, "--force")...)
	must(t, cli.ExitOK, "verify", inDir("stage"))
	rewritten := trainRows[rows.SFT](t, inDir("stage"), "hf-json")
	for _, row := range rewritten {
		if row.IsAgentic || row.Reward != 1 || !strings.Contains(row.Metadata, `"origin":"rewritten"`) {
			t.Errorf("row %s: %s", row.SessionID, row.Metadata)
		}
	}
	if c := recipeReport(t, inDir("stage")).Counts[0]; len(rewritten) == 0 || c.Source != "rewritten" || int(c.Taken) != len(rewritten) || len(server.Calls()) != requests {
		t.Errorf("%d rows, %+v, %d requests after %d", len(rewritten), c, len(server.Calls()), requests)
	}
}
