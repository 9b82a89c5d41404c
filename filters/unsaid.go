package filters

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/filters/thinking"
	"github.com/trajectory-arena/arena/internal/stats"
)

// maxUnsaid is the maximum share of an attempt's thinking that may be in no logged reply. Above
// it, the thinking is not the model's. None of 2,387 measurable honest attempts exceeds 0.15
// (docs/measured/filter.md).
const maxUnsaid = 0.5

// Thinking is the result of checking whether a model wrote the thinking of an attempt.
type Thinking struct {
	// Unsaid is the share of the thinking's sentences that are in no logged reply, from 0 to 1.
	// It is nil if the log is incomplete.
	Unsaid *float64
	// IsForeign reports whether Unsaid is so large that the thinking cannot be the model's.
	IsForeign bool
	// Origin is who wrote the thinking.
	Origin arena.Origin
	// Graded is the dialogue without the thinking that no logged reply contains, since judges grade
	// only what a model wrote. It is the whole dialogue if the log is incomplete.
	Graded arena.Dialogue
	// Logged is the part of Graded that logged replies contain. It is nil if they contain all, or
	// if the source has no log of replies.
	Logged *arena.Dialogue
	// share is Unsaid, NaN if it is nil.
	share float64
}

// MeasureThinking checks whether a model wrote the thinking of an attempt. d must be the
// dialogue that Normalise returns for t.
func MeasureThinking(t *arena.Trace, d *arena.Dialogue) Thinking {
	a := evidence.Examine(t, d, nil)
	defer a.Release()
	return measureThinking(a)
}

func measureThinking(a *evidence.Attempt) Thinking {
	unsaid, turns, logged := thinking.Measure(a)
	share := unsaid.Share()
	t := Thinking{
		share:     share,
		Unsaid:    stats.FiniteOrNil(share),
		IsForeign: share > maxUnsaid, // false for NaN
		Origin:    unsaid.Origin,
		Graded:    arena.Dialogue{Turns: turns, Faults: a.Dialogue.Faults},
	}
	if logged != nil && a.Trace.Source.HasProxyLog {
		t.Logged = &arena.Dialogue{Turns: logged, Faults: a.Dialogue.Faults}
	}
	return t
}

// WithoutThinking returns a dialogue without the model's thinking. It drops turns that contain
// only thinking.
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
