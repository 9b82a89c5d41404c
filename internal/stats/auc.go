package stats

import (
	"math"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Graded is one attempt with its grade and outcome. Attempts of the same cluster, such as a
// problem, are not independent. Weight is the number of attempts that an attempt stands for; 0 is 1.
type Graded struct {
	Cluster string
	Grade   float64
	Solved  bool
	Weight  float64
}

func (g *Graded) weight() float64 {
	if g.Weight == 0 {
		return 1
	}
	return g.Weight
}

// AUC returns the probability that the grade of a solved attempt is higher than that of a failed
// one, where equal grades count half. Its 95 % interval is computed from the variance between
// clusters (the placements of DeLong et al. 1988, summed by cluster as by Obuchowski 1997). It
// is NaN, with the interval 0 to 1, unless there are solved and failed attempts and two
// clusters.
func AUC(attempts []Graded) (float64, Interval) {
	var solved, failed weighed
	for i := range attempts {
		if attempts[i].Solved {
			solved.add(&attempts[i])
		} else {
			failed.add(&attempts[i])
		}
	}
	solved.sort()
	failed.sort()

	// placed is, for a solved attempt, the share of failed attempts with a lower grade and, for
	// a failed attempt, the share of solved ones with a higher grade.
	placed := make([]float64, len(attempts))
	auc := 0.0
	for i, a := range attempts {
		if a.Solved {
			placed[i] = failed.shareBelow(a.Grade)
			auc += a.weight() * placed[i] / solved.total
		} else {
			placed[i] = 1 - solved.shareBelow(a.Grade)
		}
	}
	influence := map[string]float64{}
	for i, a := range attempts {
		total := failed.total
		if a.Solved {
			total = solved.total
		}
		influence[a.Cluster] += a.weight() * (placed[i] - auc) / total
	}
	clusters := float64(len(influence))
	if solved.total == 0 || failed.total == 0 || clusters < 2 {
		return math.NaN(), Interval{0, 1}
	}
	sum := 0.0
	for _, cluster := range slicesx.SortedKeys(influence) {
		d := influence[cluster]
		sum += float64(d * d)
	}
	half := float64(Z95 * math.Sqrt(float64(clusters/(clusters-1)*sum)))
	return auc, Interval{max(0, auc-half), min(1, auc+half)}
}

// weighed is the weight of attempts by grade. sort must be called before shareBelow.
type weighed struct {
	weights map[float64]float64
	grades  []float64
	// upTo has, for each of grades, the weight of the attempts with this grade or a lower one.
	upTo  []float64
	total float64
}

func (w *weighed) add(g *Graded) {
	if w.weights == nil {
		w.weights = map[float64]float64{}
	}
	w.weights[g.Grade] += g.weight()
	w.total += g.weight()
}

func (w *weighed) sort() {
	w.grades = slicesx.SortedKeys(w.weights)
	sum := 0.0
	for _, grade := range w.grades {
		sum += w.weights[grade]
		w.upTo = append(w.upTo, sum)
	}
}

// shareBelow returns the share, 0 to 1, of the total weight that attempts with a lower grade have.
// Attempts with an equal grade count half.
func (w *weighed) shareBelow(grade float64) float64 {
	i, found := slices.BinarySearch(w.grades, grade)
	below := 0.0
	if i > 0 {
		below = w.upTo[i-1]
	}
	if found {
		below += w.weights[grade] / 2
	}
	return below / w.total
}

// AUCWithin returns the probability that the grade of a solved attempt is higher than that of a
// failed attempt of the same cluster, where equal grades count half. Unlike AUC, it does not grow if
// grades are only higher on easy problems. pairs is the number of pairs that are compared. The 95 %
// interval is that of ClusteredWilson, with the variance of the clusters' pairs about the result and
// each cluster as one trial at most. The result is NaN, with the interval 0 to 1, unless two clusters
// have both solved and failed attempts.
func AUCWithin(attempts []Graded) (auc float64, interval Interval, pairs int) {
	type tally struct{ ordered, pairs float64 }
	clusters := map[string]*tally{}
	for i, s := range attempts {
		for _, f := range attempts[:i] {
			if s.Cluster != f.Cluster || s.Solved == f.Solved {
				continue
			}
			t := clusters[s.Cluster]
			if t == nil {
				t = &tally{}
				clusters[s.Cluster] = t
			}
			t.pairs++
			if s.Solved {
				t.ordered += order(s.Grade, f.Grade)
			} else {
				t.ordered += order(f.Grade, s.Grade)
			}
		}
	}
	n := float64(len(clusters))
	if n < 2 {
		return math.NaN(), Interval{0, 1}, 0
	}

	total := tally{}
	for _, t := range clusters {
		total.ordered += t.ordered
		total.pairs += t.pairs
	}
	auc = total.ordered / total.pairs
	sum := 0.0
	for _, cluster := range slicesx.SortedKeys(clusters) {
		t := clusters[cluster]
		d := (t.ordered - float64(auc*t.pairs)) / total.pairs
		sum += float64(d * d)
	}
	se := math.Sqrt(float64(n / (n - 1) * sum))
	return auc, ClusteredWilson(auc, se, len(clusters), len(clusters)), int(total.pairs)
}

// order returns 1 if a is above b, 0 if it is below, and 0.5 if both are equal.
func order(a, b float64) float64 {
	switch {
	case a > b:
		return 1
	case a < b:
		return 0
	}
	return 0.5
}
