package agreement

import (
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/trajectory-arena/arena/judges/reply"
)

// Report says how far raters agree.
type Report struct {
	Raters []Rater `json:"raters"`
	// Pairs are all pairs of raters, in the order they were given.
	Pairs []Pair `json:"pairs"`
	// Panel has one alpha over more than two raters together.
	Panel *Panel `json:"panel,omitempty"`
	// Fits has one for each judge, where a multiplier was fitted to labels.
	Fits []Fit `json:"fits,omitempty"`
	// Validator has one for each judge, where a day was given.
	Validator []Validator `json:"validator,omitempty"`
	Bootstrap Bootstrap   `json:"bootstrap"`
}

// Rater counts what one rater answered.
type Rater struct {
	Name     string `json:"name"`
	Attempts int    `json:"attempts"`
	Scored   int    `json:"scored"`
	Unscored int    `json:"unscored"`
}

// Pair compares two raters.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// N is how many attempts both scored; Coverage its share of the attempts
	// that both were asked about, of which some are unscored.
	N         int     `json:"n"`
	Shared    int     `json:"shared"`
	Coverage  float64 `json:"coverage"`
	AUnscored int     `json:"a_unscored"`
	BUnscored int     `json:"b_unscored"`
	OnlyA     int     `json:"only_a"`
	OnlyB     int     `json:"only_b"`
	Problems  int     `json:"problems"`
	// Levels are the scores; Confusion counts a's level by row, b's by column.
	Levels    []float64 `json:"levels"`
	Confusion [][]int   `json:"confusion"`
	Exact     Figure    `json:"exact"`
	Kappa     Figure    `json:"kappa"`
	// WeightedKappa weighs a disagreement by the squared distance of the scores.
	WeightedKappa Figure `json:"weighted_kappa"`
	Alpha         Alpha  `json:"alpha"`
	// Bias is the mean of b's score less a's.
	Bias Figure `json:"bias"`
	// Precision takes a as labels; nil where no threshold was given.
	Precision *Precision `json:"precision,omitempty"`
}

// Alpha is Krippendorff's alpha at three levels of measurement.
type Alpha struct {
	Nominal  Figure `json:"nominal"`
	Ordinal  Figure `json:"ordinal"`
	Interval Figure `json:"interval"`
}

// Panel is the agreement of all raters together.
type Panel struct {
	// N is how many attempts at least two raters scored, of Attempts that any
	// was asked about.
	N        int     `json:"n"`
	Attempts int     `json:"attempts"`
	Coverage float64 `json:"coverage"`
	Alpha    Alpha   `json:"alpha"`
}

// Figure is a statistic with the ends of its 95 % interval. All are nil where
// the statistic is not defined, such as a kappa of raters who use one level.
type Figure struct {
	Value *float64    `json:"value"`
	CI95  *[2]float64 `json:"ci95"`
}

// Bootstrap says how the intervals were made.
type Bootstrap struct {
	Samples int    `json:"samples"`
	Seed    uint64 `json:"seed"`
	Cluster string `json:"cluster"`
}

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
		floats.Add(t.confusion[i], o.confusion[i])
		floats.Add(t.coincidence[i], o.coincidence[i])
	}
}

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
		if !slices.Contains(reply.Scores, s) {
			return slices.Sorted(maps.Keys(seen)), nil
		}
	}
	return reply.Scores, nil
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
