package agreement

import "github.com/trajectory-arena/arena/internal/dice"

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

// weighed are the weights of one problem's attempts: all that the judge, the
// labels and both put at the threshold or more.
type weighed struct{ judge, labels, both float64 }

// PrecisionAt holds a judge against drawn labels at a threshold.
func PrecisionAt(labels, judge *Ratings, threshold float64, opt Options) Precision {
	p := Precision{Threshold: threshold}
	at, byProblem := map[string]int{}, []weighed{}
	for _, key := range sortedKeys(labels.Scores) {
		truth, said := labels.Scores[key], judge.Scores[key]
		if truth == nil || said == nil {
			continue
		}
		i, known := at[key.cluster()]
		if !known {
			i = len(byProblem)
			at[key.cluster()], byProblem = i, append(byProblem, weighed{})
		}
		p.N++
		byProblem[i].add(*said >= threshold, *truth >= threshold, 1/labels.drawn(key))
		if *said >= threshold {
			p.Above++
		}
	}
	p.Precision, p.Recall = shares(byProblem, opt)
	return p
}

func (w *weighed) add(judge, label bool, weight float64) {
	if judge {
		w.judge += weight
	}
	if label {
		w.labels += weight
	}
	if judge && label {
		w.both += weight
	}
}

// shares are precision and recall, with intervals over problems drawn again.
func shares(byProblem []weighed, opt Options) (precision, recall Figure) {
	var whole weighed
	for _, w := range byProblem {
		whole = whole.plus(w)
	}
	var drawn [2][]float64
	d := dice.Roll(opt.Seed)
	for range opt.Samples {
		var sample weighed
		for range byProblem {
			sample = sample.plus(byProblem[d.N(len(byProblem))])
		}
		for i, of := range [...]float64{sample.judge, sample.labels} {
			if of > 0 {
				drawn[i] = append(drawn[i], sample.both/of)
			}
		}
	}
	return whole.share(whole.judge, drawn[0]), whole.share(whole.labels, drawn[1])
}

func (w weighed) plus(o weighed) weighed {
	return weighed{w.judge + o.judge, w.labels + o.labels, w.both + o.both}
}

func (w weighed) share(of float64, drawn []float64) Figure {
	if of == 0 {
		return Figure{}
	}
	value := w.both / of
	return Figure{&value, interval(drawn)}
}
