package student

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/judges/outcome"
)

// Problems are the problems of a run with the ids that outputs name them by.
type Problems struct {
	All []arena.Problem
	IDs []string
	// SHA256 is the hash of the file.
	SHA256 string
}

// maxProblemLine bounds one problem: embeddings of its titles included.
const maxProblemLine = 64 << 20

// ReadProblems reads a file of problems. A problem without an id is named
// after the file and its position from 0, one whose id holds a secret after what is
// left of it and its position. One that cannot be scored is an error:
// it would count as never solved.
func ReadProblems(path string) (Problems, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Problems{}, fmt.Errorf("read problems: %w", err)
	}
	p := Problems{}
	if p.All, err = arena.ReadProblems(bytes.NewReader(text), maxProblemLine); err != nil {
		return p, fmt.Errorf("read problems %s: %w", path, err)
	}
	p.SHA256 = digest.SHA256(text)
	stem := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	seen := map[string]int{}
	for i := range p.All {
		id := p.All[i].ID
		if id == "" {
			id = fmt.Sprintf("%s-%d", stem, i)
		}
		shown, err := public([]byte(id))
		if err != nil {
			return p, fmt.Errorf("read problems: %w", err)
		}
		if string(shown) != id {
			id = fmt.Sprintf("%s #%d", shown, i)
		}
		if j, twice := seen[id]; twice {
			return p, fmt.Errorf("read problems %s: %d and %d have the same problem_id %q", path, j, i, id)
		}
		if err := outcome.Scorable(&p.All[i]); err != nil {
			return p, fmt.Errorf("read problems %s: no rollout of %q could be scored: %w", path, id, err)
		}
		seen[id] = i
		p.IDs = append(p.IDs, id)
	}
	return p, nil
}
