package student

import (
	"fmt"
	"path/filepath"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/evaluation"
)

// ReadSummary returns the summary of finished runs, pooled as by EachPooled. groups are the groups of
// their problems.
func ReadSummary(folders []string, groups map[string]int) (*evaluation.Summary, error) {
	if len(folders) > 1 {
		return PooledSummary(folders, groups)
	}
	const maxSummary = 64 << 20
	s := &evaluation.Summary{}
	err := corpus.ReadJSON(corpus.Disk{}, filepath.Join(folders[0], SummaryFile), maxSummary, s)
	return s, err
}

// HubResult returns the rate of a summary as a file of the folder .eval_results in a model's repository
// on the Hub. dataset is the id of the benchmark's dataset, task the id of a task in its eval.yaml.
func HubResult(s *evaluation.Summary, dataset, task string) []byte {
	notes := fmt.Sprintf("%d samples of %d problems, coverage %.4f", s.Samples, s.Problems, s.Coverage)
	if i := s.Clustered95; i != nil {
		notes = fmt.Sprintf("95 %% %.4f to %.4f by %s, ", i[0], i[1], unitOf(s)) + notes
	}
	return fmt.Appendf(nil, "- dataset:\n    id: %s\n    task_id: %s\n  value: %.4f\n  notes: %s\n",
		asjson.Bytes(dataset), asjson.Bytes(task), *s.ASRScored, asjson.Bytes(notes))
}

// unitOf returns, as text for people, what counts as independent in the intervals of a summary:
// "problem", or the number of groups if similar problems were joined into groups.
func unitOf(s *evaluation.Summary) string {
	if s.Groups > 0 {
		return fmt.Sprintf("%d groups of problems", s.Groups)
	}
	return "problem"
}
