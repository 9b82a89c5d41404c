package guard

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Pool is the side of the split that a cluster is on.
type Pool string

// The pools. All but train are protected: nothing of them may be trained on;
// held-out, which held-out files name, and never-touch are not even evaluated on.
const (
	PoolTrain      Pool = "train"
	PoolEval       Pool = "eval"
	PoolHeldOut    Pool = "held-out"
	PoolNeverTouch Pool = "never-touch"
)

// protection orders pools: where clusters merge, the higher one wins.
var protection = map[Pool]int{PoolTrain: 0, PoolEval: 1, PoolHeldOut: 2, PoolNeverTouch: 3}

// Shares are the parts of the clusters that go to each protected pool, 0 to 1;
// the rest is train.
type Shares struct {
	// Eval is the share of the clusters of problems that students are evaluated on.
	Eval float64 `json:"eval"`
	// NeverTouch is the share that nobody looks at yet.
	NeverTouch float64 `json:"never_touch"`
}

// DefaultShares keeps 15 % to evaluate on, enough for paired tests on a day of
// some hundred problems, and 5 % for the day when the evaluation set has been
// looked at too often.
func DefaultShares() Shares { return Shares{Eval: 0.15, NeverTouch: 0.05} }

// Validate returns everything that is wrong with s.
func (s Shares) Validate() error {
	var bad wrong.List
	bad.Unless(s.Eval >= 0 && s.Eval < 1, "share of eval is %v: it must be at least 0 and below 1", s.Eval)
	bad.Unless(s.NeverTouch >= 0 && s.NeverTouch < 1, "share of never-touch is %v: it must be at least 0 and below 1", s.NeverTouch)
	bad.Unless(s.Eval+s.NeverTouch < 1, "shares of eval and never-touch add up to %v: nothing is left to train on", s.Eval+s.NeverTouch)
	return bad.Err()
}

const minClusters = 3

// ErrFewClusters says that the problems cannot be split into three pools.
var ErrFewClusters = errors.New("fewer than three clusters of problems: one each is needed for train, eval and never-touch (add problems, or another day)")

// Split assigns each cluster to a pool by a hash of seed and cluster ID. What
// prior (nil on a first day) has assigned stays; where clusters of different
// pools have merged, the more protected pool wins. Eval and never-touch get at
// least one cluster each, train keeps at least one, as far as there are clusters. ctx ends the comparison with
// what prior protects.
func Split(ctx context.Context, clusters []StateCluster, prior *State, shares Shares, seed uint64) (*State, error) {
	if err := shares.Validate(); err != nil {
		return nil, fmt.Errorf("split clusters: %w", err)
	}
	merged, err := mergeWithPrior(ctx, clusters, prior)
	if err != nil {
		return nil, fmt.Errorf("split clusters: %w", err)
	}
	state := &State{Schema: StateSchema, Seed: seed, Shares: shares, Clusters: merged}
	state.assign()
	return state, nil
}

// Enough returns ErrFewClusters where a pool had to stay empty.
func (s *State) Enough() error {
	own := slicesx.CountFunc(s.Clusters, func(c *StateCluster) bool { return c.Pool != PoolHeldOut })
	if own < minClusters {
		return fmt.Errorf("split clusters: %d found: %w", own, ErrFewClusters)
	}
	return nil
}

// assign gives every cluster without a pool its own, then fills empty pools.
func (s *State) assign() {
	for i := range s.Clusters {
		if s.Clusters[i].Pool == "" {
			s.Clusters[i].Pool = s.Shares.pool(draw(s.Seed, s.Clusters[i].ID))
			s.Clusters[i].fresh = true
		}
	}
	s.fill(PoolEval)
	s.fill(PoolNeverTouch)
	s.fill(PoolTrain)
	s.forget()
	s.index()
}

func (s Shares) pool(u float64) Pool {
	switch {
	case u < s.NeverTouch:
		return PoolNeverTouch
	case u < s.NeverTouch+s.Eval:
		return PoolEval
	default:
		return PoolTrain
	}
}

// draw maps a cluster to a number in [0,1) that depends on nothing else.
func draw(seed uint64, id string) float64 {
	var key [8]byte
	binary.BigEndian.PutUint64(key[:], seed)
	sum := sha256.Sum256(append(key[:], id...))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// fill moves the cluster with the lowest draw into an empty pool. Only
// clusters assigned in this run move, and none leaves a pool it is alone in.
// Train clusters go first; a prior train cluster may become protected, never
// the reverse.
func (s *State) fill(p Pool) {
	count := map[Pool]int{}
	for _, c := range s.Clusters {
		count[c.Pool]++
	}
	if count[p] > 0 {
		return
	}
	best := -1
	for i, c := range s.Clusters {
		movable := c.fresh || c.Pool == PoolTrain
		if !movable || count[c.Pool] < 2 || best >= 0 && !s.before(i, best) {
			continue
		}
		best = i
	}
	if best >= 0 {
		s.Clusters[best].Pool = p
	}
}

// before orders clusters as candidates for an empty pool: new ones first, then
// by draw.
func (s *State) before(i, j int) bool {
	a, b := s.Clusters[i], s.Clusters[j]
	if a.fresh != b.fresh {
		return a.fresh
	}
	return draw(s.Seed, a.ID) < draw(s.Seed, b.ID)
}
