// Package yuma computes Bittensor's Yuma consensus from stake and weights:
// consensus, incentive, dividends, bonds and emission. The rules are those of the
// chain on 30 June 2026 (opentensor/subtensor): Yuma, Yuma 3, and Yuma 3 with liquid
// alpha; docs/decisions/20261123-contest.md lists the differences.
package yuma

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// MaxNodes is the maximum number of nodes of a subnet. Current subnets have 256.
const MaxNodes = 4096

// Weight is a validator's weight for one node. Its unit does not matter, since the weights of a
// validator are normalised.
type Weight struct {
	Target int
	Weight float64
}

// Epoch is the state of one subnet at one block, from which consensus is computed.
type Epoch struct {
	ID      string
	Network string
	// Stake is the stake of each node, in any unit.
	Stake []float64
	// Weights has the weights that each node sets, nil if it sets none.
	Weights [][]Weight
}

// Bonds are the shares that validators have in nodes, indexed by validator and node. The bonds
// in each node add up to 1, or to 0. In Yuma 3 they need not: each single bond is from 0 to 1.
type Bonds [][]float64

// Node is the result of an epoch for one node. Values that are shares add up to 1 over all
// nodes.
type Node struct {
	UID int `json:"uid" parquet:"uid"`
	// Stake is the node's share of the total stake.
	Stake float64 `json:"stake" parquet:"stake"`
	// Rank is the sum of the clipped weights that validators set for the node, each times the
	// validator's stake. Trust is Rank divided by the same sum before clipping.
	Rank  float64 `json:"rank" parquet:"rank"`
	Trust float64 `json:"trust" parquet:"trust"`
	// Consensus is the largest weight for the node that validators with at least the share kappa
	// of the stake reach.
	Consensus float64 `json:"consensus" parquet:"consensus"`
	Incentive float64 `json:"incentive" parquet:"incentive"`
	// ValidatorTrust is the sum of the weights that the node itself sets, after clipping.
	ValidatorTrust float64 `json:"validator_trust" parquet:"validator_trust"`
	Dividends      float64 `json:"dividends" parquet:"dividends"`
	// Emission is the mean of incentive and dividends.
	Emission float64 `json:"emission" parquet:"emission"`
}

// Result is the result of one epoch.
type Result struct {
	ID string `json:"id,omitempty"`
	// Rule is the name of the rule by which bonds are computed, with its parameters.
	Rule  string `json:"rule"`
	Nodes []Node `json:"nodes"`
	// Validators counts the nodes that set weights. StakeShare is their share of the total
	// stake.
	Validators int     `json:"validators"`
	StakeShare float64 `json:"stake_share_of_validators"`
	// Clipped is the share of all weight (times stake) that is removed by clipping to the
	// consensus.
	Clipped float64 `json:"clipped"`
	Bonds   Bonds   `json:"-"`
	// Weights are the weights of each node after normalisation and clipping.
	Weights [][]Weight `json:"-"`
}

// Check returns an error if the epoch is invalid.
func (e *Epoch) Check() error {
	n := len(e.Stake)
	if n == 0 || n > MaxNodes || len(e.Weights) != n {
		return fmt.Errorf("%d stakes and %d rows of weights; both are of all nodes, at most %d", n, len(e.Weights), MaxNodes)
	}
	total := 0.0
	for i, s := range e.Stake {
		total += s
		if !isWeight(s) || math.IsInf(total, 0) {
			return fmt.Errorf("node %d has stake %v", i, s)
		}
	}
	if total == 0 {
		return fmt.Errorf("nobody has stake")
	}
	for i, row := range e.Weights {
		seen := make(map[int]bool, len(row))
		for _, w := range row {
			isNode := w.Target >= 0 && w.Target < n
			if !isNode || seen[w.Target] || !isWeight(w.Weight) {
				return fmt.Errorf("node %d gives node %d weight %v, of %d nodes, each at most once", i, w.Target, w.Weight, n)
			}
			seen[w.Target] = true
		}
	}
	return nil
}

// isWeight reports whether w is a finite number of at least 0.
func isWeight(w float64) bool { return w >= 0 && !math.IsInf(w, 0) }

// Compute computes the result of one epoch, which must pass Check. previous are the bonds of the
// previous epoch, nil if there is none.
func Compute(e *Epoch, r Rules, previous Bonds) *Result {
	n := len(e.Stake)
	stake := normalised(e.Stake)
	rows := e.normalisedRows()
	res := &Result{
		ID:      e.ID,
		Rule:    r.String(),
		Nodes:   make([]Node, n),
		Weights: make([][]Weight, n),
	}
	consensus := medians(stake, rows, r.Kappa)
	unclipped := make([]float64, n) // ranks before clipping
	for i := range res.Nodes {
		res.Nodes[i] = Node{
			UID:       i,
			Stake:     stake[i],
			Consensus: consensus[i],
		}
	}
	for i, row := range rows {
		if len(row) > 0 {
			res.Validators++
			res.StakeShare += stake[i]
		}
		for _, w := range row {
			clipped := min(w.Weight, consensus[w.Target])
			res.Weights[i] = append(res.Weights[i], Weight{w.Target, clipped})
			unclipped[w.Target] += float64(stake[i] * w.Weight)
			res.Nodes[w.Target].Rank += float64(stake[i] * clipped)
			res.Nodes[i].ValidatorTrust += clipped
		}
	}

	ranks := make([]float64, n)
	for i := range res.Nodes {
		ranks[i] = res.Nodes[i].Rank
		res.Nodes[i].Trust = ratio(ranks[i], unclipped[i])
	}
	if total := floats.Sum(unclipped); total > 0 {
		res.Clipped = 1 - floats.Sum(ranks)/total
	}
	incentive := normalised(ranks)
	bonds, dividends := r.bonds(res, rows, stake, incentive, previous)
	res.Bonds = bonds
	res.pay(incentive, dividends, stake)
	return res
}

// pay sets the incentive, dividends and emission of each node. Each argument has one share for
// each node. The emission is the share of the sum of incentive and dividends, or the stake if all
// incentives and dividends are 0.
func (r *Result) pay(incentive, dividends, stake []float64) {
	emission := normalised(floats.AddTo(make([]float64, len(stake)), incentive, dividends))
	if floats.Sum(emission) == 0 { // without incentive and dividends emission is by stake
		emission = stake
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		n.Incentive = incentive[i]
		n.Dividends = dividends[i]
		n.Emission = emission[i]
	}
}

// normalisedRows returns the weights of each node, divided by their sum. A node's weight for
// itself does not count.
func (e *Epoch) normalisedRows() [][]Weight {
	rows := make([][]Weight, len(e.Weights))
	for i, row := range e.Weights {
		total := 0.0
		for _, w := range row {
			if w.Target != i {
				total += w.Weight
			}
		}
		for _, w := range row {
			if w.Target != i && w.Weight > 0 && total > 0 {
				rows[i] = append(rows[i], Weight{w.Target, w.Weight / total})
			}
		}
	}
	return rows
}

// rounding is the maximum error of a sum of shares of stake by rounding: a sum that is below the
// share kappa by at most this counts as having reached it.
const rounding = 1e-12

// medians returns, for each node, the consensus of the validators, weighted by stake: the largest
// weight that validators with at least the share kappa of the total stake give the node or exceed.
// It is 0 if all validators with a weight for the node have less stake together.
func medians(
	stake []float64,
	rows [][]Weight,
	kappa float64,
) []float64 {
	type vote struct{ weight, stake float64 }
	votes := make([][]vote, len(stake))
	for j := range votes {
		votes[j] = make([]vote, 0, len(stake))
	}
	for i, row := range rows {
		for _, w := range row {
			votes[w.Target] = append(votes[w.Target], vote{w.Weight, stake[i]})
		}
	}
	out := make([]float64, len(stake))
	for j, ballot := range votes {
		slicesx.SortFunc(ballot, func(a, b vote) int {
			return cmp.Compare(b.weight, a.weight)
		})
		support := 0.0
		for _, v := range ballot {
			support += v.stake
			if support >= kappa-rounding {
				out[j] = v.weight
				break
			}
		}
	}
	return out
}

// normalised returns values divided by their sum, or zeros if the sum is 0.
func normalised(values []float64) []float64 {
	out := make([]float64, len(values))
	total := floats.Sum(values)
	for i, v := range values {
		out[i] = ratio(v, total)
	}
	return out
}

// ratio returns part / total, or 0 if total is 0.
func ratio(part, total float64) float64 {
	if total == 0 {
		return 0
	}
	return part / total
}
