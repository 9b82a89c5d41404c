package reports

import (
	"testing"

	"github.com/trajectory-arena/arena/corpus"
)

// TestChartsCountEachAttemptOnce checks that the values of every chart add up to the number of its
// attempts.
func TestChartsCountEachAttemptOnce(t *testing.T) {
	t.Parallel()
	s := &Set{
		Funnel: []corpus.Stage{
			{Name: "read", Out: 9},
			{Name: "filter", Out: 4},
		},
		Lengths: []Lengths{
			{
				Split:  "train",
				Steps:  []int{1, 2, 12},
				Tokens: []int{0, 9_999, 14_336},
			},
			{Split: "eval", Steps: []int{3}, Tokens: []int{700}},
		},
	}
	s.Agents.Agents = []AgentShare{
		{Agent: "abcdefgh", Kept: 1},
		{Agent: "none"},
	}
	s.Judges.Levels = []LevelRate{{Score: 0.7, Attempts: 3, Kept: 1}}
	want := map[string]float64{"funnel.svg": 13, "grades.svg": 3, "agents.svg": 1, "steps.svg": 4, "tokens.svg": 4}
	for _, b := range s.Charts() {
		sum := 0.0
		for _, stack := range b.Stacks {
			if len(stack.Counts) != len(b.Names) {
				t.Errorf(
					"%s: %d bars of %q for %d names",
					b.File,
					len(stack.Counts),
					stack.Name,
					len(b.Names),
				)
			}
			for _, n := range stack.Counts {
				sum += n
			}
		}
		if sum != want[b.File] || len(b.Names) > maxBars {
			t.Errorf(
				"%s: %v counted in %d bars, want %v",
				b.File,
				sum,
				len(b.Names),
				want[b.File],
			)
		}
	}
	for _, b := range (&Set{}).Charts() {
		if len(b.Names) > 0 {
			t.Errorf("%s of nothing has bars: %q", b.File, b.Names)
		}
	}
}
