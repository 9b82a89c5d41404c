// Package yuma computes Bittensor's Yuma consensus from stake and weights: what
// validators' weights become as consensus, incentive, dividends, bonds and
// emission. The rules are the chain's of 2024 and 2025 (opentensor/subtensor,
// epoch without liquid alpha); docs/decisions/20261123-contest.md says where the
// chain differs.
package yuma

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// MaxNodes bounds a subnet; those of today have 256.
const MaxNodes = 4096

// Weight is what a validator gives one node, in any unit: rows are normalised.
type Weight struct {
	To     int
	Weight float64
}

// Epoch is one subnet at one block.
type Epoch struct {
	ID      string
	Network string
	// Stake of each node, in any unit.
	Stake []float64
	// Weights are each node's rows, nil where it sets none.
	Weights [][]Weight
}

// Rules are the parameters of a subnet.
type Rules struct {
	// Kappa is the share of stake that consensus takes, 0 to 1.
	Kappa float64
	// BondAlpha is how much of the bonds one epoch renews, 0 to 1.
	BondAlpha float64
}

// DefaultRules are the chain's defaults.
func DefaultRules() Rules { return Rules{Kappa: 0.5, BondAlpha: 0.1} }

// Bonds are by validator and node; each column adds up to 1, or to 0.
type Bonds [][]float64

// Node is what an epoch gives one node. Shares add up to 1 over all nodes.
type Node struct {
	UID int `json:"uid" parquet:"uid"`
	// Stake is its share of all stake.
	Stake float64 `json:"stake" parquet:"stake"`
	// Rank is the stake behind its clipped weights; Trust that share of the
	// stake behind its weights as they were.
	Rank  float64 `json:"rank" parquet:"rank"`
	Trust float64 `json:"trust" parquet:"trust"`
	// Consensus is the largest weight that kappa of the stake gives it.
	Consensus float64 `json:"consensus" parquet:"consensus"`
	Incentive float64 `json:"incentive" parquet:"incentive"`
	// ValidatorTrust is how much of its own row consensus left.
	ValidatorTrust float64 `json:"validator_trust" parquet:"validator_trust"`
	Dividends      float64 `json:"dividends" parquet:"dividends"`
	// Emission is half by incentive and half by dividends.
	Emission float64 `json:"emission" parquet:"emission"`
}

// Result is one epoch.
type Result struct {
	ID    string `json:"id,omitempty"`
	Nodes []Node `json:"nodes"`
	// Validators are the nodes whose weights count, and their share of stake.
	Validators int     `json:"validators"`
	StakeShare float64 `json:"stake_share_of_validators"`
	// Clipped is the share of stake-weighted weight that consensus cut off.
	Clipped float64 `json:"clipped"`
	Bonds   Bonds   `json:"-"`
	// Weights are the rows after normalisation and clipping.
	Weights [][]Weight `json:"-"`
}

// Check is an error where an epoch is none.
func (e *Epoch) Check() error {
	n := len(e.Stake)
	if n == 0 || n > MaxNodes || len(e.Weights) != n {
		return fmt.Errorf("%d stakes and %d rows of weights; both are of all nodes, at most %d", n, len(e.Weights), MaxNodes)
	}
	total := 0.0
	for i, s := range e.Stake {
		if total += s; !(s >= 0) || math.IsInf(total, 0) {
			return fmt.Errorf("node %d has stake %v", i, s)
		}
	}
	if total == 0 {
		return fmt.Errorf("nobody has stake")
	}
	for i, row := range e.Weights {
		seen := make(map[int]bool, len(row))
		for _, w := range row {
			if w.To < 0 || w.To >= n || seen[w.To] || !(w.Weight >= 0) || math.IsInf(w.Weight, 0) {
				return fmt.Errorf("node %d gives node %d weight %v, of %d nodes, each at most once", i, w.To, w.Weight, n)
			}
			seen[w.To] = true
		}
	}
	return nil
}

// Compute is one epoch after the bonds of the one before, nil where there are
// none. The epoch must pass Check.
func Compute(e *Epoch, r Rules, before Bonds) *Result {
	n := len(e.Stake)
	stake := normalised(e.Stake)
	rows := e.rows()
	res := &Result{ID: e.ID, Nodes: make([]Node, n), Weights: make([][]Weight, n)}
	preranks, ranks, trusts := make([]float64, n), make([]float64, n), make([]float64, n)
	consensus := medians(stake, rows, r.Kappa)
	for i, row := range rows {
		if len(row) > 0 {
			res.Validators, res.StakeShare = res.Validators+1, res.StakeShare+stake[i]
		}
		for _, w := range row {
			clipped := min(w.Weight, consensus[w.To])
			res.Weights[i] = append(res.Weights[i], Weight{w.To, clipped})
			preranks[w.To] += float64(stake[i] * w.Weight)
			ranks[w.To] += float64(stake[i] * clipped)
			trusts[i] += clipped
		}
	}
	if given := floats.Sum(preranks); given > 0 {
		res.Clipped = 1 - floats.Sum(ranks)/given
	}
	incentive := normalised(ranks)
	res.Bonds = bonds(stake, res.Weights, r.BondAlpha, before)
	dividends := res.Bonds.dividends(incentive)
	emission := normalised(floats.AddTo(make([]float64, n), incentive, dividends))
	if floats.Sum(emission) == 0 { // nobody earned: by stake
		emission = stake
	}
	for i := range res.Nodes {
		res.Nodes[i] = Node{UID: i, Stake: stake[i], Rank: ranks[i], Trust: share(ranks[i], preranks[i]), Consensus: consensus[i],
			Incentive: incentive[i], ValidatorTrust: trusts[i], Dividends: dividends[i], Emission: emission[i]}
	}
	return res
}

// rows are the weights that count: nobody's of itself, each row adding up to 1.
func (e *Epoch) rows() [][]Weight {
	all := make([][]Weight, len(e.Weights))
	for i, row := range e.Weights {
		total := 0.0
		for _, w := range row {
			if w.To != i {
				total += w.Weight
			}
		}
		for _, w := range row {
			if w.To != i && w.Weight > 0 && total > 0 {
				all[i] = append(all[i], Weight{w.To, w.Weight / total})
			}
		}
	}
	return all
}

// rounding is what sums of shares may miss a half by.
const rounding = 1e-12

// medians gives for each node the largest weight that at least kappa of the stake
// gives it; 0 where too little stake gives any.
func medians(stake []float64, rows [][]Weight, kappa float64) []float64 {
	type vote struct{ weight, stake float64 }
	votes := make([][]vote, len(stake))
	for j := range votes {
		votes[j] = make([]vote, 0, len(stake))
	}
	for i, row := range rows {
		for _, w := range row {
			votes[w.To] = append(votes[w.To], vote{w.Weight, stake[i]})
		}
	}
	out := make([]float64, len(stake))
	for j, all := range votes {
		slices.SortFunc(all, func(a, b vote) int { return cmp.Compare(b.weight, a.weight) })
		behind := 0.0
		for _, v := range all {
			if behind += v.stake; behind >= kappa-rounding {
				out[j] = v.weight
				break
			}
		}
	}
	return out
}

// bonds moves the bonds before towards what stake and weights buy now.
func bonds(stake []float64, clipped [][]Weight, alpha float64, before Bonds) Bonds {
	n := len(stake)
	now := make(Bonds, n)
	for i, row := range clipped {
		now[i] = make([]float64, n)
		for _, w := range row {
			now[i][w.To] = stake[i] * w.Weight
		}
	}
	now.normalise()
	if len(before) != n {
		return now
	}
	for i := range now {
		for j := range now[i] {
			now[i][j] = float64(alpha*now[i][j]) + float64((1-alpha)*before[i][j])
		}
	}
	now.normalise()
	return now
}

func (b Bonds) normalise() {
	totals := make([]float64, len(b))
	for _, row := range b {
		for j, v := range row {
			totals[j] += v
		}
	}
	for _, row := range b {
		for j := range row {
			row[j] = share(row[j], totals[j])
		}
	}
}

func (b Bonds) dividends(incentive []float64) []float64 {
	out := make([]float64, len(b))
	for i, row := range b {
		for j, v := range row {
			out[i] += float64(v * incentive[j])
		}
	}
	return normalised(out)
}

func normalised(values []float64) []float64 {
	out, total := make([]float64, len(values)), floats.Sum(values)
	for i, v := range values {
		out[i] = share(v, total)
	}
	return out
}

// share is part of whole; 0 of nothing.
func share(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}
