package yuma

import "math"

// bonds returns the validators' bonds in each node (shares in the node's reward) after an epoch,
// and each validator's share of the dividends. weights are the normalised weights before they are
// limited to the consensus; res has the limited ones and the consensus.
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

// penalise returns the weights from which bonds are computed: the validators' weights moved towards
// the clipped ones (limited to the consensus) by the share BondsPenalty. 0 leaves the weights, 1
// uses the clipped ones.
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

// updateBonds3 computes the bonds after an epoch by Yuma 3. Each bond moves towards the
// validator's weight, without stake and without normalisation. All bonds start at 0 if previous
// has another number of nodes.
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

// liquidAlpha returns the share of a bond that is renewed in one epoch, between AlphaLow and
// AlphaHigh. The share is high if the weight is far above the consensus or far below the bond.
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

// updateBonds computes the bonds after an epoch: a moving average of the previous bonds and of
// the new bonds, which are computed from stake and weights. alpha is the weight of the new
// bonds. It returns only the new bonds if previous is empty or has another number of nodes.
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

// normalise divides the validators' bonds (shares in a node's reward) in each node by their sum, so
// that they add up to 1. Bonds in a node whose sum is 0 are unchanged.
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

// earned returns the dividends of each validator: the sum over all nodes of its bond in the node
// times the node's incentive.
func (b Bonds) earned(incentive []float64) []float64 {
	out := make([]float64, len(b))
	for i, row := range b {
		for j, v := range row {
			out[i] += float64(v * incentive[j])
		}
	}
	return out
}
