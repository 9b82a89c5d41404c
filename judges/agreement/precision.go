package agreement

// Precision is the share of a judge's positives that the labels confirm, and of the
// labels' positives that the judge finds, where a positive is an attempt with a score
// of Threshold or more. Both are estimates for the day that the labels were sampled
// from: each attempt is weighted by 1 over its probability.
type Precision struct {
	Threshold float64 `json:"threshold"`
	// N is the number of labels that the judge scored, Above that of the judge's
	// positives among them.
	N         int    `json:"n"`
	Above     int    `json:"above"`
	Precision Figure `json:"precision"`
	Recall    Figure `json:"recall"`
}

// positives holds three sums of weights: of the attempts that the judge scores at the threshold or
// above, of those that the labels score so, and of those that both do. An attempt weighs 1 over the
// probability with which it was sampled.
type positives struct{ judge, labels, both float64 }

// PrecisionAt compares a judge with sampled labels at a threshold.
func PrecisionAt(labels, judge *Ratings, threshold float64, opt Options) Precision {
	p := Precision{Threshold: threshold}
	byProblem := byCluster(labels.Scores, func(key Key, label *float64) (positives, bool) {
		score := judge.Scores[key]
		var w positives
		if label == nil || score == nil {
			return w, false
		}
		p.N++
		if *label >= threshold {
			w.labels = 1 / labels.probability(key)
		}
		if *score >= threshold {
			p.Above++
			w.judge = 1 / labels.probability(key)
			w.both = w.labels
		}
		return w, true
	})
	figures := bootstrap(len(byProblem), opt, func(problems []int) []float64 {
		var sum positives
		for _, i := range problems {
			for _, w := range byProblem[i] {
				sum = positives{sum.judge + w.judge, sum.labels + w.labels, sum.both + w.both}
			}
		}
		return []float64{sum.both / sum.judge, sum.both / sum.labels}
	})
	p.Precision = figures[0]
	p.Recall = figures[1]
	return p
}
