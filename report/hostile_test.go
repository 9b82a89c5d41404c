package report

import (
	"testing"
)

// TestNumbersOfAnyServerAreDrawn draws what a server may tell of itself and of
// its replies.
func TestNumbersOfAnyServerAreDrawn(t *testing.T) {
	t.Parallel()
	r := &Run{}
	for _, n := range []float64{-5, 1e18, 0} {
		r.Tokens.add(n, n > 0)
	}
	read := int64(7)
	r.Summary.SolvedProblems, r.Summary.Tokens.Completion = 1, &read
	if _, err := r.Page(); err != nil {
		t.Error(err)
	}
	m := &Telemetry{}
	for i := range 3 {
		m.series = append(m.series, moment{Seconds: float64(i), Server: map[string]float64{"running": 1e308, "waiting": -1e308}})
	}
	page, err := m.Page()
	if err != nil || len(page.Sections[0].Figures) != 1 {
		t.Errorf("%d figures, want that of the rollouts: %v", len(page.Sections[0].Figures), err)
	}
}
