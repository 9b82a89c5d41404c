// Package export writes a corpus in the formats of other trainers. Each format is a
// Profile.
package export

import (
	"context"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	plaintext "github.com/trajectory-arena/arena/internal/text"
)

// Profile is an output format.
type Profile struct {
	Name string
	Doc  string
	// Source is the profile of the corpus whose rows are converted to this format. If the corpus has
	// no rows of it, they are those of otherSource, unless that is "".
	Source      string
	otherSource string
	// Rows is the profile that defines the encoding of the rows, "" for the profile itself.
	Rows string
	// Readers are the loaders that were tested with the format, with their versions.
	Readers []string
	// Use is the line of the dataset card about the trainer that loads the rows. It is "" if the
	// card has no config of the profile or if builds write the profile too.
	Use string
	// Load is Python code that reads a split into rows, with SPLIT in place of its name. It is ""
	// if the card has a config that loads the rows.
	Load string
	// copies reports whether the rows equal those of the corpus, so that files may be copied.
	copies bool
	// splitFolders reports whether each split has a folder of its own.
	splitFolders bool
	// open returns the sink for the rows of a split.
	open openFunc
	// support writes additional files that a loader needs, after the rows of all splits. Nil
	// means none.
	support func(*job) error
}

type openFunc func(j *job, split string) (sink, error)

// sink writes the rows of a split. A batch passed to write must not change before close has
// returned, because it may be read until then. The counts of rows are complete only after close.
type sink interface {
	write([]row) error
	close(context.Context) error
}

// All returns every profile, in the order of the documentation.
func All() []Profile {
	return slices.Concat(attemptProfiles(), problemProfiles(), preferenceProfiles(), fileProfiles())
}

// everyLoader returns the libraries with which Parquet files were tested, followed by others.
func everyLoader(others ...string) []string {
	return append([]string{"datasets 4.0.0, 4.8.5 and 5.2.0", "pandas 3.1", "polars 2.1", "duckdb 2.0"}, others...)
}

// attemptProfiles returns the profiles in which a row is an attempt, for supervised training.
func attemptProfiles() []Profile {
	return []Profile{
		{
			Name:    corpus.ProfileHFJSON,
			Source:  corpus.ProfileHFJSON,
			copies:  true,
			open:    openRows(corpus.ProfileHFJSON, copySFT),
			Doc:     "OpenAI messages and tools as JSON values, arguments as objects; the default of a build",
			Readers: []string{"datasets 4.8.5 and 5.2.0 (4.0.0 refuses it)", "TRL 1.16 SFTTrainer", "pandas 3.1", "polars 2.1", "duckdb 2.0"},
		},
		{
			Name:    "sft_turns",
			Source:  corpus.ProfileHFJSON,
			Rows:    corpus.ProfileHFJSON,
			open:    openRows(corpus.ProfileHFJSON, splitTurns),
			Doc:     "one hf-json row per assistant turn, earlier reasoning stripped, weight 1 on the last turn alone",
			Readers: []string{"datasets 4.8.5 and 5.2.0 (4.0.0 refuses it)", "TRL 1.16 SFTTrainer"},
		},
		{
			Name:    corpus.ProfileWeighted,
			Source:  corpus.ProfileHFJSON,
			open:    openWeighted,
			Use:     "TRL SFTTrainer and axolotl: turns of weight 0 are context; column weight is how often a row is to be drawn",
			Doc:     "hf-json rows that say what of them trains: train and weight by turn from step verdicts, weight by row",
			Readers: []string{"datasets 4.8.5 and 5.2.0 (4.0.0 refuses it)", "TRL 1.16 SFTTrainer", "axolotl 0.21"},
		},
		{
			Name:    "text",
			Source:  corpus.ProfileHFJSON,
			open:    openRows("text", convertText),
			Use:     "TRL SFTTrainer, verl MultiTurnSFTDataset and any other loader of role and content",
			Doc:     "messages of two strings, calls and tools inside the text: the one encoding that every loader reads alike",
			Readers: everyLoader("TRL 1.16 SFTTrainer", "verl 0.9.1 MultiTurnSFTDataset"),
		},
		{
			Name:         "sharegpt",
			Source:       corpus.ProfileHFJSON,
			splitFolders: true,
			open:         openRows("sharegpt", convertShareGPT),
			support:      (*job).writeDatasetInfo,
			Use:          "LLaMA-Factory: dataset_dir is this folder, dataset sharegpt_train",
			Doc:          "conversations of from and value, with dataset_info.json",
			Readers:      everyLoader("LLaMA-Factory 0.9.5"),
		},
	}
}

// problemProfiles returns the export formats for reinforcement learning, in which a row is a
// problem. It also returns verl-sft, whose rows are attempts, because the trainer verl reads it
// together with verl-rl.
func problemProfiles() []Profile {
	return []Profile{
		{
			Name:    "prompts",
			Source:  corpus.ProfileVerlRL,
			open:    openRows("prompts", convertPrompts),
			Use:     "TRL GRPOTrainer: ground_truth reaches the reward function",
			Doc:     "one problem a row, tools in the system turn, the reward specification beside it",
			Readers: everyLoader("TRL 1.16 GRPOTrainer"),
		},
		{
			Name:    corpus.ProfileVerlRL,
			Source:  corpus.ProfileVerlRL,
			open:    openRows(corpus.ProfileVerlRL, copyRL),
			Doc:     "one problem a row for a tool loop; profile env has the loop, and what pays it",
			Readers: everyLoader("verl 0.9.1 RLHFDataset"),
		},
		{
			Name:    "verl-sft",
			Source:  corpus.ProfileHFJSON,
			open:    openRows("verl-sft", convertVerlSFT),
			Use:     "verl MultiTurnSFTDataset: data.train_files takes the shards; raise data.max_length",
			Doc:     "the text rows with verl's enable_thinking",
			Readers: everyLoader("TRL 1.16 SFTTrainer", "verl 0.9.1 MultiTurnSFTDataset"),
		},
	}
}

// preferenceProfiles returns the export formats for training on preferences: pairs of a chosen and
// a rejected attempt, rows with a label wanted or unwanted, and rows with scores.
func preferenceProfiles() []Profile {
	return []Profile{
		{
			Name:    corpus.ProfilePref,
			Source:  corpus.ProfilePref,
			copies:  true,
			open:    openRows(corpus.ProfilePref, copyPref),
			Doc:     "a chosen and a rejected attempt at one problem in one harness; results of tools stand in both, and in the loss",
			Readers: everyLoader("TRL 1.16 DPOTrainer and RewardTrainer"),
		},
		{
			Name:    corpus.ProfileKTO,
			Source:  corpus.ProfileKTO,
			copies:  true,
			open:    openRows(corpus.ProfileKTO, copyKTO),
			Doc:     "one attempt and whether it is wanted; results of tools stand in it, and in the loss",
			Readers: everyLoader("TRL 1.16 KTOTrainer"),
		},
		{
			Name:    "pref_turns",
			Source:  corpus.ProfilePref,
			Rows:    corpus.ProfilePref,
			open:    openRows(corpus.ProfilePref, convertPrefTurns),
			Doc:     "the turn at which the two attempts of a pair part, behind their common history: no text of a tool in the loss",
			Readers: everyLoader("TRL 1.16 DPOTrainer and RewardTrainer"),
		},
		{
			Name:    "kto_turns",
			Source:  corpus.ProfilePref,
			Rows:    corpus.ProfileKTO,
			open:    openRows(corpus.ProfileKTO, convertKTOTurns),
			Doc:     "the same turns one by one, wanted or not",
			Readers: everyLoader("TRL 1.16 KTOTrainer"),
		},
		{
			Name:   profileAxes,
			Source: corpus.ProfileKTO,
			open:   openAxes,
			Use:    "reward models with a head for each axis of the subnet's score",
			Doc:    "a row for every turn of a kto attempt: the dialogue up to there, each axis of the attempt's score as a label",
		},
	}
}

// fileProfiles returns the export formats whose files are not Parquet, such as JSON lines and
// Arrow.
func fileProfiles() []Profile {
	return []Profile{
		{
			Name:    openAILines,
			Source:  corpus.ProfileHFJSON,
			open:    openLines("jsonl"),
			Doc:     "OpenAI messages and tools, one JSON object a line, outside the card",
			Readers: []string{"datasets 4.8.5 and 5.2.0 (4.0.0 fills in nulls)"},
			Load:    "import glob, json\nfiles = sorted(glob.glob(\"jsonl/openai-jsonl/SPLIT-*.jsonl\"))\nrows = [json.loads(line) for path in files for line in open(path, encoding=\"utf-8\")]",
		},
		{
			Name:    "openai-jsonl-zst",
			Source:  corpus.ProfileHFJSON,
			open:    openLines("jsonl.zst"),
			Doc:     "the same lines, compressed with zstd",
			Readers: []string{"datasets 4.8.5 and 5.2.0"},
		},
		{
			Name:    "arrow",
			Source:  corpus.ProfileHFJSON,
			open:    openArrow,
			support: (*job).writeArrowDict,
			Doc:     "the text rows as datasets' save_to_disk lays them out: load_from_disk maps them into memory",
			Readers: []string{"datasets 4.0.0, 4.8.5 and 5.2.0 load_from_disk"},
			Load:    "from datasets import load_from_disk\nrows = load_from_disk(\"arrow\")[\"SPLIT\"]",
		},
		{
			Name:   "atif",
			Source: corpus.ProfileHFJSON,
			open:   openATIF,
			Doc:    "ATIF v1.7 trajectories, one JSON object a line",
			Load:   "import json\nrows = [json.loads(line) for line in open(\"atif/SPLIT.jsonl\", encoding=\"utf-8\")]",
		},
		{
			Name:        profileEnv,
			Source:      corpus.ProfileVerlRL,
			otherSource: corpus.ProfileHFJSON,
			open:        openEnv,
			Doc:         "rows of NeMo-Gym, and the files by which TRL and verl play episodes of arena env serve",
			Load:        "import json\nrows = [json.loads(line) for line in open(\"env/SPLIT.jsonl\", encoding=\"utf-8\")]",
		},
		{
			Name:   "sts",
			Source: corpus.ProfileHFJSON,
			open:   openSTS,
			Doc:    "session traces for the Hub's viewer: a sample, redacted, one file a session",
		},
	}
}

// Uses returns the Use of each profile by name.
func Uses() map[string]string {
	uses := map[string]string{}
	for _, p := range All() {
		uses[p.Name] = p.Use
	}
	return uses
}

// ByName returns the profile of a name. If ok is false, there is none and the result is
// the profile with the most similar name.
func ByName(name string) (p Profile, nearest string, ok bool) {
	distance := func(p Profile) int {
		return plaintext.Distance(p.Name, strings.ToLower(name))
	}
	p = slices.MinFunc(All(), func(a, b Profile) int {
		return distance(a) - distance(b)
	})
	return p, p.Name, p.Name == name
}

// sourceIn returns the profile whose rows of the corpus with manifest m are converted to p: Source, or
// otherSource if the corpus has no rows of Source.
func (p *Profile) sourceIn(m *corpus.Manifest) string {
	hasSource := slices.ContainsFunc(m.Files, func(f corpus.FileEntry) bool {
		return f.Profile == p.Source
	})
	if hasSource || p.otherSource == "" {
		return p.Source
	}
	return p.otherSource
}
