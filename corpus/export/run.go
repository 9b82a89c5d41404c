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
)

// Run exports the corpus in the folder source in several profiles to the folder dir,
// which can be verified like a corpus. At most parallel profiles are written during one
// reading; the output does not depend on it.
func Run(
	ctx context.Context,
	fsys corpus.FS,
	source, dir string,
	profiles []Profile,
	opt *Options,
	parallel int,
) ([]Count, error) {
	m, err := corpus.ReadManifest(fsys, source)
	if err != nil {
		return nil, err
	}
	var counts []Count
	err = corpus.WithParts(fsys, dir, func(work string) error {
		var parts []string
		counts, parts, err = Parts(ctx, fsys, source, work, m, profiles, opt, parallel)
		if err != nil {
			return err
		}
		return assemble(ctx, fsys, source, dir, m, parts, counts, opt)
	})
	return counts, err
}

// Parts exports each profile of the corpus in the folder source, with manifest m, to a
// part of its own below work. It returns the counts and the folders of the parts. Rows
// are streamed, so that memory does not grow with the corpus.
func Parts(
	ctx context.Context,
	fsys corpus.FS,
	source, work string,
	m *corpus.Manifest,
	profiles []Profile,
	opt *Options,
	parallel int,
) ([]Count, []string, error) {
	parts := make([]string, len(profiles))
	jobs := make([]*job, len(profiles))
	lastFeed := map[string]*feed{} // by source profile
	var feeds []*feed
	for i, p := range profiles {
		p.Source = p.sourceIn(m)
		parts[i] = filepath.Join(work, p.Name)
		part, err := corpus.NewPart(fsys, parts[i], exportLimits)
		if err != nil {
			return nil, nil, err
		}
		f := lastFeed[p.Source]
		if f == nil || len(f.jobs) == max(parallel, 1) {
			f = newFeed(fsys, source, m, p.Source, opt)
			lastFeed[p.Source] = f
			feeds = append(feeds, f)
		}
		jobs[i] = &job{
			feed:    f,
			profile: p,
			part:    part,
			opt:     opt,
		}
		f.jobs = append(f.jobs, jobs[i])
	}
	for _, f := range feeds {
		if err := f.run(ctx); err != nil {
			return nil, nil, err
		}
	}
	var counts []Count
	for _, j := range jobs {
		counts = append(counts, j.counts...)
	}
	return counts, parts, nil
}

// exportLimits are the limits on files of an export. The row group is a quarter of that of a
// build, because several profiles are written at the same time and must fit into 1 GiB of memory.
var exportLimits = corpus.Limits{
	Group: corpus.DefaultLimits.Group / 4,
	Shard: corpus.DefaultLimits.Shard,
}

// maxFileBytes is the maximum size in bytes of a manifest.json or bank.json that is read.
const maxFileBytes = 256 << 20

// readBank returns the content of bank.json, the list of protected problems, of the corpus in
// folder source. It returns an error if the file's hash is not that in the manifest m.
func readBank(fsys corpus.FS, source string, m *corpus.Manifest) ([]byte, error) {
	b, err := corpus.ReadFile(fsys, filepath.Join(source, corpus.BankName), maxFileBytes)
	if err != nil {
		return nil, err
	}
	return b, m.CheckFile(corpus.BankName, b)
}

// assemble creates the exported corpus in dir. parts are the folders to which the jobs wrote their
// formats. It copies bank.json, the list of protected problems, from source, the corpus that was
// exported.
func assemble(
	ctx context.Context,
	fsys corpus.FS,
	source, dir string,
	m *corpus.Manifest,
	parts []string,
	counts []Count,
	opt *Options,
) error {
	manifest, err := corpus.ReadFile(fsys, filepath.Join(source, corpus.ManifestName), maxFileBytes)
	if err != nil {
		return err
	}
	origin, license, err := corpus.SourceSection(fsys, source)
	if err != nil {
		return err
	}
	extra := map[string][]byte{"reports/export.json": append(asjson.Indented(counts, " "), '\n')}
	hasBank := slices.ContainsFunc(m.Files, func(f corpus.FileEntry) bool {
		return f.Path == corpus.BankName
	})
	if hasBank {
		if extra[corpus.BankName], err = readBank(fsys, source, m); err != nil {
			return err
		}
	}
	input := corpus.Input{
		Kind:    "corpus manifest",
		SHA256:  digest.SHA256(manifest),
		Bytes:   int64(len(manifest)),
		Records: int64(len(m.Files)),
	}
	return corpus.Assemble(ctx, fsys, dir, corpus.Assembly{
		Redact: opt.Redact,
		Parts:  parts,
		Move:   true,
		Extra:  extra,
		Manifest: corpus.Manifest{
			Pipeline:            m.Pipeline,
			Configuration:       m.Configuration,
			Instruments:         m.Instruments,
			ConfigurationSHA256: m.ConfigurationSHA256,
			CommandSHA256:       opt.Command,
			Domains:             m.Domains,
			Inputs:              slices.Insert(m.GuardInputs(), 0, input),
		},
		Card: newCard(m, counts, cmp.Or(opt.License, license), origin),
	})
}

func newCard(m *corpus.Manifest, counts []Count, license string, origin corpus.Section) corpus.Card {
	d := corpus.CardDomain(m.Domains)
	return corpus.Card{
		Title:     "Exported corpus",
		License:   license,
		Default:   defaultConfig(counts),
		Tags:      []string{"agent", "tool-use"},
		Authors:   d.Authors,
		Languages: d.Languages,
		Uses:      Uses(),
		Sections:  append(cardSections(counts), origin),
	}
}

func cardSections(counts []Count) []corpus.Section {
	var total figures.Figures
	for i := range counts {
		total.Join(&counts[i].figures)
	}
	table := corpus.Table("profile | split | in: | taken: | rows: | dropped | redacted", counts, func(c Count) string {
		return fmt.Sprintf("%s | %s | %d | %d | %d | %s | %s",
			c.Profile, c.Split, c.In, c.Out, c.Rows, corpus.FormatCounts(c.Dropped), corpus.FormatCounts(c.Redacted))
	})
	sections := []corpus.Section{
		total.Section(),
		{Heading: "Kept and dropped", Body: "Rows that a format cannot take are left out of that format alone.\n\n" + table},
	}
	sections = append(sections, weightSections(counts)...)
	if snippets := fileSnippets(counts); snippets != "" {
		sections = append(sections, corpus.Section{Heading: "Files beside the configs", Body: snippets})
	}
	return sections
}

// defaultConfig returns the config that loaders use if the user names none: the first in counts
// that has rows and can be loaded from the card, "" if there is none.
func defaultConfig(counts []Count) string {
	for _, c := range counts {
		if p, _, _ := ByName(c.Profile); p.Load == "" && c.Rows > 0 {
			return c.Profile
		}
	}
	return ""
}

// fileSnippets returns a section with Python code that loads the profiles which the card cannot
// list as configs. The code of a profile loads the first of its splits that has rows.
func fileSnippets(counts []Count) string {
	var b strings.Builder
	written := map[string]bool{}
	for _, c := range counts {
		p, _, _ := ByName(c.Profile)
		if p.Load == "" || c.Rows == 0 || written[p.Name] {
			continue
		}
		written[p.Name] = true
		code := strings.ReplaceAll(p.Load, "SPLIT", c.Split)
		fmt.Fprintf(&b, "\n```python\n# %s: %s\n%s\n```\n", p.Name, p.Doc, code)
	}
	return b.String()
}
