package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/report/attempt"
)

// swappedRun is a run of the committed day whose attempts were decided and solved by a model, and
// swappedAgent its agent.
// swapped is a word in every thought that a program then writes into it.
const (
	swappedRun   = "2d733bd5-c2da-405d-a0ea-b87767e31b7e"
	swappedAgent = "454b6ffd-7b31-45d8-a00c-2dd410979a3a"
	swapped      = "zwieback"
)

// swapThinking replaces the thinking of an attempt, whose calls and log stay.
func swapThinking(line string) string {
	return withThoughts(line, func(string) string {
		return "The " + swapped + " results show two sellers. I weigh one " + swapped + " against the other."
	})
}

// withThoughts changes the thought of each step of an attempt.
func withThoughts(line string, change func(think string) string) string {
	var record map[string]any
	if json.Unmarshal([]byte(line), &record) != nil {
		return line
	}
	steps, _ := record["dialogue"].([]any)
	for _, step := range steps {
		completion := step.(map[string]any)["completion"].(map[string]any)
		message, ok := completion["message"].(map[string]any)
		if !ok {
			continue
		}
		think, _ := message["think"].(string)
		message["think"] = change(think)
		completion["content"] = ""
	}
	b, err := json.Marshal(record)
	if err != nil {
		panic(err) // it was JSON before
	}
	return string(b) + "\n"
}

// dayWithSwappedThinking returns the committed day with a program's thoughts in one run.
func dayWithSwappedThinking(t *testing.T) string {
	t.Helper()
	return changedDay(t, swapThinking)
}

// changedDay returns the committed day with other lines of one run.
func changedDay(t *testing.T, change func(line string) string) string {
	t.Helper()
	day := t.TempDir()
	if err := os.CopyFS(day, os.DirFS(testDay)); err != nil {
		t.Fatal(err)
	}
	if err := rewrite(filepath.Join(day, "traces", "run="+swappedRun, "output.jsonl.gz"), change); err != nil {
		t.Fatal(err)
	}
	return day
}

// textsOf returns all values of the Parquet files below a folder, and its other files.
func textsOf(t *testing.T, dir string) string {
	t.Helper()
	var output strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if filepath.Ext(path) != ".parquet" {
			b, err := os.ReadFile(path)
			output.Write(b)
			return err
		}
		return writeValues(&output, path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return output.String()
}

func writeValues(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := parquet.NewReader(f)
	defer r.Close()
	buffer := make([]parquet.Row, 16)
	for {
		n, err := r.ReadRows(buffer)
		for _, row := range buffer[:n] {
			for _, value := range row {
				_, _ = io.WriteString(w, value.String()+"\n") // a Builder takes all
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// TestThinkingOfNoModelReachesNoRow builds a day in which a program wrote the thoughts
// of one run around the model's own calls.
func TestThinkingOfNoModelReachesNoRow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	day := dayWithSwappedThinking(t)
	out := filepath.Join(dir, "out")
	exports := filepath.Join(dir, "exports")
	words := must(t, cli.ExitOK, "build", day, "-o", out, "--steps")
	if !strings.Contains(words, "have no thinking, because no model reply in their log contains it (thinking_unsaid)") {
		t.Errorf("the funnel does not count it:\n%s", words)
	}
	must(t, cli.ExitOK, "verify", out)
	must(t, cli.ExitOK, "export", out, "--profile", "all", "-o", exports)
	for _, folder := range []string{filepath.Join(out, "data"), exports} {
		if strings.Contains(textsOf(t, folder), swapped) {
			t.Errorf("%s holds a thought that no model wrote", folder)
		}
	}

	stays := checkSwappedRows(t, out)
	stripped := checkSwappedLedger(t, out)
	m, err := corpus.ReadManifest(corpus.Disk{}, out)
	if err != nil {
		t.Fatal(err)
	}
	last := m.Funnel[len(m.Funnel)-1]
	if stays == 0 || last.Stripped != int64(stays) {
		t.Errorf("%d attempts stay without their thinking, and the funnel counts %d", stays, last.Stripped)
	}
	card, err := os.ReadFile(filepath.Join(out, "README.md"))
	count := fmt.Sprintf("%d of all", stripped)
	if err != nil || !strings.Contains(string(card), count) || !strings.Contains(string(card), "cannot show it") {
		t.Errorf("the card does not state that %d attempts lost their thinking: %v", stripped, err)
	}
}

// checkSwappedRows checks that rows of the swapped run have neither thinking nor grade, and
// those of other runs both. It returns the number of the former.
func checkSwappedRows(t *testing.T, out string) (stays int) {
	t.Helper()
	shards, err := filepath.Glob(filepath.Join(out, "data", "sft", "*.parquet"))
	if err != nil || len(shards) == 0 {
		t.Fatal(shards, err)
	}
	for _, path := range shards {
		err := corpus.ReadRows(corpus.Disk{}, path, func(row *rows.SFT) error {
			thinks := strings.Contains(strings.Join(row.Messages, "\n"), `"reasoning_content"`)
			isSwapped := strings.HasPrefix(row.SessionID, swappedRun)
			if thinks == isSwapped || (row.JudgeScore == nil) != isSwapped {
				t.Errorf("%s: thinks %t, grade %v", row.SessionID, thinks, row.JudgeScore)
			}
			if isSwapped {
				stays++
				if row.JudgeMultiplier == nil || *row.JudgeMultiplier != 0.3 || row.Reward != 0.3 {
					t.Errorf("%s: multiplier %v, reward %v", row.SessionID, row.JudgeMultiplier, row.Reward)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return stays
}

// checkSwappedLedger checks the tables' rows of the swapped run. It returns the number of attempts
// of the full day that lost their thinking.
func checkSwappedLedger(t *testing.T, out string) (stripped int) {
	t.Helper()
	table := func(name string) string { return filepath.Join(out, "tables", name+".parquet") }
	err := corpus.ReadRows(corpus.Disk{}, table("verdicts"), func(v *rows.Verdict) error {
		if v.ThinkingStripped {
			stripped++
		}
		isRight := v.Axis == "agentic" && v.ThinkingStripped && v.ThinkingUnsaid != nil && *v.ThinkingUnsaid == 1
		if strings.HasPrefix(v.TraceID, swappedRun) && !isRight {
			t.Errorf("%s: axis %s, stripped %t", v.TraceID, v.Axis, v.ThinkingStripped)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	requests := 0
	err = corpus.ReadRows(corpus.Disk{}, table("judgements"), func(j *rows.Judgement) error {
		if !strings.HasPrefix(j.TraceID, swappedRun) {
			return nil
		}
		requests++
		if j.Outcome != "thinking_unsaid" || j.Score != nil || j.Detail == "" {
			t.Errorf("%s: outcome %s, score %v", j.TraceID, j.Outcome, j.Score)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if requests != 18 {
		t.Errorf("%d judgements of 18 attempts: the judge of steps is not asked either", requests)
	}
	return stripped
}

// TestJudgesAreNotAskedAboutThinkingOfNoModel holds for arena judge what holds for a
// build.
func TestJudgesAreNotAskedAboutThinkingOfNoModel(t *testing.T) {
	t.Parallel()
	day := dayWithSwappedThinking(t)
	run := filepath.Join(day, "traces", "run="+swappedRun)
	for _, args := range [][]string{{"judge", run}, {"judge", run, "--steps"}} {
		lines := filepath.Join(t.TempDir(), "lines.jsonl")
		words := must(t, cli.ExitOK, append(args, "-o", lines)...)
		b, err := os.ReadFile(lines)
		if n := strings.Count(string(b), `"outcome":"thinking_unsaid"`); err != nil || n != 18 {
			t.Errorf("%v: %d of 18 attempts, %v", args, n, err)
		}
		if !strings.Contains(words, "18 not judged: their thinking stands in no reply of the log (thinking_unsaid)") {
			t.Errorf("%v printed\n%s", args, words)
		}
	}
}

// insertSentences adds a comparison that no model wrote to each thought of an attempt. Its pieces are
// too short to show who wrote the thinking.
func insertSentences(line string) string {
	return withThoughts(line, func(think string) string {
		return think + "\nThe former undercuts\nthe latter's price.\nI prefer it."
	})
}

// TestInsertedSentencesHaveNoEffect holds that a sentence which no logged reply contains changes no
// grade, question to a judge model, forecast or reward.
func TestInsertedSentencesHaveNoEffect(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, func(modeltest.Call) modeltest.Action {
		return modeltest.Reply(`{"score": 0.5, "evidence": []}`)
	})
	llm := []string{"--judge", "llm", "--endpoint", server.BaseURL(), "--model", "m", "--max-unscored", "1", "--ledger"}
	outputs := map[string]string{}
	var before []string
	for _, change := range []func(string) string{insertSentences, func(line string) string {
		return withThoughts(line, func(think string) string { return think })
	}} {
		day := changedDay(t, change)
		run := filepath.Join(day, "traces", "run="+swappedRun)
		for _, args := range [][]string{
			{"judge", run, "-q"},
			append([]string{"judge", run, "-q", "-n"}, append(llm, day+"/none")...),
			append([]string{"judge", run, "-q", "-n", "--steps"}, append(llm, day+"/none")...),
			{"judge", run, "-q", "--probe", "3"},
			{"env", "reward", run, "--problems", filepath.Join(day, "problems.jsonl"), "--catalog", filepath.Join(day, "catalog.jsonl"), "-q", "--reward", "paper"},
		} {
			name := strings.ReplaceAll(fmt.Sprint(args), day, "")
			code, output, words := arenaRun(args...)
			if code != cli.ExitOK || output == "" {
				t.Fatalf("arena %s: exit %d\n%s", args, code, words)
			}
			if other, ok := outputs[name]; ok && other != output {
				t.Errorf("arena %s: other output with inserted sentences", name)
			}
			outputs[name] = output
		}
		sent := len(server.Calls())
		arenaRun(append([]string{"judge", run, "-q"}, append(llm, day+"/ledger")...)...)
		arenaRun(append([]string{"judge", run, "-q", "--steps"}, append(llm, day+"/ledger")...)...)
		arenaRun("build", day, "-q", "-o", day+"/out", "--step-judge", "llm", "--endpoint", server.BaseURL(), "--model", "m", "--ledger", day+"/built")
		var questions []string
		for _, call := range server.Calls()[sent:] {
			questions = append(questions, call.Text)
		}
		slices.Sort(questions)
		if len(questions) == 0 || before != nil && !slices.Equal(questions, before) {
			t.Errorf("%d questions with inserted sentences, %d others without", len(before), len(questions))
		}
		before = questions
	}
}

// TestReasonsThatNoReplyShowsAreNotGraded builds a day in which a client adds a comparison to the
// thinking of one run, and a third of the run's logs lack a reply.
func TestReasonsThatNoReplyShowsAreNotGraded(t *testing.T) {
	t.Parallel()
	n := 0
	day := changedDay(t, func(line string) string {
		n++
		line = insertSentences(line)
		if n%3 == 0 {
			line = strings.Replace(line, `"inference_total":`, `"inference_total":10`, 1)
		}
		return line
	})
	out := filepath.Join(day, "out")
	words := must(t, cli.ExitOK, "build", day, "-o", out, "--set", "judge.dropped_every=1")
	if !strings.Contains(words, "(thinking_undecided)") {
		t.Errorf("the funnel does not count the grades that are withheld:\n%s", words)
	}
	must(t, cli.ExitOK, "verify", out)
	checkWithheld(t, out)
	checkSameGrades(t, day, out)
}

// checkSameGrades checks that arena judge and its option --explain withhold the grades that a build
// withholds, and give those that it gives.
func checkSameGrades(t *testing.T, day, out string) {
	t.Helper()
	type grade struct {
		Run     string   `json:"eval_run_id"`
		Problem string   `json:"problem_id"`
		Outcome string   `json:"outcome"`
		Score   *float64 `json:"score"`
	}
	code, lines, words := arenaRun("judge", day)
	if code != cli.ExitOK || !strings.Contains(words, "(thinking_undecided)") {
		t.Fatalf("exit %d: %s", code, words)
	}
	written := func(outcome string, score *float64) string {
		if score == nil {
			return outcome
		}
		return fmt.Sprint(outcome, " ", *score)
	}
	printed := map[string]string{}
	for line := range strings.Lines(lines) {
		var g grade
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			t.Fatal(err)
		}
		printed[g.Run+"/"+g.Problem] = written(g.Outcome, g.Score)
	}
	undecided := ""
	err := corpus.ReadRows(corpus.Disk{}, filepath.Join(out, "tables", "judgements.parquet"), func(j *rows.Judgement) error {
		if want := written(j.Outcome, j.Score); printed[j.TraceID] != want {
			t.Errorf("%s: judge prints %s, the build has %s", j.TraceID, printed[j.TraceID], want)
		}
		if j.Outcome == "thinking_undecided" && strings.HasPrefix(j.TraceID, swappedRun) {
			undecided = j.TraceID
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, story, _ := arenaRun("judge", day, "--explain", undecided); !strings.Contains(story, "thinking_undecided") {
		t.Errorf("--explain %s gives a grade: %s", undecided, story)
	}
	files, _ := filepath.Glob(filepath.Join(day, "traces", "run="+swappedRun, "output.jsonl*"))
	if len(files) != 1 {
		t.Fatalf("files of the run: %v", files)
	}
	in, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var story, notes bytes.Buffer
	run(t.Context(), []string{"judge", "-", "--run-id", swappedRun, "--explain", undecided}, in, &story, &notes)
	if !strings.Contains(story.String(), "thinking_undecided") {
		t.Errorf("--explain %s of standard input gives a grade: %s%s", undecided, &story, &notes)
	}
}

// checkWithheld checks that the attempts whose grades rest on what no logged reply shows have no
// grade, neither in the ledger nor in a row, are paid no more than silence, and that the others
// keep their grades.
func checkWithheld(t *testing.T, out string) {
	t.Helper()
	withheld := map[string]bool{}
	graded := 0
	err := corpus.ReadRows(corpus.Disk{}, filepath.Join(out, "tables", "judgements.parquet"), func(j *rows.Judgement) error {
		if !strings.HasPrefix(j.TraceID, swappedRun) {
			return nil
		}
		if j.Outcome == "scored" {
			graded++
			return nil
		}
		silence := multiplier.Defaults().Multiplier(multiplier.Silent)
		if j.Outcome != "thinking_undecided" || j.Score != nil || j.Detail == "" || j.Multiplier == nil || *j.Multiplier > silence {
			t.Errorf("%s: %+v", j.TraceID, j)
		}
		withheld[j.TraceID] = true
		return nil
	})
	if err != nil || len(withheld) != 4 || graded != 14 {
		t.Errorf("%d grades are withheld, %d given, %v", len(withheld), graded, err)
	}
	shards, _ := filepath.Glob(filepath.Join(out, "data", "sft", "*.parquet"))
	seen := 0
	for _, path := range shards {
		err = corpus.ReadRows(corpus.Disk{}, path, func(row *rows.SFT) error {
			if strings.HasPrefix(row.SessionID, swappedRun) {
				seen++
				if (row.JudgeScore == nil) != withheld[row.SessionID] {
					t.Errorf("%s: grade %v", row.SessionID, row.JudgeScore)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen == 0 {
		t.Error("no row of the run")
	}
	l, err := attempt.Read(corpus.Disk{}, out)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range l.Lines {
		if withheld[line.Attempt.TraceID] && !strings.Contains(l.Text(l.Argue(i)), "thinking_undecided") {
			t.Errorf("%s: the explanation does not say why it has no grade", line.Attempt.TraceID)
		}
	}
}
