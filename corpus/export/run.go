package export

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Run exports a corpus in several profiles into a folder that is itself
// verified like a corpus. Up to side formats are written side by side from one
// reading; the bytes do not depend on it.
func Run(ctx context.Context, fsys corpus.FS, from, to string, profiles []Profile, opt *Options, side int) ([]Count, error) {
	m, err := corpus.ReadManifest(fsys, from)
	if err != nil {
		return nil, err
	}
	var counts []Count
	err = corpus.InParts(fsys, to, func(work string) error {
		var parts []string
		if counts, parts, err = Parts(ctx, fsys, from, work, m, profiles, opt, side); err != nil {
			return err
		}
		return publish(ctx, fsys, from, to, m, parts, counts, opt)
	})
	return counts, err
}

// Parts exports each profile of the corpus that lies in from, and that m lists,
// into a part of its own under work. Rows stream through: memory does not grow
// with the corpus.
func Parts(ctx context.Context, fsys corpus.FS, from, work string, m *corpus.Manifest, profiles []Profile, opt *Options, side int) ([]Count, []string, error) {
	parts, jobs := make([]string, len(profiles)), make([]*job, len(profiles))
	feeds := map[string]*feed{}
	var order []*feed
	for i, p := range profiles {
		parts[i] = filepath.Join(work, p.Name)
		part, err := corpus.NewPart(fsys, parts[i], groupLimits)
		if err != nil {
			return nil, nil, err
		}
		f := feeds[p.From]
		if f == nil || len(f.jobs) == max(side, 1) {
			f = newFeed(fsys, from, m, p.From, opt)
			feeds[p.From], order = f, append(order, f)
		}
		jobs[i] = &job{feed: f, profile: p, part: part, opt: opt}
		f.jobs = append(f.jobs, jobs[i])
	}
	for _, f := range order {
		if err := f.run(ctx); err != nil {
			return nil, nil, err
		}
	}
	return slices.Concat(slicesx.Map(jobs, func(j *job) []Count { return j.counts })...), parts, nil
}

// groupLimits hold a quarter of a build's row group: an export writes many
// profiles at once and must stay within 1 GiB of memory.
var groupLimits = corpus.Limits{Group: corpus.DefaultLimits.Group / 4, Shard: corpus.DefaultLimits.Shard}

func publish(ctx context.Context, fsys corpus.FS, from, to string, m *corpus.Manifest, parts []string, counts []Count, opt *Options) error {
	source, err := corpus.ReadFile(fsys, filepath.Join(from, corpus.ManifestName), 256<<20)
	if err != nil {
		return err
	}
	origin, license, err := corpus.Carried(fsys, from)
	if err != nil {
		return err
	}
	extra := map[string][]byte{"reports/export.json": append(asjson.Indented(counts, " "), '\n')}
	if slices.ContainsFunc(m.Files, func(f corpus.FileEntry) bool { return f.Path == corpus.BankName }) {
		if extra[corpus.BankName], err = corpus.ReadFile(fsys, filepath.Join(from, corpus.BankName), 256<<20); err != nil {
			return err
		}
	}
	out := corpus.Manifest{Pipeline: m.Pipeline, Configuration: m.Configuration, ConfigurationSHA256: m.ConfigurationSHA256, Inputs: slices.Insert(m.Guards(), 0,
		corpus.Input{Kind: "corpus manifest", SHA256: digest.SHA256(source), Bytes: int64(len(source)), Records: int64(len(m.Files))})}
	return corpus.Assemble(ctx, fsys, to, corpus.Assembly{
		Redact: opt.Redact, Parts: parts, Move: true, Manifest: out,
		Extra: extra,
		Card: corpus.Card{Title: "Exported corpus", License: cmp.Or(opt.License, license), Default: defaultConfig(counts), Tags: []string{"agent", "tool-use"}, Uses: Uses(),
			Sections: append(cardSections(counts), origin)},
	})
}

func cardSections(counts []Count) []corpus.Section {
	var all figures.Figures
	for i := range counts {
		all.Join(&counts[i].figures)
	}
	table := corpus.Table("profile | split | in: | taken: | rows: | dropped | redacted", counts, func(c Count) string {
		return fmt.Sprintf("%s | %s | %d | %d | %d | %s | %s", c.Profile, c.Split, c.In, c.Out, c.Rows, corpus.Tallies(c.Dropped), corpus.Tallies(c.Redacted))
	})
	sections := []corpus.Section{all.Section(), {Heading: "Kept and dropped", Body: "Rows that a format cannot take are left out of that format alone.\n\n" + table}}
	sections = append(sections, weights(counts)...)
	if beside := besideConfigs(counts); beside != "" {
		sections = append(sections, corpus.Section{Heading: "Files beside the configs", Body: beside})
	}
	return sections
}

// defaultConfig is the config that loads without a name: the first that has rows.
func defaultConfig(counts []Count) string {
	for _, c := range counts {
		if p, _, _ := Named(c.Profile); p.Load == "" && c.Rows > 0 {
			return c.Profile
		}
	}
	return ""
}

// besideConfigs says how to load what the card's configs do not name, each
// profile by the first of its splits that has rows.
func besideConfigs(counts []Count) string {
	var b strings.Builder
	shown := map[string]bool{}
	for _, c := range counts {
		p, _, _ := Named(c.Profile)
		if p.Load != "" && c.Rows > 0 && !shown[p.Name] {
			shown[p.Name] = true
			fmt.Fprintf(&b, "\n```python\n# %s: %s\n%s\n```\n", p.Name, p.Doc, strings.ReplaceAll(p.Load, "SPLIT", c.Split))
		}
	}
	return b.String()
}
