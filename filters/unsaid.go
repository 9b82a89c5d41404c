package filters

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/stats"
)

// maxUnsaid is the share of an attempt's thinking that may stand in no reply of the log.
// Above it the thinking is not the model's. Of 2,387 honest attempts that can be measured
// none exceeds 0.15 (docs/measured/filter.md).
const maxUnsaid = 0.5

// Thinking says whose the thinking of an attempt is, as far as the log can tell.
type Thinking struct {
	// Unsaid is the share of its sentences that stand in no reply of the log, 0 to 1; nil
	// if the log cannot tell.
	Unsaid *float64
	// IsForeign reports whether that is so much that the thinking is not the model's.
	IsForeign bool
}

// MeasureThinking returns whose the thinking of an attempt is. Its dialogue is that of
// Normalise.
func MeasureThinking(t *arena.Trace, d *arena.Dialogue) Thinking {
	a := evidence.Examine(t, d, nil)
	defer a.Release()
	return newThinking(a.MeasureUnsaid())
}

func newThinking(u evidence.Unsaid) Thinking {
	share := u.Share()
	return Thinking{
		Unsaid:    stats.FiniteOrNil(share),
		IsForeign: share > maxUnsaid, // false for NaN
	}
}

// WithoutThinking returns a dialogue without the model's thinking. A turn that only thinks
// is left out.
func WithoutThinking(d *arena.Dialogue) arena.Dialogue {
	out := *d
	out.Turns = slices.Clone(d.Turns)
	for i := range out.Turns {
		out.Turns[i].Think = ""
	}
	out.Turns = slices.DeleteFunc(out.Turns, func(t arena.Turn) bool {
		return t.User == "" && t.Text == "" && len(t.Calls) == 0
	})
	return out
}
