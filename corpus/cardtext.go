package corpus

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/trajectory-arena/arena/corpus/trainers"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// cellEscapes replaces the characters that would end or format a cell of a Markdown table, such as
// | → \| and a line break → space.
var cellEscapes = strings.NewReplacer(
	"|",
	"\\|",
	"\n",
	" ",
	"\r",
	" ",
	"<",
	"&lt;",
	"[",
	"\\[",
	"`",
	"'",
)

// EscapeCell returns s with the characters replaced that Markdown would interpret in a table
// cell. It is for texts that this program did not write.
func EscapeCell(s string) string { return cellEscapes.Replace(s) }

// Table returns a Markdown table with a row for each item. header has the names of the
// columns and formatRow returns the cells of a row, both separated by " | ". Columns
// whose name ends in a colon are aligned to the right.
func Table[T any](
	header string,
	items []T,
	formatRow func(T) string,
) string {
	return table(header, slicesx.Map(items, formatRow))
}

// table returns a Markdown table. header has the names of the columns, separated by " | "; a colon
// after a name aligns the column right. Each of lines is a row, its cells separated in the same
// way.
func table(header string, lines []string) string {
	columns := strings.Split(header, " | ")
	rule := ""
	for i, column := range columns {
		name, alignRight := strings.CutSuffix(column, ":")
		columns[i] = name
		rule += "|---"
		if alignRight {
			rule += ":"
		}
	}
	var b strings.Builder
	b.WriteString("| " + strings.Join(columns, " | ") + " |\n" + rule + "|\n")
	for _, line := range lines {
		b.WriteString("| " + line + " |\n")
	}
	return b.String()
}

// FormatCounts returns the counts above 0 as one line, such as "email 3, phone 1", sorted by
// name.
func FormatCounts[N int | int64](counts map[string]N) string {
	parts := slicesx.FilterMap(slicesx.SortedKeys(counts), func(name string) (string, bool) {
		return fmt.Sprintf("%s %d", name, counts[name]), counts[name] > 0
	})
	return strings.Join(parts, ", ")
}

func configsSection(splits []split) string {
	table := Table("config | profile | split | rows: | shards: | bytes:", splits, func(s split) string {
		return fmt.Sprintf(
			"%s | %s | %s | %d | %d | %d",
			s.Config,
			s.Profile,
			s.Split,
			s.rows,
			len(s.paths),
			s.bytes,
		)
	})
	return "\n## Configs\n\n" + table
}

func funnelSection(funnel []Stage) string {
	if len(funnel) == 0 {
		return ""
	}
	text := "\n## Funnel\n\nAt every stage, in = out + failed + dropped. An attempt is counted only at the stage that drops it first.\n\n"
	text += Table("stage | in: | out: | failed: | dropped", funnel, func(s Stage) string {
		return fmt.Sprintf(
			"%s | %d | %d | %d | %s",
			s.Name,
			s.In,
			s.Out,
			s.Failed,
			FormatCounts(s.Dropped),
		)
	})
	if n := funnel[len(funnel)-1].Stripped; n > 0 {
		text += fmt.Sprintf("\n%d of the attempts that passed the last stage have no thinking in their rows, because no model wrote it (`thinking_unsaid`); manifest.json counts them at every stage.\n", n)
	}
	if s := funnel[0]; s.Unreadable > 0 {
		text += fmt.Sprintf("\nAt most about %.2f %% of the records were lost in reading: %d could not be read, and %d files ended early. How many records these files lack is unknown; they count as if as many were lost as were read.\n",
			100*s.Unreadable, s.Failed, s.CutFiles)
	}
	return text
}

func columnsSection(splits []split) string {
	text := "\n## Columns\n\nThe meaning of each column is in docs/columns.md of the project.\n"
	for _, group := range groupByConfig(splits) {
		columns := slicesx.Map(group[0].columns, func(c Column) string {
			return "`" + c.Name + "` " + strings.ReplaceAll(c.Type, "<", "\\<")
		})
		text += "\n" + group[0].Config + ": " + strings.Join(columns, ", ") + "\n"
	}
	return text
}

func provenanceSection(m *Manifest) string {
	text := fmt.Sprintf("\n## Provenance\n\nWritten by arena %s, rows %s, configuration sha256 `%s`; manifest.json holds the complete configuration and the hash of every file. The same inputs with this configuration give the same bytes.\n",
		m.Pipeline, SchemaVersion, m.ConfigurationSHA256)
	if len(m.Inputs) == 0 {
		return text
	}
	return text + "\n" + Table("input | sha256 | bytes: | records:", m.Inputs, func(input Input) string {
		return fmt.Sprintf("%s | `%s` | %d | %d", input.Kind, input.SHA256, input.Bytes, input.Records)
	})
}

// checksumsSection returns the card's table of shards with their SHA-256 checksums. Session
// traces (sts), of which each attempt has a file of its own, are only counted per folder.
func checksumsSection(shards []placed) string {
	var listed []placed
	sessions := map[string]int{} // by folder
	for _, s := range shards {
		folder := path.Dir(s.target)
		isSession := s.Config == "" && s.Table == "" && strings.HasPrefix(folder, "sts/")
		if isSession {
			sessions[folder]++
			continue
		}
		listed = append(listed, s)
	}
	slicesx.SortByKey(listed, func(s placed) string {
		return s.target
	})
	text := Table("file | rows: | sha256", listed, func(s placed) string {
		return fmt.Sprintf("%s | %d | `%s`", s.target, s.Rows, s.SHA256)
	})
	for _, folder := range slicesx.SortedKeys(sessions) {
		text += fmt.Sprintf("| %s/ | %d sessions | each in manifest.json |\n", folder, sessions[folder])
	}
	return "\n## Checksums\n\n" + text
}

// buildUses maps each profile (output format) that a build writes to the trainers that load it
// and what they need. The card prints it as a comment in the loading code.
var buildUses = map[string]string{
	ProfileHFJSON:   "TRL SFTTrainer, axolotl, datasets >= 4.7: messages and tools arrive as lists of dicts",
	ProfileVerlRL:   "verl RLHFDataset: data.train_files takes the shards",
	ProfilePref:     "TRL DPOTrainer and RewardTrainer",
	ProfileKTO:      "TRL KTOTrainer",
	ProfileStepwise: "axolotl, type stepwise_supervised",
}

// loadingSection returns the card's section with Python code that loads each config. uses maps
// further profiles to the trainers that load them. bench/interop/check_load.py runs the code.
func loadingSection(splits []split, uses map[string]string) string {
	text := "\n## Loading\n\nRun these blocks in this folder. Elsewhere, replace `os.getcwd()` by the path of the folder or its name on the Hub. The section Training has complete scripts.\n"
	for _, group := range groupByConfig(splits) {
		use := cmp.Or(uses[group[0].Profile], buildUses[group[0].Profile])
		text += fmt.Sprintf("\n```python\n# %s\nimport os\n\nfrom datasets import load_dataset\n\nrows = load_dataset(os.getcwd(), %q, split=%q)\n```\n",
			use, group[0].Config, group[0].Split)
		switch group[0].Profile {
		case ProfileHFJSON, ProfileWeighted:
			text += fmt.Sprintf(polarsBlock, group[0].Config, group[0].Split)
		}
	}
	return text
}

// polarsBlock is the card's Python code that loads one split with Polars and casts columns of
// JSON values to text, since Polars reads the JSON type of Parquet as bytes. Its two verbs are
// the names of config and split.
const polarsBlock = "\n```python\n# Polars reads JSON values as bytes: this makes text of them\nimport polars as pl\n\ntext = pl.element().cast(pl.String)\nrows = pl.read_parquet(\"data/%s/%s-*.parquet\").with_columns(\n    pl.col(\"messages\", \"tools\").list.eval(text), pl.col(\"metadata\").cast(pl.String))\n```\n"

// usualAuthors are the authors of a corpus's texts that the card's section on the licence names if
// the card lists none.
var usualAuthors = []string{"models", "tools", "people"}

func (c *Card) licenceSection() string {
	if c.License != NoLicense {
		return fmt.Sprintf("\n## Licence\n\n`%s`, as named when the corpus was written.\n", c.License)
	}
	authors := authorsOr(c.Authors)
	last := len(authors) - 1
	texts := "texts of " + authors[last]
	if last > 0 {
		texts = "texts of " + strings.Join(authors[:last], ", of ") + " and of " + authors[last]
	}
	return "\n## Licence\n\nNo licence was named when the corpus was written (`--license`). The rows contain " + texts + ". Whoever publishes them needs the right to do so, and must name the licence.\n"
}

// publishingSection is the card's warning that the corpus must not be published, for a corpus
// that contains bank.json.
const publishingSection = "\n## Publishing\n\nThis folder is private: bank.json, the eval split, reports and tables reveal the protected problems. `arena publish` makes a corpus from it that may be published, and uploads that.\n"

// trainRows returns an element for each config with at least one training row, sorted by
// config: its profile, the number of training rows, whether it has an eval split, and the
// length in tokens of its longest row of either split.
func trainRows(shards []placed) []trainers.Rows {
	byConfig := map[string]*trainers.Rows{}
	for _, s := range shards {
		if s.Config == "" {
			continue
		}
		r, ok := byConfig[s.Config]
		if !ok {
			r = &trainers.Rows{Profile: s.Profile, Config: s.Config}
			byConfig[s.Config] = r
		}
		switch s.Split {
		case SplitTrain:
			r.Train += s.Rows
		case SplitEval:
			r.HasEval = true
		}
		if s.Longest.Tokens > r.Longest {
			r.Longest = s.Longest.Tokens
			r.Counter = s.Longest.Counter
		}
	}

	var all []trainers.Rows
	for _, config := range slicesx.SortedKeys(byConfig) {
		if r := byConfig[config]; r.Train > 0 {
			all = append(all, *r)
		}
	}
	return all
}

// trainingSection returns the card's section with a training script or configuration for each
// config with at least one training row. It returns "" if there is no such config.
func trainingSection(shards []placed) string {
	text := ""
	for _, r := range trainRows(shards) {
		text += trainers.Markdown(r)
	}
	if text == "" {
		return ""
	}
	return "\n## Training\n\nSave a block as a file in this folder and run it there. Settings that a block leaves out have the trainer's defaults. The blocks for TRL, LLaMA-Factory and ms-swift were run exactly as printed, with a tiny model. For axolotl and verl, only the part that prepares the rows was run. The sizes for GPUs are computed.\n" + text
}
