package guard

import (
	"fmt"
	"math/rand/v2"
	"testing"

	arena "github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// history is a corpus to which days are added.
type history struct {
	*rand.Rand
	state *State
	// asked are the problems of all days, pools where each was yesterday.
	requests  []arena.Problem
	pools     map[string]Pool
	withdrawn int
	reworded  int
}

// day adds up to six problems: new ones, some that share products with two earlier
// ones, and earlier ones in other words. Some days hold an earlier one out.
func (h *history) day(t *testing.T, kinds []arena.Problem) {
	t.Helper()
	var today []arena.Problem
	var reworded [][2]string // rewordings of earlier problems, with those
	for range 1 + h.IntN(6) {
		p := kinds[h.IntN(len(kinds))]
		if n := len(h.requests); n > 0 {
			first := h.requests[h.IntN(n)]
			second := h.requests[h.IntN(n)]
			switch h.IntN(4) {
			case 0:
				p.Rewards = append(append([]arena.Reward{}, first.Rewards...), second.Rewards...)
			case 1:
				p = problem("Hello there, "+first.Query, fmt.Sprint(9_000_000+h.IntN(1<<20)))
				reworded = append(reworded, [2]string{SpecHash(p), SpecHash(first)})
			}
		}
		today = append(today, p)
	}
	prior := h.state
	if n := len(h.requests); n > 0 && h.IntN(4) == 0 {
		out := h.requests[h.IntN(n)]
		prior = Union(prior, HoldOut([]Entry{NewEntry("late", out, "out")}))
	}
	h.requests = append(h.requests, today...)
	h.state = split(t, today, prior, 3)
	h.check(t, reworded)
}

// check compares the day with all earlier ones: no protection is lost or weakened, and a rewording
// of a protected request is protected, also one protected from this day on.
func (h *history) check(t *testing.T, reworded [][2]string) {
	t.Helper()
	for _, p := range h.requests {
		spec := SpecHash(p)
		before := h.pools[spec]
		now := h.state.Pool(spec)
		if now == "" || h.state.ClusterID(spec) == "" {
			t.Fatalf("%q is forgotten", p.Query)
		}
		if protection[now] < protection[before] {
			t.Fatalf("%q: the split changed from %s to %s", p.Query, before, now)
		}
		if before == PoolTrain && now != PoolTrain {
			h.withdrawn++
		}
		h.pools[spec] = now
	}
	for _, specs := range reworded {
		if h.pools[specs[1]] == PoolTrain {
			continue
		}
		h.reworded++
		if h.pools[specs[0]] == PoolTrain {
			t.Fatal("a rewording of what is protected is trained on")
		}
	}
}

// TestRandomHistories plays histories of up to eight days.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	n := longtest.Pick(2_000, 100)
	kinds := things(60)
	withdrawn := 0
	reworded := 0
	for i := range n {
		h := history{Rand: rand.New(rand.NewPCG(uint64(i), 24)), state: HoldOut(nil), pools: map[string]Pool{}}
		for range 2 + h.IntN(7) {
			h.day(t, kinds)
		}
		withdrawn, reworded = withdrawn+h.withdrawn, reworded+h.reworded
	}
	t.Logf("%d histories: %d problems left train, %d rewordings of protected ones", n, withdrawn, reworded)
	if withdrawn < n/10 || reworded < n/10 {
		t.Error("the histories show too little")
	}
}
