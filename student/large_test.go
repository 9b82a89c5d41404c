package student

import (
	"context"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena/internal/model"
)

// sized answers with as many bytes.
type sized int

func (s sized) Chat(context.Context, model.Body) (model.Reply, []byte, error) {
	return model.Reply{}, make([]byte, s), nil
}

// TestFewWorkOnLargeReplies: at most largeWork rollouts work on large replies at
// a time, any number on usual ones, and none waits for a server with a slot.
func TestFewWorkOnLargeReplies(t *testing.T) {
	t.Parallel()
	for size, most := range map[sized]int64{largeReply: 16, largeReply + 1: largeWork} {
		slots := make(chan struct{}, largeWork)
		var working, peak atomic.Int64
		var g errgroup.Group
		for range 16 {
			g.Go(func() error {
				asker := &turns{Asker: size, slots: slots}
				defer asker.release()
				for range 20 {
					if _, _, err := asker.Chat(t.Context(), nil); err != nil {
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
		if err := g.Wait(); err != nil || peak.Load() > most || len(slots) != 0 {
			t.Errorf("%d bytes: %d at a time, at most %d; %d slots are held; %v", size, peak.Load(), most, len(slots), err)
		}
	}
}

// TestTheEndOfARunEndsTheWaitForASlot: nobody hangs on Ctrl-C.
func TestTheEndOfARunEndsTheWaitForASlot(t *testing.T) {
	t.Parallel()
	slots := make(chan struct{}, 1)
	slots <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	asker := &turns{Asker: sized(largeReply + 1), slots: slots}
	if _, _, err := asker.Chat(ctx, nil); err == nil || asker.held {
		t.Errorf("held %t, %v", asker.held, err)
	}
}
