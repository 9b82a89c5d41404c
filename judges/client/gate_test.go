package client

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestAGateFindsTheServersLimit drives a gate against a server that takes 16
// requests at once, for 50 ms each, in virtual time. The way back takes a
// moment, so that whoever hears of an answer asks a server that is done with
// all it finished at once, in whatever order.
func TestAGateFindsTheServersLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit, work = 16, 2000
		g := newGate(256, time.Now)
		var mu sync.Mutex
		busy, refused, answered := 0, 0, 0
		serve := func() (ok bool) {
			mu.Lock()
			busy++
			ok = busy <= limit
			mu.Unlock()
			time.Sleep(50 * time.Millisecond)
			mu.Lock()
			busy--
			if ok {
				answered++
			} else {
				refused++
			}
			mu.Unlock()
			time.Sleep(time.Millisecond)
			return ok
		}
		var all sync.WaitGroup
		start := time.Now()
		for range work {
			all.Go(func() {
				for {
					p, err := g.enter(context.Background())
					if err != nil {
						t.Error(err)
						return
					}
					ok := serve()
					g.leave(p, !ok, 0)
					if ok {
						return
					}
				}
			})
		}
		all.Wait()
		ideal := 50 * time.Millisecond * work / limit
		if took := time.Since(start); answered != work || took > 2*ideal {
			t.Errorf("%d answered in %v, at best %v", answered, took, ideal)
		}
		if refused > work/20 {
			t.Errorf("%d of %d requests were too many", refused, refused+answered)
		}
		t.Logf("%d answered, %d refused", answered, refused)
	})
}

func TestAGateWaitsOutAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(4, time.Now)
		p, err := g.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		g.leave(p, true, 7*time.Second)
		if _, err = g.enter(t.Context()); err != nil || time.Since(start) != 7*time.Second {
			t.Errorf("entered after %v: %v", time.Since(start), err)
		}
	})
}

func TestWhoGivesUpLeavesNoGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1, time.Now)
		p, err := g.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = g.enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		g.leave(p, false, 0)
		if _, err = g.enter(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
