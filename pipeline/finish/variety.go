package finish

import (
	"errors"
	"path/filepath"

	"github.com/trajectory-arena/arena/corpus"
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

// varietySection returns the section of the dataset card with figures on how varied the rows of
// profile hf-json in the parts (folders of data files) are. It has no text if there are no such
// rows.
func (t *Target) varietySection(parts []string) (corpus.Section, error) {
	sample := &variety.Sample{}
	for _, dir := range parts {
		files, err := corpus.ReadPart(t.FS, dir)
		if err != nil {
			return corpus.Section{}, err
		}
		for _, f := range files {
			if f.Profile != corpus.ProfileHFJSON || corpus.IsDerived(f.Config) {
				continue
			}
			err = corpus.ReadRows(t.FS, filepath.Join(dir, filepath.FromSlash(f.Path)), sample.Add)
			if errors.Is(err, corpus.ErrDamaged) {
				continue // Assemble returns ErrDamagedPart
			}
			if err != nil {
				return corpus.Section{}, err
			}
		}
	}
	return corpus.Section{Heading: "Variety", Body: sample.Text()}, nil
}
