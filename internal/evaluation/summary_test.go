package evaluation_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/trajectory-arena/arena/internal/evaluation"
)

// TestSummaryRoundTrip holds that the report reads the summary that the student wrote, with pass
// rates and unknown numbers.
func TestSummaryRoundTrip(t *testing.T) {
	t.Parallel()
	rate := 0.5
	want := evaluation.Summary{
		Part:       evaluation.Part{Problems: 2, Samples: 4, Scored: 3, InfraErrors: 1, ASRScored: &rate, Clustered95: &[2]float64{0.1, 0.9}},
		Pass:       map[string]evaluation.PassRate{"pass@2": {Mean: 0.5, Problems: 2, SE: &rate}, "pass^2": {Problems: 2}},
		ByCategory: map[string]*evaluation.Part{"shop": {Problems: 1}}, Stops: map[string]int{"done": 3},
		Tokens: evaluation.Tokens{Uncounted: 1},
	}
	b, err := json.Marshal(&want)
	if err != nil {
		t.Fatal(err)
	}
	var got evaluation.Summary
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}
