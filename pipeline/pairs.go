package pipeline

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/trajectory-arena/arena/corpus"
)

// pairsName is the file beside a part of pairs that sums up its pairs; maxPairs
// bounds what is read of it.
const (
	pairsName = "pairs.json"
	maxPairs  = 1 << 20
)

func (w *unitWriter) storePairs(s *corpus.PairSummary) error {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode summary of pairs: %w", err)
	}
	return corpus.WriteFile(w.FS, filepath.Join(w.partDir(w.plan, w.unit), pairsName), b)
}

// pairs adds up what the parts say of their pairs.
func (s *session) pairs(p *plan) (*corpus.PairSummary, error) {
	sum := &corpus.PairSummary{}
	for _, u := range p.Units {
		if u.Stream.Config != configKTO {
			continue
		}
		name := filepath.Join(s.partDir(p, u), pairsName)
		b, err := corpus.ReadFile(s.FS, name, maxPairs)
		if err != nil {
			return nil, fmt.Errorf("read summary of pairs: %w", err)
		}
		var part corpus.PairSummary
		if err = json.Unmarshal(b, &part); err != nil {
			return nil, fmt.Errorf("parse %s: %w", name, err)
		}
		sum.Merge(&part)
	}
	return sum, nil
}
