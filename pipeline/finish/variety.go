package finish

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/pipeline/variety"
)

// ReadVariety returns a sample of the rows of profile hf-json of a corpus, with the outcomes of the
// attempts in its ledger.
func ReadVariety(fsys corpus.FS, dir string) (*variety.Sample, error) {
	source, err := Open(fsys, dir)
	if err != nil {
		return nil, err
	}
	sample := &variety.Sample{}
	for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
		if err = Rows(source, corpus.ProfileHFJSON, split, sample.Add); err != nil {
			return nil, err
		}
	}
	if !source.HasTable(TableAttempts) {
		return sample, nil
	}
	lines, err := where.Read(fsys, dir, false)
	for _, line := range lines {
		sample.AddAttempt(line)
	}
	return sample, err
}

// rowSections returns the sections of the dataset card on the rows of profile hf-json in the parts
// (folders of data files): what they lack of their traces, and how varied they are. A section without
// content is left out. lost counts the rows by what they lack.
func (t *Target) rowSections(parts []string) (sections []corpus.Section, lost map[string]int64, err error) {
	sample := &variety.Sample{}
	lost = map[string]int64{}
	add := func(row *rows.SFT) error {
		for _, code := range gjson.Get(row.Metadata, keyLost).Array() {
			lost[strings.Clone(code.Str)]++
		}
		return sample.Add(row)
	}
	for _, dir := range parts {
		files, err := corpus.ReadPart(t.FS, dir)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range files {
			if f.Profile != corpus.ProfileHFJSON || corpus.IsDerived(f.Config) {
				continue
			}
			err = corpus.ReadRows(t.FS, filepath.Join(dir, filepath.FromSlash(f.Path)), add)
			if errors.Is(err, corpus.ErrDamaged) {
				continue // Assemble returns ErrDamagedPart
			}
			if err != nil {
				return nil, nil, err
			}
		}
	}
	if text := corpus.FormatCounts(lost); text != "" {
		sections = append(sections, corpus.Section{
			Heading: "What rows lack of their traces",
			Body:    text + "\n\ndocs/sources.md and docs/profiles.md say what each word means; a row's own are in its metadata under lost.",
		})
	}
	if text := sample.Text(); text != "" {
		sections = append(sections, corpus.Section{Heading: "Variety", Body: text})
	}
	return sections, lost, nil
}
