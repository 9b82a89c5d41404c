package corpus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/trajectory-arena/arena/corpus/rows"
)

// CardName is the file that hubs and the datasets library read first.
const CardName = "README.md"

// Card is what a dataset card says beyond what the files themselves show. It
// is written by the run, never by hand.
type Card struct {
	Title string
	// License is the Hub's word for the terms that the rows are given on, such
	// as cc-by-4.0; NoLicense where it is empty.
	License string
	Tags    []string
	// Default is the config that loads without a name.
	Default string
	// Sections follow the overview, in order, as Markdown.
	Sections []Section
	// Uses say what reads the profiles that no build writes.
	Uses map[string]string
}

// NoLicense is the Hub's word for terms that it has no word for.
const NoLicense = "other"

// Section is one part of a card's text.
type Section struct {
	Heading string
	Body    string
}

type split struct {
	Stream
	columns []Column
	paths   []string
	rows    int64
	bytes   int64
	decoded int64
}

// cardSplits gathers the Parquet splits, the only ones a card may name: one
// other format among them and nothing loads.
func cardSplits(shards []placed) []split {
	var out []split
	at := map[Stream]int{}
	for _, s := range shards {
		if s.Config == "" || len(s.Columns) == 0 {
			continue
		}
		i, ok := at[s.Stream]
		if !ok {
			i = len(out)
			at[s.Stream] = i
			out = append(out, split{Stream: s.Stream, columns: s.Columns})
		}
		out[i].paths = append(out[i].paths, s.to)
		out[i].rows += s.Rows
		out[i].bytes += s.Bytes
		out[i].decoded += s.Decoded
	}
	slices.SortFunc(out, func(a, b split) int {
		return cmp.Or(cmp.Compare(a.Config, b.Config), -cmp.Compare(a.Split, b.Split))
	})
	return out
}

func (c *Card) render(m *Manifest, shards []placed, private bool) string {
	splits := cardSplits(shards)
	c.License = cmp.Or(c.License, NoLicense)
	var b strings.Builder
	b.WriteString("---\n")
	b.WriteString(c.frontMatter(splits))
	b.WriteString("---\n\n# " + c.Title + "\n")
	b.WriteString(licence(c.License))
	b.WriteString("\n## Configs\n\n" + Table("config | profile | split | rows: | shards: | bytes:", splits, func(s split) string {
		return fmt.Sprintf("%s | %s | %s | %d | %d | %d", s.Config, s.Profile, s.Split, s.rows, len(s.paths), s.bytes)
	}))
	for _, s := range c.Sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", s.Heading, strings.TrimSpace(s.Body))
	}
	b.WriteString(m.Redaction.text())
	b.WriteString(funnelTable(m.Funnel))
	b.WriteString(columnTable(splits))
	b.WriteString(provenance(m))
	b.WriteString(loadSnippets(splits, c.Uses))
	b.WriteString(training(shards))
	if private {
		b.WriteString(publishing)
	}
	b.WriteString(checksums(shards))
	return b.String()
}

func (c *Card) frontMatter(splits []split) string {
	configs, infos := c.configs(splits)
	front := yaml.MapSlice{
		{Key: "license", Value: c.License},
		{Key: "language", Value: []string{"en"}},
		{Key: "task_categories", Value: []string{"text-generation"}},
		{Key: "tags", Value: c.Tags},
		{Key: "size_categories", Value: []string{sizeCategory(splits)}},
		{Key: "configs", Value: configs},
		{Key: "dataset_info", Value: infos},
	}
	b, err := yaml.MarshalWithOptions(front, yaml.UseLiteralStyleIfMultiline(true))
	if err != nil { // plain maps, lists and strings always encode
		return "# " + err.Error() + "\n"
	}
	return string(b)
}

// configs are the files and the counts of each config. Features are left to the card's
// text: given here, they would forbid a column that somebody adds later, and the word
// json makes datasets 4.0 fail on every config of the card.
func (c *Card) configs(splits []split) (configs, infos []yaml.MapSlice) {
	for _, group := range byConfig(splits) {
		var files, sizes []yaml.MapSlice
		var download, decoded int64
		for _, s := range group {
			files = append(files, yaml.MapSlice{{Key: "split", Value: s.Split}, {Key: "path", Value: s.paths}})
			sizes = append(sizes, yaml.MapSlice{{Key: "name", Value: s.Split}, {Key: "num_bytes", Value: s.decoded}, {Key: "num_examples", Value: s.rows}})
			download, decoded = download+s.bytes, decoded+s.decoded
		}
		name := yaml.MapItem{Key: "config_name", Value: group[0].Config}
		config := yaml.MapSlice{name}
		if group[0].Config == c.Default {
			config = append(config, yaml.MapItem{Key: "default", Value: true})
		}
		configs = append(configs, append(config, yaml.MapItem{Key: "data_files", Value: files}))
		infos = append(infos, yaml.MapSlice{name, {Key: "splits", Value: sizes}, {Key: "download_size", Value: download}, {Key: "dataset_size", Value: decoded}})
	}
	return configs, infos
}

func byConfig(splits []split) [][]split {
	var out [][]split
	for i, s := range splits {
		if i == 0 || s.Config != splits[i-1].Config {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], s)
	}
	return out
}

// sizeCategory is the hub's own scale over all rows.
func sizeCategory(splits []split) string {
	n := int64(0)
	for _, s := range splits {
		n += s.rows
	}
	for _, c := range []struct {
		below int64
		name  string
	}{{1e3, "n<1K"}, {1e4, "1K<n<10K"}, {1e5, "10K<n<100K"}, {1e6, "100K<n<1M"}} {
		if n < c.below {
			return c.name
		}
	}
	return "1M<n<10M"
}

// PairSummary says of preference pairs what a reader must know before training
// on them: what they differ in and by how much in length. The zero value is
// empty; summaries of the parts of a corpus add up.
type PairSummary struct {
	Pairs    int64            `json:"pairs"`
	ByReason map[string]int64 `json:"by_reason"`
	// Margin, ChosenTokens and RejectedTokens are sums over the pairs.
	Margin         float64 `json:"margin"`
	ChosenTokens   int64   `json:"chosen_tokens"`
	RejectedTokens int64   `json:"rejected_tokens"`
}

// Add takes a pair in.
func (s *PairSummary) Add(p *rows.Pref) {
	s.Merge(&PairSummary{
		Pairs: 1, ByReason: map[string]int64{p.Reason: 1},
		Margin: p.Margin, ChosenTokens: p.ChosenTokens, RejectedTokens: p.RejectedTokens,
	})
}

// Merge takes the pairs of another summary in.
func (s *PairSummary) Merge(o *PairSummary) {
	if s.ByReason == nil {
		s.ByReason = map[string]int64{}
	}
	for reason, n := range o.ByReason {
		s.ByReason[reason] += n
	}
	s.Pairs += o.Pairs
	s.Margin += o.Margin
	s.ChosenTokens += o.ChosenTokens
	s.RejectedTokens += o.RejectedTokens
}

// Section is the card's text on the pairs. The gap is positive where longer attempts are
// preferred.
func (s *PairSummary) Section() Section {
	n := float64(max(s.Pairs, 1))
	return Section{Heading: "Pairs", Body: fmt.Sprintf(
		"%d pairs on one problem and in one harness each (%s), mean margin %.3f. Chosen attempts have %.0f tokens on average, rejected %.0f: a gap of %+.0f, from which a trainer may learn length alone.",
		s.Pairs, Tallies(s.ByReason), s.Margin/n, float64(s.ChosenTokens)/n, float64(s.RejectedTokens)/n, float64(s.ChosenTokens-s.RejectedTokens)/n)}
}
