package rollout

import (
	"context"

	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/shop"
)

// TapeAnswer is one answer of a search server that is not our own: asked
// again, it could say something else.
type TapeAnswer struct {
	// Body is the answer as Python's JSON, which may hold NaN.
	Body   string `json:"body"`
	Status int    `json:"status"`
	OK     bool   `json:"ok"`
}

// tape plays kept answers first and then asks and keeps.
type tape struct {
	server shop.Server
	past   []TapeAnswer
	fresh  []TapeAnswer
}

func newTape(server shop.Server, past []Turn) *tape {
	t := &tape{server: server}
	for _, turn := range past {
		t.past = append(t.past, turn.Answers...)
	}
	return t
}

// Get implements shop.Server.
func (t *tape) Get(ctx context.Context, path string, params python.Value) (python.Value, int, bool) {
	if len(t.past) > 0 {
		a := t.past[0]
		t.past = t.past[1:]
		v, err := python.Loads(a.Body)
		return v, a.Status, a.OK && err == nil
	}
	v, status, ok := t.server.Get(ctx, path, params)
	t.fresh = append(t.fresh, TapeAnswer{Body: python.Dumps(v), Status: status, OK: ok})
	return v, status, ok
}

// take gives what was asked since the last time.
func (t *tape) take() []TapeAnswer {
	fresh := t.fresh
	t.fresh = nil
	return fresh
}
