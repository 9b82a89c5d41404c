package student

import (
	"context"

	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/student/rollout"
)

// A reply is written down some twenty times on its way into journal, trace and
// results. That is nothing for usual ones; of those with megabytes few rollouts
// at a time may do so, or memory grows with the rollouts in flight.
const (
	largeReply = 256 << 10
	largeWork  = 2
)

// turns asks for one rollout, and holds a slot from a large reply on until the
// next request or the rollout's end. Nobody waits for a server with a slot.
type turns struct {
	rollout.Asker
	slots chan struct{}
	held  bool
}

// Chat implements rollout.Asker.
func (t *turns) Chat(ctx context.Context, request model.Body) (model.Reply, []byte, error) {
	t.release()
	reply, body, err := t.Asker.Chat(ctx, request)
	if len(body) <= largeReply {
		return reply, body, err
	}
	select {
	case t.slots <- struct{}{}:
		t.held = true
		return reply, body, err
	case <-ctx.Done():
		return model.Reply{}, nil, ctx.Err()
	}
}

func (t *turns) release() {
	if t.held {
		<-t.slots
		t.held = false
	}
}
