package export

import (
	"maps"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
)

// splits are those that have rows.
func (j *job) splits() []string {
	out := []string{}
	for _, c := range j.counts {
		if c.Rows > 0 {
			out = append(out, c.Split)
		}
	}
	return out
}

// files writes small files beside the shards, at fixed places.
func (j *job) files(content map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(content)) {
		f, err := corpus.NewPlace(j.part, name)
		if err != nil {
			return err
		}
		if _, err := f.Write(content[name]); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}
