package agreement

import (
	"fmt"
	"maps"
	"slices"
)

// table counts, for one problem or for all, what raters said of its attempts.
type table struct {
	// confusion counts the first rater's level by row and the second's by
	// column; coincidence every ordered pair of scores of one attempt, weighted
	// by 1/(scores - 1), as Krippendorff has it.
	confusion, coincidence [][]float64
}

func newTable(levels int) table {
	t := table{make([][]float64, levels), make([][]float64, levels)}
	for i := range levels {
		t.confusion[i], t.coincidence[i] = make([]float64, levels), make([]float64, levels)
	}
	return t
}

func (t table) add(o table) {
	for i := range t.confusion {
		for j := range t.confusion[i] {
			t.confusion[i][j] += o.confusion[i][j]
			t.coincidence[i][j] += o.coincidence[i][j]
		}
	}
}

// judgeLevels are the scores that reasoning judges may give.
var judgeLevels = []float64{0.1, 0.3, 0.5, 0.7, 0.9}

// maxLevels is a scale in hundredths. The tables grow with the square of the
// levels, one for each problem, and kappa of scores that hardly ever repeat says
// nothing.
const maxLevels = 101

// levels are the judges' five where all scores are among them, so that tables
// of different judges have one shape, else the scores that occur.
func levels(units [][][]float64) ([]float64, error) {
	seen := map[float64]bool{}
	for _, s := range slices.Concat(slices.Concat(units...)...) {
		seen[s] = true
	}
	if len(seen) > maxLevels {
		return nil, fmt.Errorf("%d different scores: at most %d can be compared as levels, round them first", len(seen), maxLevels)
	}
	for s := range seen {
		if !slices.Contains(judgeLevels, s) {
			return slices.Sorted(maps.Keys(seen)), nil
		}
	}
	return judgeLevels, nil
}

// clusters are the tables of the problems, in the order of their names.
type clusters []table

// tabulate counts the scores that each attempt of each problem got.
func tabulate(units [][][]float64, levels []float64) (all clusters) {
	index := map[float64]int{}
	for i, l := range levels {
		index[l] = i
	}
	for _, problem := range units {
		t := newTable(len(levels))
		for _, scores := range problem {
			t.confusion[index[scores[0]]][index[scores[1]]]++
			weight := 1 / float64(len(scores)-1)
			for x, a := range scores {
				for y, b := range scores {
					if x != y {
						t.coincidence[index[a]][index[b]] += weight
					}
				}
			}
		}
		all = append(all, t)
	}
	return all
}

func (c clusters) confusion(levels int) [][]int {
	all := make([][]int, levels)
	for i := range all {
		all[i] = make([]int, levels)
		for _, t := range c {
			for j, n := range t.confusion[i] {
				all[i][j] += int(n)
			}
		}
	}
	return all
}
