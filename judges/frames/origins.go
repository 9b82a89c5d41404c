package frames

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Origins counts an agent's attempts by who wrote their thinking.
type Origins struct {
	// Decided is the number of attempts with thinking whose logs show who wrote all of it. Added is
	// the number of those with a sentence that no reply contains.
	Decided int `json:"decided"`
	Added   int `json:"added"`
}

// Add counts an attempt.
func (o *Origins) Add(origin arena.Origin) {
	switch origin {
	case arena.OriginClient:
		o.Added++
		o.Decided++
	case arena.OriginModel:
		o.Decided++
	case arena.OriginNone, arena.OriginOpen:
	}
}

// AreAdding reports whether the agent's client adds sentences to most attempts: the lower end of the 95 %
// interval of their share is above a half. Of agents with a share of a half, at most 2.5 % are above it by
// chance.
func (o *Origins) AreAdding() bool {
	return o.Decided > 0 && stats.Wilson(o.Added, o.Decided).Low > 0.5
}
