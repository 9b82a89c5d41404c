package corpus

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// CardName is the dataset card, the file that hubs and the datasets library read first.
const CardName = "README.md"

// Card holds the content of a dataset card that does not follow from the files.
type Card struct {
	Title string
	// License is the Hub's identifier of the licence, such as cc-by-4.0. "" means
	// NoLicense.
	License string
	Tags    []string
	// Languages are the codes of the languages of the rows, nil if they are not known.
	Languages []string
	// Authors are those whose texts the rows hold, nil for models, tools and people.
	Authors []string
	// Default is the config that loaders use if none is named.
	Default string
	// Sections follow the overview, in order, as Markdown.
	Sections []Section
	// Uses are the loaders of the profiles that builds do not write, by profile.
	Uses map[string]string
}

// NoLicense is the Hub's identifier for other or unknown licences.
const NoLicense = "other"

// Section is a section of a card.
type Section struct {
	Heading string
	Body    string
}

// split is one split of a config, such as train, as the dataset card describes it: its columns,
// the paths of its Parquet files and the sums of their rows and sizes. decoded is the size in
// bytes before encoding.
type split struct {
	Stream
	columns []Column
	paths   []string
	rows    int64
	bytes   int64
	decoded int64
}

// cardSplits groups the Parquet shards by config and split, sorted by config with train before
// eval. Other files are omitted: if a card lists one file of another format, the datasets library
// can load no config.
func cardSplits(shards []placed) []split {
	var splits []split
	index := map[Stream]int{}
	for _, s := range shards {
		if s.Config == "" || len(s.Columns) == 0 {
			continue
		}
		i, ok := index[s.Stream]
		if !ok {
			i = len(splits)
			index[s.Stream] = i
			splits = append(splits, split{Stream: s.Stream, columns: s.Columns})
		}
		splits[i].paths = append(splits[i].paths, s.target)
		splits[i].rows += s.Rows
		splits[i].bytes += s.Bytes
		splits[i].decoded += s.Decoded
	}
	slicesx.SortFunc(splits, func(a, b split) int {
		return cmp.Or(cmp.Compare(a.Config, b.Config), -cmp.Compare(a.Split, b.Split))
	})
	return splits
}

// render returns the text of the dataset card, README.md. An empty c.License is set to
// NoLicense. If private is true, the card contains a warning that the corpus must not be
// published as it is.
func (c *Card) render(
	m *Manifest,
	shards []placed,
	private bool,
) string {
	splits := cardSplits(shards)
	c.License = cmp.Or(c.License, NoLicense)
	var b strings.Builder
	b.WriteString("---\n")
	b.WriteString(c.frontMatter(splits))
	b.WriteString("---\n\n# " + c.Title + "\n")
	b.WriteString(c.licenceSection())
	b.WriteString(configsSection(splits))
	for _, s := range c.Sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", s.Heading, strings.TrimSpace(s.Body))
	}
	b.WriteString(m.Redaction.section())
	b.WriteString(funnelSection(m.Funnel))
	b.WriteString(columnsSection(splits))
	b.WriteString(provenanceSection(m))
	b.WriteString(loadingSection(splits, c.Uses))
	b.WriteString(trainingSection(shards))
	if private {
		b.WriteString(publishingSection)
	}
	b.WriteString(checksumsSection(shards))
	return b.String()
}

func (c *Card) frontMatter(splits []split) string {
	configs, infos := c.configs(splits)
	front := yaml.MapSlice{
		{Key: "license", Value: c.License},
	}
	if len(c.Languages) > 0 {
		front = append(front, yaml.MapItem{Key: "language", Value: c.Languages})
	}
	front = append(front, yaml.MapSlice{
		{Key: "task_categories", Value: []string{"text-generation"}},
		{Key: "tags", Value: c.Tags},
		{Key: "size_categories", Value: []string{sizeCategory(splits)}},
		{Key: "configs", Value: configs},
		{Key: "dataset_info", Value: infos},
	}...)
	b, err := yaml.MarshalWithOptions(front, yaml.UseLiteralStyleIfMultiline(true))
	if err != nil { // plain maps, lists and strings always encode
		return "# " + err.Error() + "\n"
	}
	return string(b)
}

// configs returns two lists for the YAML at the top of the dataset card, each with one element per
// config: the files of each split, and the numbers of rows and bytes. Column types are omitted,
// since the datasets library would then reject columns that are added later, and datasets 4.0 would
// fail on the type json.
func (c *Card) configs(splits []split) (configs, infos []yaml.MapSlice) {
	for _, group := range groupByConfig(splits) {
		var files, sizes []yaml.MapSlice
		var download, decoded int64
		for _, s := range group {
			files = append(files, yaml.MapSlice{
				{Key: "split", Value: s.Split},
				{Key: "path", Value: s.paths},
			})
			sizes = append(sizes, yaml.MapSlice{
				{Key: "name", Value: s.Split},
				{Key: "num_bytes", Value: s.decoded},
				{Key: "num_examples", Value: s.rows},
			})
			download += s.bytes
			decoded += s.decoded
		}
		name := yaml.MapItem{Key: "config_name", Value: group[0].Config}
		config := yaml.MapSlice{name}
		if group[0].Config == c.Default {
			config = append(config, yaml.MapItem{Key: "default", Value: true})
		}
		config = append(config, yaml.MapItem{Key: "data_files", Value: files})
		configs = append(configs, config)
		infos = append(infos, yaml.MapSlice{
			name,
			{Key: "splits", Value: sizes},
			{Key: "download_size", Value: download},
			{Key: "dataset_size", Value: decoded},
		})
	}
	return configs, infos
}

// groupByConfig returns a list of splits for each config. The argument must be sorted by config.
func groupByConfig(splits []split) [][]split {
	var groups [][]split
	for i, s := range splits {
		if i == 0 || s.Config != splits[i-1].Config {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], s)
	}
	return groups
}

// sizeCategory returns the Hugging Face size category, such as 1K<n<10K, for the number of rows
// in all splits. Above a million rows it is always 1M<n<10M.
func sizeCategory(splits []split) string {
	n := int64(0)
	for _, s := range splits {
		n += s.rows
	}
	switch {
	case n < 1e3:
		return "n<1K"
	case n < 1e4:
		return "1K<n<10K"
	case n < 1e5:
		return "10K<n<100K"
	case n < 1e6:
		return "100K<n<1M"
	default:
		return "1M<n<10M"
	}
}

// PairSummary summarizes preference pairs: their reasons, margins and lengths. The zero
// value is an empty summary. Summaries of parts can be merged.
type PairSummary struct {
	Pairs    int64            `json:"pairs"`
	ByReason map[string]int64 `json:"by_reason"`
	// Margin, ChosenTokens and RejectedTokens are sums over the pairs.
	Margin         float64 `json:"margin"`
	ChosenTokens   int64   `json:"chosen_tokens"`
	RejectedTokens int64   `json:"rejected_tokens"`
}

// Add adds a pair.
func (s *PairSummary) Add(p *rows.Pref) {
	s.Merge(&PairSummary{
		Pairs:          1,
		ByReason:       map[string]int64{p.Reason: 1},
		Margin:         p.Margin,
		ChosenTokens:   p.ChosenTokens,
		RejectedTokens: p.RejectedTokens,
	})
}

// Merge adds the pairs of another summary.
func (s *PairSummary) Merge(other *PairSummary) {
	if s.ByReason == nil {
		s.ByReason = map[string]int64{}
	}
	for reason, n := range other.ByReason {
		s.ByReason[reason] += n
	}
	s.Pairs += other.Pairs
	s.Margin += other.Margin
	s.ChosenTokens += other.ChosenTokens
	s.RejectedTokens += other.RejectedTokens
}

// Section returns the card's section on the pairs. The gap in it is positive if longer
// attempts are preferred.
func (s *PairSummary) Section() Section {
	n := float64(max(s.Pairs, 1))
	chosen := float64(s.ChosenTokens) / n
	rejected := float64(s.RejectedTokens) / n
	gap := float64(s.ChosenTokens-s.RejectedTokens) / n
	body := fmt.Sprintf(
		"%d pairs, each of two attempts at one problem in one harness (%s); the mean margin is %.3f. Chosen attempts have %.0f tokens on average and rejected ones %.0f. From this difference of %+.0f tokens alone, a model may learn to prefer a length.",
		s.Pairs, FormatCounts(s.ByReason), s.Margin/n, chosen, rejected, gap)
	return Section{Heading: "Pairs", Body: body}
}
