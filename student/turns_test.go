package student

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/internal/model"
)

// bulky searches twice and ends, in replies with unused padding. It counts how many rollouts with
// two such replies send requests at a time.
type bulky struct {
	padding        string
	requests, long atomic.Int64
	maxInFlight    atomic.Int64
}

func (b *bulky) Chat(_ context.Context, request model.Body) (model.Reply, []byte, error) {
	b.requests.Add(1)
	name := "find_product"
	if bytes.Count(bytes.Join(request, nil), []byte(`"role":"assistant"`)) == 2 {
		name = "terminate"
		n := b.long.Add(1)
		defer b.long.Add(-1)
		for old := b.maxInFlight.Load(); n > old && !b.maxInFlight.CompareAndSwap(old, n); old = b.maxInFlight.Load() {
		}
		for waited := 0; waited < 10 && b.maxInFlight.Load() <= longTraces; waited++ {
			time.Sleep(10 * time.Millisecond) // for one more than may be
		}
	}
	body := fmt.Appendf(nil, `{"padding":%q,"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":%q,"arguments":"{}"}}]}}]}`, b.padding, name)
	reply, err := model.ReadTurn(body)
	return reply, body, err
}

// TestFewLongRolloutsAtATime holds that at most longTraces rollouts with long traces are played at
// a time, for any cause of their length. A waiting rollout does not request its earlier turns
// again.
func TestFewLongRolloutsAtATime(t *testing.T) {
	t.Parallel()
	const n, turns = longTraces + 2, 3
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint(i))
	}
	for size, limit := range map[int]int64{100: n, usualTrace/2 + 1: longTraces} {
		asker := &bulky{padding: strings.Repeat("x", size)}
		run := newRun(t, openShop(t), problemFile(t, names), "http://127.0.0.1:1", 1, filepath.Join(t.TempDir(), "run"))
		run.Asker = asker
		s, err := run.Play(t.Context())
		if err != nil || s.Stops["terminated"] != n || asker.requests.Load() != n*turns {
			t.Errorf("%d bytes: %d requests, %+v, %v", size, asker.requests.Load(), s, err)
		}
		if got := asker.maxInFlight.Load(); got > limit {
			t.Errorf("%d bytes: %d rollouts at a time, at most %d", size, got, limit)
		}
	}
}
