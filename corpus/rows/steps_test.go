package rows_test

import (
	"slices"
	"testing"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// TestNewStepsEndsBeforeUnclear checks that unclear steps get no label and that only the
// attempt's last step gets its reward.
func TestNewStepsEndsBeforeUnclear(t *testing.T) {
	t.Parallel()
	const needed, waste, unclear = arena.StepNeeded, arena.StepWaste, arena.StepUnclear
	for name, tt := range map[string]struct {
		needs   []arena.Need
		labels  []bool
		rewards []float64
		leftOut int64
	}{
		"all clear":      {[]arena.Need{needed, waste, needed}, []bool{true, false, true}, []float64{1, 0, 1.5}, 0},
		"unclear second": {[]arena.Need{needed, unclear, needed}, []bool{true}, []float64{1}, 2},
		"unclear last":   {[]arena.Need{needed, waste, unclear}, []bool{true, false}, []float64{1, 0}, 1},
		"unclear first":  {[]arena.Need{unclear, needed, needed}, nil, nil, 3},
	} {
		var ms []chat.Message
		var verdicts []arena.StepVerdict
		for _, n := range tt.needs {
			ms = append(ms, chat.Message{Role: chat.Assistant, Content: "a step"})
			verdicts = append(verdicts, arena.StepVerdict{Need: n, Reason: "r", Quote: "q"})
		}
		row, err := rows.NewSteps(&rows.SFT{Scalars: rows.Scalars{Reward: 0.5}}, ms, verdicts, &rows.Facts{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(row.Labels, tt.labels) || !slices.Equal(row.Rewards, tt.rewards) || row.LeftOut != tt.leftOut {
			t.Errorf("%s: %v %v %d", name, row.Labels, row.Rewards, row.LeftOut)
		}
		if n := len(tt.labels); len(row.Completions) != n || len(row.Reasons) != n || len(row.Quotes) != n {
			t.Errorf("%s: %d labels on %+v", name, n, row)
		}
		if _, err := rows.NewSteps(&rows.SFT{}, ms, verdicts[1:], &rows.Facts{}); err == nil {
			t.Errorf("%s: a message without a verdict is accepted", name)
		}
	}
}
