// Package export turns a corpus into the formats of other trainers. Each
// format is a value: a Profile with what it is, what it is made from and which
// loaders were seen to read it.
package export

import (
	"context"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	words "github.com/trajectory-arena/arena/internal/text"
)

// Profile is one output format.
type Profile struct {
	Name string
	Doc  string
	// From is the profile of the config it is made from.
	From string
	// Rows is the profile that has the encoding of its rows, where that is another.
	Rows string
	// Readers are the loaders that were run on it, with their versions.
	Readers []string
	// Use says for what loader the rows are, and how it takes them: a line of the
	// card where its configs name the profile and no build writes it.
	Use string
	// Load is Python that reads a split into rows, SPLIT standing for its name;
	// empty where the card's configs do.
	Load string
	// same reports whether rows go out as they are in the corpus.
	same bool
	// folders says that each split has a folder of its own.
	folders bool
	// open starts the rows of one split.
	open func(*job, string) (sink, error)
	// support, where set, writes what a loader needs beside the rows of all
	// splits.
	support func(*job) error
}

// sink takes the rows of one split, in batches whose rows it may still read
// afterwards. What becomes of each is counted when it closes at the latest.
type sink interface {
	take([]row) error
	close(context.Context) error
}

// All lists every profile, in the order in which they are documented.
func All() []Profile {
	all := []string{"datasets 4.0.0, 4.8.5 and 5.2.0", "pandas 3.1", "polars 2.1", "duckdb 2.0"}
	return []Profile{
		{Name: corpus.ProfileHFJSON, From: corpus.ProfileHFJSON, same: true, open: openRows(corpus.ProfileHFJSON, sameSFT),
			Doc:     "OpenAI messages and tools as JSON values, arguments as objects; the default of a build",
			Readers: []string{"datasets 4.8.5 and 5.2.0 (4.0.0 refuses it)", "TRL 1.16 SFTTrainer", "pandas 3.1", "polars 2.1", "duckdb 2.0"}},
		{Name: "sft_turns", From: corpus.ProfileHFJSON, Rows: corpus.ProfileHFJSON, open: openRows(corpus.ProfileHFJSON, turns),
			Doc:     "one hf-json row per assistant turn, earlier reasoning stripped, weight 1 on the last turn alone",
			Readers: []string{"datasets 4.8.5 and 5.2.0 (4.0.0 refuses it)", "TRL 1.16 SFTTrainer"}},
		{Name: profileWeighted, From: corpus.ProfileHFJSON, open: openWeighted,
			Use:     "TRL SFTTrainer and axolotl: turns of weight 0 are context; column weight is how often a row is to be drawn",
			Doc:     "hf-json rows that say what of them trains: train and weight by turn from step verdicts, weight by row",
			Readers: []string{"datasets 4.8.5 and 5.2.0 (4.0.0 refuses it)", "TRL 1.16 SFTTrainer", "axolotl 0.19"}},
		{Name: "text", From: corpus.ProfileHFJSON, open: openRows("text", text),
			Use:     "TRL SFTTrainer, verl MultiTurnSFTDataset and any other loader of role and content",
			Doc:     "messages of two strings, calls and tools inside the text: the one encoding that every loader reads alike",
			Readers: append(all, "TRL 1.16 SFTTrainer", "verl 0.9.1 MultiTurnSFTDataset")},
		{Name: "sharegpt", From: corpus.ProfileHFJSON, folders: true, open: openRows("sharegpt", shareGPT), support: (*job).datasetInfo,
			Use:     "LLaMA-Factory: dataset_dir is this folder, dataset sharegpt_train",
			Doc:     "conversations of from and value, with dataset_info.json",
			Readers: append(all, "LLaMA-Factory 0.9.5")},
		{Name: "prompts", From: corpus.ProfileVerlRL, open: openRows("prompts", prompts),
			Use:     "TRL GRPOTrainer: ground_truth reaches the reward function",
			Doc:     "one problem a row, tools in the system turn, the reward specification beside it",
			Readers: append(all, "TRL 1.16 GRPOTrainer")},
		{Name: corpus.ProfileVerlRL, From: corpus.ProfileVerlRL, open: openRows(corpus.ProfileVerlRL, sameRL),
			Doc:     "one problem a row for a tool loop; profile env has the loop, and what pays it",
			Readers: append(all, "verl 0.9.1 RLHFDataset")},
		{Name: "verl-sft", From: corpus.ProfileHFJSON, open: openRows("verl-sft", verlSFT),
			Use:     "verl MultiTurnSFTDataset: data.train_files takes the shards; raise data.max_length",
			Doc:     "the text rows with verl's enable_thinking",
			Readers: append(all, "TRL 1.16 SFTTrainer", "verl 0.9.1 MultiTurnSFTDataset")},
		{Name: corpus.ProfilePref, From: corpus.ProfilePref, same: true, open: openRows(corpus.ProfilePref, samePref),
			Doc:     "a chosen and a rejected attempt at one problem in one harness; results of the shop stand in both, and in the loss",
			Readers: append(all, "TRL 1.16 DPOTrainer and RewardTrainer")},
		{Name: corpus.ProfileKTO, From: corpus.ProfileKTO, same: true, open: openRows(corpus.ProfileKTO, sameKTO),
			Doc:     "one attempt and whether it is wanted; results of the shop stand in it, and in the loss",
			Readers: append(all, "TRL 1.16 KTOTrainer")},
		{Name: "pref_turns", From: corpus.ProfilePref, Rows: corpus.ProfilePref, open: openRows(corpus.ProfilePref, prefTurns),
			Doc:     "the turn at which the two attempts of a pair part, behind their common history: no text of the shop in the loss",
			Readers: append(all, "TRL 1.16 DPOTrainer and RewardTrainer")},
		{Name: "kto_turns", From: corpus.ProfilePref, Rows: corpus.ProfileKTO, open: openRows(corpus.ProfileKTO, ktoTurns),
			Doc:     "the same turns one by one, wanted or not",
			Readers: append(all, "TRL 1.16 KTOTrainer")},
		{Name: profileAxes, From: corpus.ProfileKTO, open: openAxes,
			Use: "reward models with a head for each axis of the subnet's score",
			Doc: "a row for every turn of a kto attempt: the dialogue up to there, each axis of the attempt's score as a label"},
		{Name: openAILines, From: corpus.ProfileHFJSON, open: openLines("jsonl"),
			Doc:     "OpenAI messages and tools, one JSON object a line, outside the card",
			Readers: []string{"datasets 4.8.5 and 5.2.0 (4.0.0 fills in nulls)"},
			Load:    "import glob, json\nfiles = sorted(glob.glob(CORPUS + \"/jsonl/openai-jsonl/SPLIT-*.jsonl\"))\nrows = [json.loads(line) for path in files for line in open(path, encoding=\"utf-8\")]"},
		{Name: "openai-jsonl-zst", From: corpus.ProfileHFJSON, open: openLines("jsonl.zst"),
			Doc:     "the same lines, compressed with zstd",
			Readers: []string{"datasets 4.8.5 and 5.2.0"}},
		{Name: "arrow", From: corpus.ProfileHFJSON, open: openArrow, support: (*job).arrowDict,
			Doc:     "the text rows as datasets' save_to_disk lays them out: load_from_disk maps them into memory",
			Readers: []string{"datasets 4.0.0, 4.8.5 and 5.2.0 load_from_disk"},
			Load:    "from datasets import load_from_disk\nrows = load_from_disk(CORPUS + \"/arrow\")[\"SPLIT\"]"},
		{Name: "atif", From: corpus.ProfileHFJSON, open: openATIF,
			Doc:  "ATIF v1.7 trajectories, one JSON object a line",
			Load: "import json\nrows = [json.loads(line) for line in open(CORPUS + \"/atif/SPLIT.jsonl\", encoding=\"utf-8\")]"},
		{Name: profileEnv, From: corpus.ProfileVerlRL, open: openEnv,
			Doc:  "rows of NeMo-Gym, and the files by which TRL and verl play episodes of arena env serve",
			Load: "import json\nrows = [json.loads(line) for line in open(CORPUS + \"/env/SPLIT.jsonl\", encoding=\"utf-8\")]"},
		{Name: "sts", From: corpus.ProfileHFJSON, open: openSTS,
			Doc: "session traces for the Hub's viewer: a sample, redacted, one file a session"},
	}
}

// Uses are what cards say of the profiles that no build writes.
func Uses() map[string]string {
	uses := map[string]string{}
	for _, p := range All() {
		uses[p.Name] = p.Use
	}
	return uses
}

// Named gives the profile of a name, and the nearest name where there is none.
func Named(name string) (Profile, string, bool) {
	apart := func(p Profile) int { return words.Distance(p.Name, strings.ToLower(name)) }
	nearest := slices.MinFunc(All(), func(a, b Profile) int { return apart(a) - apart(b) })
	return nearest, nearest.Name, nearest.Name == name
}
