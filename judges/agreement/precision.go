package agreement

// Precision is how often a judge is right where it gives a threshold or more, and
// how much of what labels put there it finds, as of the whole day that the labels
// were drawn from: each weighs 1 over the probability with which it was drawn.
type Precision struct {
	Threshold float64 `json:"threshold"`
	// N counts labels that the judge scored, Above those at the threshold or more
	// by the judge.
	N         int    `json:"n"`
	Above     int    `json:"above"`
	Precision Figure `json:"precision"`
	Recall    Figure `json:"recall"`
}

// weighed is the weight of an attempt as far as the judge, the labels and both put
// it at the threshold or more.
type weighed struct{ judge, labels, both float64 }

// PrecisionAt holds a judge against drawn labels at a threshold.
func PrecisionAt(labels, judge *Ratings, threshold float64, opt Options) Precision {
	p := Precision{Threshold: threshold}
	byProblem := byCluster(labels.Scores, func(key Key, truth *float64) (w weighed, has bool) {
		said := judge.Scores[key]
		if truth == nil || said == nil {
			return w, false
		}
		p.N++
		if *truth >= threshold {
			w.labels = 1 / labels.drawn(key)
		}
		if *said >= threshold {
			p.Above++
			w.judge, w.both = 1/labels.drawn(key), w.labels
		}
		return w, true
	})
	shares := figures(len(byProblem), opt, func(drawn []int) []float64 {
		var sum weighed
		for _, i := range drawn {
			for _, w := range byProblem[i] {
				sum = weighed{sum.judge + w.judge, sum.labels + w.labels, sum.both + w.both}
			}
		}
		return []float64{sum.both / sum.judge, sum.both / sum.labels}
	})
	p.Precision, p.Recall = shares[0], shares[1]
	return p
}
