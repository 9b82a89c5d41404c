package stats

import (
	"maps"
	"math"
	"slices"
)

// Graded is one attempt with its grade and outcome. Attempts of one cluster, such as a problem,
// depend on each other.
type Graded struct {
	Cluster string
	Grade   float64
	Solved  bool
}

// AUC returns the probability that the grade of a solved attempt is higher than that of a failed
// one, where equal grades count half, and its 95 % interval from the variance between clusters (the
// placements of DeLong et al. 1988, summed by cluster as by Obuchowski 1997). It is NaN, with the
// interval 0 to 1, unless there are solved and failed attempts and two clusters.
func AUC(attempts []Graded) (float64, Interval) {
	var all, solved, failed []float64
	for _, a := range attempts {
		all = append(all, a.Grade)
		if a.Solved {
			solved = append(solved, a.Grade)
		} else {
			failed = append(failed, a.Grade)
		}
	}
	n := float64(len(solved))
	m := float64(len(failed))
	among := ranks(all)
	amongSolved := ranks(solved)
	amongFailed := ranks(failed)

	// placed is the share of the attempts of the other outcome above which a solved attempt is, or
	// below which a failed one is.
	placed := make([]float64, len(attempts))
	auc := 0.0
	for i, a := range attempts {
		if a.Solved {
			placed[i] = (among[i] - amongSolved[0]) / m
			amongSolved = amongSolved[1:]
			auc += placed[i] / n
		} else {
			placed[i] = 1 - (among[i]-amongFailed[0])/n
			amongFailed = amongFailed[1:]
		}
	}
	influence := map[string]float64{}
	for i, a := range attempts {
		count := m
		if a.Solved {
			count = n
		}
		influence[a.Cluster] += (placed[i] - auc) / count
	}
	clusters := float64(len(influence))
	if n == 0 || m == 0 || clusters < 2 {
		return math.NaN(), Interval{0, 1}
	}
	sum := 0.0
	for _, cluster := range slices.Sorted(maps.Keys(influence)) {
		d := influence[cluster]
		sum += float64(d * d)
	}
	half := float64(Z95 * math.Sqrt(float64(clusters/(clusters-1)*sum)))
	return auc, Interval{max(0, auc-half), min(1, auc+half)}
}
