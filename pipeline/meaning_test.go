package pipeline_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/guard"
)

// TestATierThatRanForOneSplitAloneIsToldOf: both splits have a guard of their
// own, and what the second can is not what the first could.
func TestATierThatRanForOneSplitAloneIsToldOf(t *testing.T) {
	t.Parallel()
	r := newRun(t, sampleDay, filepath.Join(t.TempDir(), "corpus"))
	asked := 0
	r.Embedding = func(_ context.Context, _ *guard.Guard, report *guard.Report) (*guard.EmbeddingTier, error) {
		if asked++; asked == 1 {
			report.NotRun = "embedding: the endpoint is down"
		}
		return nil, nil
	}
	build(t, r)
	if report := readFile(t, filepath.Join(r.Out, "reports", "leak.json")); !strings.Contains(report, "the endpoint is down") {
		t.Errorf("the report says nothing of it:\n%s", report)
	}
}
