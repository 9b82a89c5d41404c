package trainers_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/trajectory-arena/arena/corpus/trainers"
)

var update = flag.Bool("update", false, "write docs/training.md")

// TestTrainingPageMatchesBlocks checks that docs/training.md contains the blocks of cards.
func TestTrainingPageMatchesBlocks(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(head)
	for _, profile := range trainers.Profiles() {
		fmt.Fprintf(&b, "\n## %s\n%s", profile, trainers.Markdown(trainers.Rows{Profile: profile, Config: profile, HasEval: true}))
	}
	const path = "../../docs/training.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != b.String() {
		t.Error("docs/training.md differs from the cards: go test ./corpus/trainers -update")
	}
}

// TestVersionsAreThoseOfChecks checks that each version which pages and exported files name is one
// that .ci/interop installs.
func TestVersionsAreThoseOfChecks(t *testing.T) {
	t.Parallel()
	text := func(paths ...string) string {
		var b strings.Builder
		for _, path := range paths {
			one, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(one)
		}
		return strings.ToLower(b.String())
	}
	const bench = "../../bench/interop/requirements"
	pinned := text("../../.ci/interop", "../../recipes/requirements.txt", bench+".txt", bench+"-4.8.txt", bench+"-4.0.txt")
	printed := text("../../docs/training.md", "../../docs/how-to/rl.md", "../../docs/profiles.md", "../export/profile.go", "../export/env.go", "../export/assets/trl_env.py", "../export/assets/verl_env.py")
	named := regexp.MustCompile(`\b(trl|axolotl|llama-factory|ms-swift|verl|transformers|datasets|polars|pandas|duckdb)[ =]+(\d+\.[\d.]*\d)`).FindAllStringSubmatch(printed, -1)
	if len(named) < 30 {
		t.Errorf("only %d versions are printed", len(named))
	}
	for _, n := range named {
		pin := strings.ReplaceAll(n[1], "llama-factory", "llamafactory")
		if !regexp.MustCompile(pin + `(\[[\w-]+\])?==` + regexp.QuoteMeta(n[2]) + `\b`).MatchString(pinned) {
			t.Errorf("%s is printed, and not what is run", n[0])
		}
	}
}

const head = `# Training

This page has code to copy for each trainer, by [export profile](profiles.md); ` + "`arena list profiles NAME`" + ` prints the code of one profile. The
dataset card of every corpus contains the code of this page with the corpus's own config names and a maximum length computed from its longest row. By default,
trainers truncate rows at 1,024 tokens (TRL, verl) or 2,048 tokens (LLaMA-Factory), most of them silently; the prompts of this project's rows alone are longer than these limits.

Save a code block to a file in the folder of the corpus and run the file there. To copy a corpus from the Hub to a folder, run
` + "`hf download NAME --repo-type dataset --local-dir DIR`" + `. By computation, not measurement, models of up to 4B weights train with LoRA on a GPU of 24 GB, and with all weights
on a GPU of 80 GB. ` + "`.ci/interop paste`" + ` ran the code blocks of this page ([results](measured/loaders.md#blocks)).

Every corpus contains a ` + "`chat_template.jinja`" + `, because many models' own chat templates drop some or all of the reasoning.
` + "`arena export --preflight`" + ` prints what a template keeps. The code for TRL calls ` + "`training_check.py`" + `, a file of the corpus, before
the first training step. This check ends the training with an error if rows were dropped or cut, if a loss mask is empty, full or without the stop
token, if a policy that generates has dropout, or if the reference model has another template.

## The loop

` + "`recipes/loop.py`" + ` evaluates a small model in a generated shop, makes the data of a training stage, trains the model and evaluates it again
([how](../recipes/README.md)). [measured/loop.md](measured/loop.md) has the results of this loop for two seeds, and their limits.
`

// TestLengthFitsEveryRow checks that no block cuts a row, although real vocabularies give
// up to 37 % more tokens than bytes4.
func TestLengthFitsEveryRow(t *testing.T) {
	t.Parallel()
	for _, r := range []trainers.Rows{
		{},
		{Longest: 1, Counter: "bytes4"},
		{Longest: 4857, Counter: "bytes4"},
		{Longest: 5632, Counter: "tokenizer-ab"},
		{Longest: 14336, Counter: "bytes4"},
	} {
		margin := r.Longest / 20
		if r.Counter == trainers.Estimate {
			margin = r.Longest * 37 / 100
		}
		got := r.Length()
		if got < r.Longest+margin || got%1024 != 0 {
			t.Errorf("%+v: length %d", r, got)
		}
		if got > 1024+(r.Longest+14336)*3/2 {
			t.Errorf("%+v: length %d is far above", r, got)
		}
	}
}

// TestBlocksAreComplete checks that each block contains its config and length and that
// YAML can be parsed.
func TestBlocksAreComplete(t *testing.T) {
	t.Parallel()
	for _, profile := range trainers.Profiles() {
		r := trainers.Rows{Profile: profile, Config: "my_config", Longest: 30_000, Counter: "tokenizer-x"}
		for _, b := range trainers.Blocks(r) {
			if b.Trainer == "" || b.Language == "" {
				t.Errorf("%s: no trainer or language: %+v", profile, b)
			}
			if !strings.Contains(b.Text, "32768") || strings.Contains(b.Text, "@{") {
				t.Errorf("%s: placeholders are not replaced: %+v", profile, b)
			}
			if profile != "env" && !strings.Contains(b.Text, "my_config") {
				t.Errorf("%s, %s: the config is missing", profile, b.Trainer)
			}
			var v map[string]any
			if b.Language == "yaml" {
				if err := yaml.Unmarshal([]byte(b.Text), &v); err != nil || len(v) < 5 {
					t.Errorf("%s, %s: %v", profile, b.Trainer, err)
				}
			}
		}
	}
	if blocks := trainers.Blocks(trainers.Rows{Profile: "none"}); len(blocks) > 0 {
		t.Errorf("blocks for an unknown profile: %v", blocks)
	}
}

// TestBlocksLoadFromTheCorpusFolder checks that blocks run as printed in the folder of the
// corpus: the datasets library reads neither "." nor "./".
func TestBlocksLoadFromTheCorpusFolder(t *testing.T) {
	t.Parallel()
	for _, profile := range trainers.Profiles() {
		for _, b := range trainers.Blocks(trainers.Rows{Profile: profile, Config: "my_config"}) {
			for _, call := range []string{`load_dataset(".`, `load_dataset(CORPUS,`, "path: .\n", "path: . "} {
				if strings.Contains(b.Text, call) {
					t.Errorf("%s, %s: datasets does not read %q", profile, b.Trainer, call)
				}
			}
			loadsRows := strings.Contains(b.Text, "rows = load_dataset(CORPUS") || strings.Contains(b.Text, "  - path:")
			if loadsRows && !strings.Contains(b.Text, "/data/my_config") {
				t.Errorf("%s, %s: the folder of the config is missing", profile, b.Trainer)
			}
		}
	}
}

// TestVerlBlockOverridesDefaults checks the settings whose defaults in verl cut results
// and calls, or need more rows and GPUs than a small corpus and one machine have.
func TestVerlBlockOverridesDefaults(t *testing.T) {
	t.Parallel()
	text := trainers.Blocks(trainers.Rows{Profile: "verl-rl", Config: "rl", HasEval: true, Train: 5})[0].Text
	for _, setting := range []string{
		"multi_turn.max_tool_response_length=1000000",
		"multi_turn.max_parallel_calls=100",
		"data.train_batch_size=5",
		"actor.ppo_mini_batch_size=5",
		"actor.ppo_micro_batch_size_per_gpu=1",
		"trainer.n_gpus_per_node=1",
		"ls data/rl/eval-*.parquet",
	} {
		if !strings.Contains(text, setting) {
			t.Errorf("the block lacks %s", setting)
		}
	}
}

// TestGRPOTextsRaiseCompletionLength checks that no text for TRL's GRPOTrainer leaves its
// limit of 512 tokens, in which no attempt fits.
func TestGRPOTextsRaiseCompletionLength(t *testing.T) {
	t.Parallel()
	want := fmt.Sprintf("max_completion_length=%d", trainers.Rows{}.Length())
	texts := map[string]string{"the block of profile env": trainers.Blocks(trainers.Rows{Profile: "env"})[0].Text}
	for _, path := range []string{"../../docs/how-to/rl.md", "../export/assets/trl_env.py"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(b)
	}
	for name, text := range texts {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", name, want)
		}
	}
}

// TestBlocksUseTheEvalSplit checks that a block names the eval split of a config that has one, and
// no other: an import has none.
func TestBlocksUseTheEvalSplit(t *testing.T) {
	t.Parallel()
	for _, profile := range trainers.Profiles() {
		if profile == "env" { // the environment refuses problems of eval
			continue
		}
		for _, hasEval := range []bool{true, false} {
			for _, b := range trainers.Blocks(trainers.Rows{Profile: profile, Config: "c", HasEval: hasEval}) {
				named := strings.Contains(b.Text, "/eval-*") || strings.Contains(b.Text, `"eval-*"`) || strings.Contains(b.Text, "split: test") || strings.Contains(b.Text, "c_eval")
				if named != hasEval {
					t.Errorf("%s, %s: eval split %v, named %v", profile, b.Trainer, hasEval, named)
				}
			}
		}
	}
}
