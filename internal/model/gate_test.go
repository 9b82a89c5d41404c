package model

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// refusing is the breaker of a client.
var refusing = Breaker{After: maxTimeouts, Pause: probePause, OnlyTimeouts: true, FailFast: true}

// TestGateFindsServerLimit drives a gate against a server that processes 16 requests at once, for
// 50 ms each, in virtual time. Answers arrive a moment later, so that a client that receives one
// finds the server done with all requests that ended at the same time, in any order.
func TestGateFindsServerLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit, work = 16, 2000
		g := newGate(Config{URLs: []string{"a"}, Concurrency: 256, InitialLimit: initialLimit, Now: time.Now})
		var mu sync.Mutex
		busy := 0
		refused := 0
		answered := 0
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
		var workers sync.WaitGroup
		start := time.Now()
		for range work {
			workers.Go(func() {
				for {
					p, err := g.enter(context.Background(), nil, 0)
					if err != nil {
						t.Error(err)
						return
					}
					ok := serve()
					var f *Fault
					if !ok {
						f = &Fault{overload: true}
					}
					g.leave(p, f)
					if ok {
						return
					}
				}
			})
		}
		workers.Wait()
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

func TestGateWaitsForPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{URLs: []string{"a"}, Concurrency: 4, Now: time.Now})
		p, err := g.enter(t.Context(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		g.leave(p, &Fault{overload: true, RetryAfter: 7 * time.Second})
		if _, err = g.enter(t.Context(), nil, 0); err != nil || time.Since(start) != 7*time.Second {
			t.Errorf("entered after %v: %v", time.Since(start), err)
		}
	})
}

func TestGiveUpReleasesSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{URLs: []string{"a"}, Concurrency: 1, Now: time.Now, Breaker: refusing})
		p, err := g.enter(t.Context(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = g.enter(ctx, nil, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		g.leave(p, nil)
		if _, err = g.enter(t.Context(), nil, 0); err != nil {
			t.Error(err)
		}
	})
}

// TestServerWithTimeoutsIsSetAside checks that a server that never answers is set aside after eight
// silent requests, that waiting callers receive an error, and that from then on one request at a
// time probes the server.
func TestServerWithTimeoutsIsSetAside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{URLs: []string{"a"}, Concurrency: 1, Now: time.Now, Breaker: refusing})
		silent := &Fault{Kind: Network, timedOut: true}
		ask := func(f *Fault) error {
			p, err := g.enter(t.Context(), nil, 0)
			if err == nil {
				g.leave(p, f)
			}
			return err
		}
		aside := func(err error) bool {
			var f *Fault
			return errors.As(err, &f) && f.Kind == Network
		}
		for i := range maxTimeouts - 1 {
			if err := ask(silent); err != nil {
				t.Fatalf("request %d: %v", i, err)
			}
		}
		last, err := g.enter(t.Context(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		var waiting sync.WaitGroup
		for range 3 {
			waiting.Go(func() {
				if answer := ask(nil); !aside(answer) {
					t.Errorf("a waiting request got %v, want the error of a server that is set aside", answer)
				}
			})
		}
		synctest.Wait()
		g.leave(last, silent)
		waiting.Wait()
		if err = ask(nil); !aside(err) {
			t.Errorf("the next: %v", err)
		}
		time.Sleep(probePause)
		p, err := g.enter(t.Context(), nil, 0)
		if err != nil {
			t.Fatalf("the probe: %v", err)
		}
		if err := ask(nil); !aside(err) {
			t.Errorf("a request during the probe: %v", err)
		}
		g.leave(p, &Fault{Kind: Withdrawn}) // the request was not needed: the next one may be the probe
		if err := ask(silent); err != nil {
			t.Errorf("the second probe: %v", err)
		}
		if err := ask(nil); !aside(err) {
			t.Errorf("after a silent probe: %v", err)
		}
		time.Sleep(probePause)
		for i := range 3 { // an answer restores the server
			if err := ask(nil); err != nil {
				t.Errorf("request %d of a server that is back: %v", i, err)
			}
		}
	})
}

// TestCanceledProbeAllowsAnother checks that a caller that is cancelled while it waits for a
// hanging request does not prevent the probe that follows when this request has timed out.
func TestCanceledProbeAllowsAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Config{URLs: []string{"a"}, Concurrency: 2, Now: time.Now, Breaker: refusing})
		hanging, err := g.enter(t.Context(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		g.servers[0].limit = 1
		g.servers[0].misses = maxTimeouts - 1
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := g.enter(ctx, nil, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a probe after a request that hangs: %v", err)
		}
		g.leave(hanging, &Fault{Kind: Network, timedOut: true})
		time.Sleep(probePause)
		if p, err := g.enter(t.Context(), nil, 0); err != nil || p.server == nil {
			t.Errorf("the next probe: %+v, %v", p, err)
		}
	})
}
