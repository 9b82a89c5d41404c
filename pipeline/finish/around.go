package finish

import (
	"fmt"
	"path/filepath"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/traces"
)

// Around opens the corpora that inputs are files of: what these keep out of
// training stays out of what is made of their rows.
func Around(fsys corpus.FS, inputs []traces.Input) ([]*Source, error) {
	var out []*Source
	seen := map[string]bool{}
	for i := range inputs { // by position: the rest of an input may still be hashed
		name := inputs[i].Path
		if name == traces.Stdin {
			continue
		}
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, fmt.Errorf("find the corpus around %s: %w", name, err)
		}
		for dir := filepath.Dir(path); !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			is, err := corpus.IsCorpus(fsys, dir)
			if err != nil {
				return nil, err
			}
			if !is {
				continue
			}
			s, err := Open(fsys, dir)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
	}
	return out, nil
}
