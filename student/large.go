package student

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/student/rollout"
)

// Of conversations longer than longTalk, in bytes of a request (some 250,000
// tokens), there are few at a time, or memory grows with the rollouts in flight.
const (
	longTalk  = 1 << 20
	longTalks = 4
)

// turns asks for one rollout. It holds large replies until the next request, and from
// a long conversation on a place among those until the rollout's end. Nobody waits for
// a place, or for a server, with a large reply.
type turns struct {
	rollout.Asker
	talks *semaphore.Weighted
	long  bool
	reply model.Hold
}

// Chat implements rollout.Asker.
func (t *turns) Chat(ctx context.Context, request model.Body) (model.Reply, []byte, error) {
	t.reply.Release()
	if request.Len() > longTalk && !t.long {
		if err := t.talks.Acquire(ctx, 1); err != nil {
			return model.Reply{}, nil, err
		}
		t.long = true
	}
	return t.Asker.Chat(t.reply.In(ctx), request)
}

// end gives back all that is held.
func (t *turns) end() {
	t.reply.Release()
	if t.long {
		t.talks.Release(1)
	}
}
