package figures_test

import (
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// TestFiguresAreOfTheRows checks percentiles by nearest rank, that rows counted separately and
// joined give the same figures as rows counted together, that a figure which configs share is
// printed once, and that names do not break the cells of the table.
func TestFiguresAreOfTheRows(t *testing.T) {
	t.Parallel()
	var pooled, a, b figures.Figures
	for i := range 22 {
		for _, config := range []string{"sft", "text"} {
			r := figures.Row{Tokens: int64(10 * (i + 1)), Counter: "bytes4", Task: "shop|er", Agent: string(rune('a' + i%2)), Model: figures.NoModel}
			pooled.Add(config, "train", r)
			if i%3 == 0 {
				a.Add(config, "train", r)
			} else {
				b.Add(config, "train", r)
			}
		}
	}
	pooled.Add("rl", "eval", figures.Row{Task: "voucher", Difficulty: "hard"})
	b.Add("rl", "eval", figures.Row{Task: "voucher", Difficulty: "hard"})
	a.Join(&b)
	body := pooled.Section().Body
	if got := a.Section().Body; got != body {
		t.Errorf("joined:\n%s\ntogether:\n%s", got, body)
	}
	for _, want := range []string{
		"| sft | train | 22 | 2530 | 110 | 210 | bytes4 | 2 | not known | not known |\n", "| rl | eval | 1 | | | | |  |  |  |\n", "bytes4 is an estimate",
		`| sft, text | train | shop\|er 22 (100.0 %) |` + "\n", "| sft, text | train | a 11 (50.0 %), b 11 (50.0 %) |\n", "| rl | eval | hard 1 (100.0 %) |\n",
		"| config | split | rows by model |\n|---|---|---|\n| sft, text | train | not named 22 (100.0 %) |\n",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	for _, c := range [][3]int64{{22, 90, 19}, {7, 90, 6}, {10, 90, 8}, {1, 50, 0}, {4, 50, 1}} {
		if got := figures.Rank(c[0], c[1]); got != c[2] {
			t.Errorf("%d %% of %d values: position %d, want %d", c[1], c[0], got, c[2])
		}
	}
}

// TestATrainersFirstQuestions checks the tokens of all splits and the shares of outcomes, teams,
// models and known licences, each with the share of rows without a value.
func TestATrainersFirstQuestions(t *testing.T) {
	t.Parallel()
	var f figures.Figures
	add := func(split, outcome, team, model string) {
		f.Add("sft", split, figures.Row{Tokens: 100, Counter: "tokenizer-x", Outcome: outcome, Agent: "agent-" + team[:min(1, len(team))] + outcome, Team: team, Model: model})
	}
	add("train", figures.Solved, "5F1", "Qwen/Qwen3-8B")
	add("train", figures.Solved, "5F1", "gpt-oss-20b")
	add("train", figures.Unsolved, "5F2", figures.NoModel)
	add("eval", figures.Unknown, "", "someone/Qwen3-8B")
	body := f.Section().Body
	for _, want := range []string{
		"| sft | train | 3 | 300 | 100 | 100 | tokenizer-x | 2 | 2 | 2, not known of 33.3 % of the rows |\n",
		"| sft | all | 4 | 400 | 100 | 100 | tokenizer-x | 3 | 2, not known of 25.0 % of the rows | 3, not known of 25.0 % of the rows |\n",
		"| sft | train | solved 2 (66.7 %), not solved 1 (33.3 %) |\n",
		"| sft | train | Apache-2.0 2 (66.7 %), not known 1 (33.3 %) |\n",
		"| sft | eval | not known 1 (100.0 %) |\n",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	for _, absent := range []string{"bytes4", "5F1"} {
		if strings.Contains(body, absent) {
			t.Errorf("%q in\n%s", absent, body)
		}
	}
}

// TestLicencesAreOfNamedModels checks that a fine-tuned model, or one whose name only begins as a
// known one, has no known licence.
func TestLicencesAreOfNamedModels(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]string{
		"Qwen/Qwen3-235B-A22B-Instruct-2507": "Apache-2.0",
		"qwen3-4b-thinking-2507-fp8":         "Apache-2.0",
		"zai-org/GLM-4.5-Air":                "MIT",
		"moonshotai/Kimi-K2-Instruct":        "Modified MIT",
		"openai/gpt-oss-120b":                "Apache-2.0",
		"deepseek-ai/DeepSeek-R1":            "MIT",
		"DeepSeek-R1-Distill-Llama-70B":      figures.Unknown,
		"Qwen3-8B-shop":                      figures.Unknown,
		"unsloth/Qwen3-8B":                   figures.Unknown,
		"Qwen3.5-4B":                         figures.Unknown,
		"gpt-4o":                             figures.Unknown,
	} {
		var f figures.Figures
		f.Add("sft", "train", figures.Row{Model: model})
		if body := f.Section().Body; !strings.Contains(body, "| sft | train | "+want+" 1 (100.0 %) |\n") {
			t.Errorf("%s is not of licence %s:\n%s", model, want, body)
		}
	}
}

// TestOutcomesOfRows are read from reward and multiplier, and are unknown where nothing is scored.
func TestOutcomesOfRows(t *testing.T) {
	t.Parallel()
	zero := 0.0
	third := 0.3
	score := 0.5
	for name, c := range map[string]struct {
		row  rows.SFT
		want string
	}{
		"solved":             {rows.SFT{Scalars: rows.Scalars{Reward: 0.3, JudgeMultiplier: &third, OutcomeScore: &score}}, figures.Solved},
		"solved, no judge":   {rows.SFT{Scalars: rows.Scalars{Reward: 1}}, figures.Solved},
		"scored":             {rows.SFT{Scalars: rows.Scalars{OutcomeScore: &score}}, figures.Unsolved},
		"declared":           {rows.SFT{Metadata: `{"declared_reward":0.4}`, Scalars: rows.Scalars{Reward: 0.4}}, figures.Unsolved},
		"not declared":       {rows.SFT{Metadata: `{"declared_reward":null}`}, figures.Unknown},
		"multiplier of zero": {rows.SFT{Scalars: rows.Scalars{JudgeMultiplier: &zero, OutcomeScore: &score}}, figures.Unknown},
		"nothing":            {rows.SFT{}, figures.Unknown},
	} {
		if got := figures.RowOf(&c.row).Outcome; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := figures.RowOf(&rows.SFT{Metadata: `{"model":"m"}`}).Model; got != "m" {
		t.Errorf("model %q", got)
	}
}
