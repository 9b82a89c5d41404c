package student

import (
	"context"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/trajectory-arena/arena/internal/model"
)

// nods answers everything with nothing.
type nods struct{}

func (nods) Chat(context.Context, model.Body) (model.Reply, []byte, error) {
	return model.Reply{}, nil, nil
}

// TestFewLongTalksAtATime: at most longTalks rollouts have long conversations at a
// time, any number usual ones, and the end of a run ends the wait for a place.
func TestFewLongTalksAtATime(t *testing.T) {
	t.Parallel()
	for size, most := range map[int]int64{longTalk: 16, longTalk + 1: longTalks} {
		talks := semaphore.NewWeighted(longTalks)
		var working, peak atomic.Int64
		var g errgroup.Group
		for range 16 {
			g.Go(func() error {
				asker := &turns{Asker: nods{}, talks: talks}
				defer asker.end()
				for range 20 {
					if _, _, err := asker.Chat(t.Context(), model.Body{make([]byte, size)}); err != nil {
						return err
					}
					n := working.Add(1)
					for old := peak.Load(); n > old && !peak.CompareAndSwap(old, n); old = peak.Load() {
					}
					working.Add(-1)
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil || peak.Load() > most || !talks.TryAcquire(longTalks) {
			t.Errorf("%d bytes: %d at a time, at most %d; %v", size, peak.Load(), most, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		asker := &turns{Asker: nods{}, talks: talks}
		if _, _, err := asker.Chat(ctx, model.Body{make([]byte, longTalk+1)}); err == nil || asker.long {
			t.Errorf("a place is held, %v", err)
		}
	}
}
