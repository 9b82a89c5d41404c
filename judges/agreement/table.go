package agreement

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/reply"
)

// table counts the scores from different raters for the attempts at one problem or at all
// problems.
type table struct {
	// confusion counts attempts, with the first rater's level by row and the second's by column.
	// coincidence counts every ordered pair of scores of one attempt, weighted by 1/(number of
	// scores - 1), as Krippendorff defines it.
	confusion, coincidence [][]float64
}

func newTable(levels int) table {
	return table{newMatrix[float64](levels), newMatrix[float64](levels)}
}

func newMatrix[T any](n int) [][]T {
	m := make([][]T, n)
	for i := range m {
		m[i] = make([]T, n)
	}
	return m
}

func (t table) add(o table) {
	for i := range t.confusion {
		floats.Add(t.confusion[i], o.confusion[i])
		floats.Add(t.coincidence[i], o.coincidence[i])
	}
}

// maxLevels is the maximum number of distinct scores that are compared, enough for a scale in
// hundredths. The size of the tables is its square, and kappa is meaningless for scores that
// hardly ever repeat.
const maxLevels = 101

// levels returns the distinct scores that occur, in ascending order. If all are among the five
// scores of the judges, it returns these five, so that the tables of all judges have the same
// shape. It returns an error for more than maxLevels scores.
func levels(units [][][]float64) ([]float64, error) {
	seen := slicesx.Set(slices.Concat(slices.Concat(units...)...))
	if len(seen) > maxLevels {
		return nil, fmt.Errorf("%d different scores: at most %d can be compared as levels, round them first", len(seen), maxLevels)
	}
	for s := range seen {
		if !slices.Contains(reply.Scores, s) {
			return slicesx.SortedKeys(seen), nil
		}
	}
	return reply.Scores, nil
}

// clusters are the tables of all problems, one for each problem.
type clusters []table

// tabulate counts the scores of each problem in a table of its own. units has the scores of the
// raters by problem and attempt. levels are all scores that occur.
func tabulate(units [][][]float64, levels []float64) clusters {
	index := map[float64]int{}
	for i, l := range levels {
		index[l] = i
	}
	var tables clusters
	for _, problem := range units {
		t := newTable(len(levels))
		for _, scores := range problem {
			t.addScores(scores, index)
		}
		tables = append(tables, t)
	}
	return tables
}

// addScores counts the scores of one attempt. index maps a score to its row in the tables.
func (t table) addScores(scores []float64, index map[float64]int) {
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

// confusion returns the sum of the confusion matrices of all problems, with one row and one column
// per level (distinct score).
func (c clusters) confusion(levels int) [][]int {
	sum := newMatrix[int](levels)
	for i := range sum {
		for _, t := range c {
			for j, n := range t.confusion[i] {
				sum[i][j] += int(n)
			}
		}
	}
	return sum
}
