package corpus

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus/trainers"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Cell makes a name that somebody else chose safe to stand in a table of a card.
func Cell(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "\r", " ", "<", "&lt;", "[", "\\[", "`", "'").Replace(s)
}

// Table is a table of Markdown with a row of each item: its cells, with " | " between
// them. So are the names of the columns; those that end in a colon stand to the right.
func Table[T any](names string, items []T, row func(T) string) string {
	columns, rule := strings.Split(names, " | "), ""
	for i, name := range columns {
		rule += "|---"
		if columns[i] = strings.TrimSuffix(name, ":"); columns[i] != name {
			rule += ":"
		}
	}
	var b strings.Builder
	b.WriteString("| " + strings.Join(columns, " | ") + " |\n" + rule + "|\n")
	for _, x := range items {
		b.WriteString("| " + row(x) + " |\n")
	}
	return b.String()
}

func funnelTable(funnel []Stage) string {
	if len(funnel) == 0 {
		return ""
	}
	text := "\n## Funnel\n\nIn = Out + Failed + Dropped at every stage: each attempt counts where it is dropped first.\n\n"
	text += Table("stage | in: | out: | failed: | dropped", funnel, func(s Stage) string {
		return fmt.Sprintf("%s | %d | %d | %d | %s", s.Name, s.In, s.Out, s.Failed, Tallies(s.Dropped))
	})
	if s := funnel[0]; s.Unreadable > 0 {
		text += fmt.Sprintf("\nAt worst %.2f %% of the records were lost in reading: %d could not be read, and %d files ended early, whose loss is not known and counts as much as was read of them.\n",
			100*s.Unreadable, s.Failed, s.CutFiles)
	}
	return text
}

// Tallies writes counts by reason in one line, sorted.
func Tallies[N int | int64](by map[string]N) string {
	parts := slicesx.FilterMap(slices.Sorted(maps.Keys(by)), func(k string) (string, bool) { return fmt.Sprintf("%s %d", k, by[k]), by[k] > 0 })
	return strings.Join(parts, ", ")
}

func columnTable(splits []split) string {
	text := "\n## Columns\n\nWhat each means stands in docs/columns.md of the project.\n"
	for _, group := range byConfig(splits) {
		columns := slicesx.Map(group[0].columns, func(c Column) string { return "`" + c.Name + "` " + strings.ReplaceAll(c.Type, "<", "\\<") })
		text += "\n" + group[0].Config + ": " + strings.Join(columns, ", ") + "\n"
	}
	return text
}

func provenance(m *Manifest) string {
	text := fmt.Sprintf("\n## Provenance\n\nWritten by arena %s, rows %s, configuration sha256 `%s`; manifest.json holds the complete configuration and the hash of every file. The same inputs with that configuration give the same bytes.\n",
		m.Pipeline, SchemaVersion, m.ConfigurationSHA256)
	if len(m.Inputs) == 0 {
		return text
	}
	return text + "\n" + Table("input | sha256 | bytes: | records:", m.Inputs, func(in Input) string {
		return fmt.Sprintf("%s | `%s` | %d | %d", in.Kind, in.SHA256, in.Bytes, in.Records)
	})
}

func checksums(shards []placed) string {
	sorted := slices.SortedFunc(slices.Values(shards), func(x, y placed) int { return strings.Compare(x.to, y.to) })
	sessions := map[string]int{}
	sorted = slices.DeleteFunc(sorted, func(s placed) bool {
		folder := path.Dir(s.to)
		of := s.Config == "" && s.Table == "" && strings.HasPrefix(folder, "sts/")
		if of {
			sessions[folder]++
		}
		return of
	})
	text := Table("file | rows: | sha256", sorted, func(s placed) string { return fmt.Sprintf("%s | %d | `%s`", s.to, s.Rows, s.SHA256) })
	for _, folder := range slices.Sorted(maps.Keys(sessions)) {
		text += fmt.Sprintf("| %s/ | %d sessions | each in manifest.json |\n", folder, sessions[folder])
	}
	return "\n## Checksums\n\n" + text
}

// uses say what reads each profile of a build. The snippets below them are run by
// bench/interop/check_load.py.
var uses = map[string]string{
	ProfileHFJSON:   "TRL SFTTrainer, axolotl, datasets >= 4.7: messages and tools arrive as lists of dicts",
	ProfileVerlRL:   "verl RLHFDataset: data.train_files takes the shards",
	ProfilePref:     "TRL DPOTrainer and RewardTrainer",
	ProfileKTO:      "TRL KTOTrainer",
	ProfileStepwise: "axolotl, type stepwise_supervised",
}

func loadSnippets(splits []split, further map[string]string) string {
	text := "\n## Loading\n\n`CORPUS` is this folder. Training says what a trainer needs beside it. Polars reads JSON values as bytes: `pl.element().cast(pl.String)` in `list.eval` makes text of them.\n"
	for _, group := range byConfig(splits) {
		use := cmp.Or(further[group[0].Profile], uses[group[0].Profile])
		text += fmt.Sprintf("\n```python\n# %s\nfrom datasets import load_dataset\nrows = load_dataset(CORPUS, %q, split=%q)\n```\n", use, group[0].Config, group[0].Split)
	}
	return text
}

func licence(name string) string {
	if name == NoLicense {
		return "\n## Licence\n\nNo terms were named when this was written (`--license`). The rows hold texts of models, of sellers and of customers: who publishes them must have the right to, and says under what licence.\n"
	}
	return fmt.Sprintf("\n## Licence\n\n`%s`, as named when this was written.\n", name)
}

// publishing is said of a corpus with a bank.
const publishing = "\n## Publishing\n\nThis folder is the private half: bank.json, the eval split, reports and tables name what is protected. `arena publish` makes of it a corpus that may leave the house, and uploads that.\n"

// trained are the train splits that a trainer's block can be given for, in the
// order of their configs.
func trained(shards []placed) []trainers.Rows {
	var out []trainers.Rows
	for _, s := range shards {
		if s.Config == "" || s.Split != SplitTrain {
			continue
		}
		of := func(r trainers.Rows) bool { return r.Config == s.Config }
		i := slices.IndexFunc(out, of)
		if i < 0 {
			i, out = len(out), append(out, trainers.Rows{Profile: s.Profile, Config: s.Config})
		}
		if s.Longest.Tokens > out[i].Longest {
			out[i].Longest, out[i].Counter = s.Longest.Tokens, s.Longest.Counter
		}
	}
	slices.SortFunc(out, func(a, b trainers.Rows) int { return strings.Compare(a.Config, b.Config) })
	return out
}

func training(shards []placed) string {
	text := ""
	for _, r := range trained(shards) {
		text += trainers.Markdown(r)
	}
	if text == "" {
		return ""
	}
	return "\n## Training\n\nWhat a block leaves out is the trainer's own default. The scripts for TRL SFT, DPO, KTO and reward and the YAML for LLaMA-Factory were run for two steps on a tiny model; of axolotl and verl, what prepares the rows; GRPO and verl's loop were not run as they stand here.\n" + text
}
