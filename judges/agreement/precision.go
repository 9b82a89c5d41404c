package agreement

// Precision compares a judge with labels at a threshold. A positive is an attempt with a score
// of at least Threshold. Precision is the share of the judge's positives that the labels
// confirm, Recall the share of the labels' positives that the judge finds. Both estimate the
// whole from which the labels were sampled: each attempt is weighted by 1 over its probability.
type Precision struct {
	Threshold float64 `json:"threshold"`
	// N is the number of labelled attempts that the judge scored. Above is the number of the
	// judge's positives among them.
	N         int    `json:"n"`
	Above     int    `json:"above"`
	Precision Figure `json:"precision"`
	Recall    Figure `json:"recall"`
}

// positives are sums of the weights of attempts that score at least the threshold: by the judge,
// by the labels, and by both. The weight of an attempt is 1 over the probability with which it
// was sampled.
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
