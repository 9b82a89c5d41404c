package outcome_test

import (
	"path/filepath"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/daygen"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
)

// BenchmarkScore scores attempts of the size of a real day's, without reading
// them; its bytes are those of the envelopes.
func BenchmarkScore(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "day")
	summary, err := daygen.Write(b.Context(), dir, daygen.Config{Seed: 1, Attempts: 300, Problems: 50, Products: 4000, Sentences: 18, Pages: 4, Agentic: 0.2})
	if err != nil {
		b.Fatal(err)
	}
	var traceList []*arena.Trace
	attempts(b, dir, func(t *arena.Trace) { traceList = append(traceList, t) })
	suite := readSuite(b, filepath.Join(dir, "problems.jsonl"))
	scorer := outcome.New(readCatalog(b, filepath.Join(dir, "catalog.jsonl")), outcome.Carried{})
	b.SetBytes(summary.Bytes)
	b.ReportAllocs()
	for b.Loop() {
		for _, t := range traceList {
			p, _ := suite.Find(t)
			if _, err := scorer.Score(b.Context(), t, p); err != nil {
				b.Fatal(err)
			}
		}
	}
}
