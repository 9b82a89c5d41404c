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

// Pool is the part of the split that a cluster is assigned to.
type Pool string

// The pools. Problems of all pools except train are protected: they must not be trained on.
// Students are evaluated on eval. The problems that held-out files list, and those of never-touch,
// are used for neither.
const (
	PoolTrain      Pool = "train"
	PoolEval       Pool = "eval"
	PoolHeldOut    Pool = "held-out"
	PoolNeverTouch Pool = "never-touch"
)

// protection maps each pool to its rank, higher for more protected pools. If clusters of problems
// are merged, the merged one gets the highest-ranked pool of its parts.
var protection = map[Pool]int{PoolTrain: 0, PoolEval: 1, PoolHeldOut: 2, PoolNeverTouch: 3}

// Shares are the fractions of the clusters that go to each protected pool, 0 to
// 1. All others go to train.
type Shares struct {
	// Eval is the share of clusters that students are evaluated on.
	Eval float64 `json:"eval"`
	// NeverTouch is the share reserved for later.
	NeverTouch float64 `json:"never_touch"`
}

// DefaultShares returns 15 % for evaluation, enough for paired tests on a day of
// a few hundred problems, and 5 % in reserve for when the evaluation set has been
// used too often.
func DefaultShares() Shares { return Shares{Eval: 0.15, NeverTouch: 0.05} }

// Validate returns an error that lists every invalid share.
func (s Shares) Validate() error {
	var bad wrong.List
	bad.Unless(s.Eval >= 0 && s.Eval < 1, "share of eval is %v: it must be at least 0 and below 1", s.Eval)
	bad.Unless(s.NeverTouch >= 0 && s.NeverTouch < 1, "share of never-touch is %v: it must be at least 0 and below 1", s.NeverTouch)
	bad.Unless(s.Eval+s.NeverTouch < 1, "shares of eval and never-touch add up to %v: nothing is left to train on", s.Eval+s.NeverTouch)
	return bad.Err()
}

// ErrFewClusters is returned if there are fewer clusters of problems than pools.
var ErrFewClusters = errors.New("too few clusters of problems: one each is needed for train and for eval and never-touch, unless their share is 0")

// Split assigns each cluster to a pool by a hash of seed and cluster ID. Clusters that prior (nil
// on a first day) assigned keep their pool; a cluster merged from several pools gets the most
// protected one. If there are enough clusters, train keeps at least one, and eval and never-touch
// get at least one each unless their share is 0. Besides invalid shares, the only error is that of
// ctx, which ends the comparison with the protected clusters of prior.
func Split(
	ctx context.Context,
	clusters []StateCluster,
	prior *State,
	shares Shares,
	seed uint64,
) (*State, error) {
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

// CheckPools returns ErrFewClusters if there are too few clusters for train and each pool with a
// share.
func (s *State) CheckPools() error {
	n := slicesx.CountFunc(s.Clusters, func(c *StateCluster) bool {
		return c.Pool != PoolHeldOut
	})
	if n < len(s.Shares.pools()) {
		return fmt.Errorf("split clusters: %d found: %w", n, ErrFewClusters)
	}
	return nil
}

// assign assigns a pool to every cluster of problems that has none, by a hash of its ID. If train or
// a pool with a share is then empty, it moves a cluster into it (see fill).
// Finally it clears the ids of held-out problems in train clusters, which bank.json must not list,
// and rebuilds the index of problems.
func (s *State) assign() {
	for i := range s.Clusters {
		c := &s.Clusters[i]
		if c.Pool == "" {
			c.Pool = s.Shares.pool(draw(s.Seed, c.ID))
			c.isNew = true
		}
	}
	for _, p := range s.Shares.pools() {
		s.fill(p)
	}
	s.removeTrainHeldOut()
	s.index()
}

// pool returns the pool (never-touch, eval or train) of a cluster of problems, by u, a hash of the
// cluster from 0 up to but not including 1. Each pool covers a part of this range, as large as its
// configured share.
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

// pools returns the pools that need a cluster: eval and never-touch unless their share is 0, and
// train.
func (s Shares) pools() []Pool {
	var pools []Pool
	if s.Eval > 0 {
		pools = append(pools, PoolEval)
	}
	if s.NeverTouch > 0 {
		pools = append(pools, PoolNeverTouch)
	}
	return append(pools, PoolTrain)
}

// draw returns a pseudo-random number in [0,1) that depends on seed and id only.
func draw(seed uint64, id string) float64 {
	var key [8]byte
	binary.BigEndian.PutUint64(key[:], seed)
	sum := sha256.Sum256(append(key[:], id...))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// fill moves one cluster of problems into the pool p if that pool is empty. It takes only clusters
// that are new or in the train pool, so that a cluster never loses protection on a later day, and
// never the only cluster of another pool. Of several it takes the one that isPreferred ranks first.
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
		movable := c.isNew || c.Pool == PoolTrain
		if !movable || count[c.Pool] < 2 {
			continue
		}
		if best < 0 || s.isPreferred(i, best) {
			best = i
		}
	}
	if best >= 0 {
		s.Clusters[best].Pool = p
	}
}

// isPreferred reports whether, to fill an empty pool, cluster i is taken rather than cluster j.
// Clusters that are new in this run come first, then those with the lower hash.
func (s *State) isPreferred(i, j int) bool {
	a := &s.Clusters[i]
	b := &s.Clusters[j]
	if a.isNew != b.isNew {
		return a.isNew
	}
	return draw(s.Seed, a.ID) < draw(s.Seed, b.ID)
}
