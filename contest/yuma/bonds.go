package yuma

import "math"

// bonds returns the bonds after an epoch and each validator's share of the dividends. weights
// are the normalised weights before clipping; res has the clipped ones and the consensus.
func (r Rules) bonds(
	res *Result,
	weights [][]Weight,
	stake, incentive []float64,
	previous Bonds,
) (Bonds, []float64) {
	forBonds := r.penalise(weights, res.Weights)
	if !r.Yuma3 {
		bonds := updateBonds(stake, forBonds, r.BondAlpha, previous)
		return bonds, normalised(bonds.earned(incentive))
	}
	bonds := r.updateBonds3(res, forBonds, previous)
	relative := bonds.clone()
	relative.normalise()
	dividends := relative.earned(incentive)
	for i := range dividends {
		dividends[i] *= stake[i]
	}
	return bonds, normalised(dividends)
}

// penalise returns the weights from which bonds follow: those between the weights of validators
// and the clipped ones, by the subnet's penalty.
func (r Rules) penalise(weights, clipped [][]Weight) [][]Weight {
	out := make([][]Weight, len(weights))
	for i, row := range weights {
		for k, w := range row {
			penalty := r.BondsPenalty * (clipped[i][k].Weight - w.Weight)
			out[i] = append(out[i], Weight{w.Target, w.Weight + penalty})
		}
	}
	return out
}

// updateBonds3 computes the bonds after an epoch by Yuma 3: each bond moves towards the
// validator's weight, without stake and without normalisation. Without previous bonds of the
// same number of nodes, all start at 0.
func (r Rules) updateBonds3(res *Result, weights [][]Weight, previous Bonds) Bonds {
	n := len(weights)
	bonds := make(Bonds, n)
	hasConsensus := false
	for i := range res.Nodes {
		hasConsensus = hasConsensus || res.Nodes[i].Consensus > 0
	}
	for i, row := range weights {
		bonds[i] = make([]float64, n)
		for _, w := range row {
			bonds[i][w.Target] = w.Weight
		}
		for j, weight := range bonds[i] {
			bond := 0.0
			if len(previous) == n {
				bond = previous[i][j]
			}
			alpha := r.BondAlpha
			if r.LiquidAlpha && hasConsensus {
				alpha = r.liquidAlpha(res.Nodes[j].Consensus, weight, bond)
			}
			bonds[i][j] = min(1, float64((1-alpha)*bond)+float64(alpha*weight))
		}
	}
	return bonds
}

// liquidAlpha returns the share of a bond that one epoch renews. It is between AlphaLow and
// AlphaHigh: high if the weight is far above the consensus, or far below the bond.
func (r Rules) liquidAlpha(consensus, weight, bond float64) float64 {
	difference := bond - weight
	if weight >= bond {
		difference = weight - consensus
	}
	difference = min(1, max(0, difference))
	const longest = 20 // the chain's limit of an exponent
	exponent := -r.Steepness * (difference - 0.5)
	sigmoid := 1 / (1 + math.Exp(min(longest, max(-longest, exponent))))
	return r.AlphaLow + float64(sigmoid*(r.AlphaHigh-r.AlphaLow))
}

// updateBonds computes the bonds after an epoch: the moving average of the previous bonds, and of
// the new bonds that result from stake and weights. alpha is the share of the new bonds. It returns
// only the new bonds if there are no previous ones, or if those are of another number of nodes.
func updateBonds(
	stake []float64,
	weights [][]Weight,
	alpha float64,
	previous Bonds,
) Bonds {
	n := len(stake)
	bonds := make(Bonds, n)
	for i, row := range weights {
		bonds[i] = make([]float64, n)
		for _, w := range row {
			bonds[i][w.Target] = stake[i] * w.Weight
		}
	}
	bonds.normalise()
	if len(previous) != n {
		return bonds
	}
	for i := range bonds {
		for j := range bonds[i] {
			bonds[i][j] = float64(alpha*bonds[i][j]) + float64((1-alpha)*previous[i][j])
		}
	}
	bonds.normalise()
	return bonds
}

func (b Bonds) clone() Bonds {
	out := make(Bonds, len(b))
	for i, row := range b {
		out[i] = append([]float64(nil), row...)
	}
	return out
}

// normalise divides the bonds in each node by their sum, unless that is 0.
func (b Bonds) normalise() {
	totals := make([]float64, len(b))
	for _, row := range b {
		for j, v := range row {
			totals[j] += v
		}
	}
	for _, row := range b {
		for j := range row {
			row[j] = ratio(row[j], totals[j])
		}
	}
}

// earned returns, for each validator, the incentive of the nodes in which it has bonds, times
// these bonds.
func (b Bonds) earned(incentive []float64) []float64 {
	out := make([]float64, len(b))
	for i, row := range b {
		for j, v := range row {
			out[i] += float64(v * incentive[j])
		}
	}
	return out
}
