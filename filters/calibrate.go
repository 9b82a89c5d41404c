package filters

import (
	"cmp"
	"math"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Labelled is an attempt with its true label and the filter's answer.
type Labelled struct {
	// Family is the kind of agent that made the attempt.
	Family string
	// Agentic is the label: whether the model decided the calls.
	Agentic bool
	// Axis and Confidence are the filter's answer.
	Axis       arena.Axis
	Confidence float64
}

// probability converts the filter's answer to a probability, 0 to 1, that the attempt is agentic:
// that its model made the calls. It is 0.5 for an unknown axis.
func (l *Labelled) probability() float64 {
	switch l.Axis {
	case arena.AxisAgentic:
		return l.Confidence
	case arena.AxisScripted:
		return 1 - l.Confidence
	case arena.AxisUnknown:
	}
	return 0.5
}

// isCapped reports whether the filter limited its confidence that a model made the calls. It does
// so for agents whose log a program could leave too, namely one whose calls a model only repeats.
func (l *Labelled) isCapped() bool {
	return l.Axis == arena.AxisAgentic && l.Confidence == doubtfulConfidence
}

// label returns the true label as a number: 1 for agentic, 0 for scripted.
func (l *Labelled) label() float64 {
	if l.Agentic {
		return 1
	}
	return 0
}

// Confusion is the confusion matrix of the attempts of one family of agents. The answer
// "unknown" is wrong for both labels.
type Confusion struct {
	Family   string
	Attempts int
	// Agentic counts, by the filter's answer, the attempts that are labelled agentic. Scripted
	// counts those that are labelled scripted.
	Agentic  map[arena.Axis]int
	Scripted map[arena.Axis]int
}

func newConfusion(family string) *Confusion {
	return &Confusion{
		Family:   family,
		Agentic:  map[arena.Axis]int{},
		Scripted: map[arena.Axis]int{},
	}
}

func (c *Confusion) add(l *Labelled) {
	c.Attempts++
	if l.Agentic {
		c.Agentic[l.Axis]++
	} else {
		c.Scripted[l.Axis]++
	}
}

// Correct returns the number of correct answers.
func (c *Confusion) Correct() int {
	return c.Agentic[arena.AxisAgentic] + c.Scripted[arena.AxisScripted]
}

// Bin is one row of a reliability table. It has the attempts whose probability of being agentic,
// as estimated by the filter, is at least Low and below High. The last bin includes High.
type Bin struct {
	Low  float64
	High float64
	N    int
	// Claimed is the mean of the estimated probabilities. True is the share of the attempts that
	// are labelled agentic. Both are equal if the filter is well calibrated.
	Claimed float64
	True    float64
}

// Calibration compares the filter's answers with the true labels.
type Calibration struct {
	Total    Confusion
	Families []Confusion
	// Bins is the reliability table of all other attempts. Capped is the row of agentic attempts
	// whose confidence was limited since their agent is in doubt, Unknown the row of attempts
	// whose axis is unknown.
	Bins    []Bin
	Capped  Bin
	Unknown Bin
	// Error is the expected calibration error: the mean difference between Claimed and True over
	// Bins, weighted by the number of attempts. It is NaN if Bins are empty.
	Error float64
	// Brier is the mean squared difference between probability and label (1 or 0); 0 is best.
	Brier float64
}

// Calibrate compares the filter's answers with the true labels, in total and by family.
func Calibrate(answers []Labelled) Calibration {
	c := Calibration{
		Total:   *newConfusion("all"),
		Bins:    newBins(answers),
		Capped:  Bin{Low: doubtfulConfidence, High: doubtfulConfidence},
		Unknown: Bin{Low: 0.5, High: 0.5},
	}
	families := map[string]*Confusion{}
	for i := range answers {
		l := &answers[i]
		if families[l.Family] == nil {
			families[l.Family] = newConfusion(l.Family)
		}
		families[l.Family].add(l)
		c.Total.add(l)
		c.Brier += math.Pow(l.probability()-l.label(), 2) / float64(len(answers))
		switch {
		case l.isCapped():
			c.Capped.add(l)
		case l.Axis == arena.AxisUnknown:
			c.Unknown.add(l)
		}
	}
	c.Capped.average()
	c.Unknown.average()
	c.Error = calibrationError(c.Bins)
	for _, f := range families {
		c.Families = append(c.Families, *f)
	}
	slicesx.SortByKey(c.Families, func(c Confusion) string {
		return c.Family
	})
	return c
}

// binEdges are the bounds of the ranges (bins) of probabilities in a reliability table: the lower
// bound of each range, then the upper bound of the last.
var binEdges = []float64{0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1}

func (b *Bin) add(l *Labelled) {
	b.N++
	b.Claimed += l.probability()
	b.True += l.label()
}

// average divides the sums in Claimed and True of a row of the reliability table by its number of
// attempts, which turns them into means. It changes nothing in an empty row.
func (b *Bin) average() {
	if b.N > 0 {
		b.Claimed /= float64(b.N)
		b.True /= float64(b.N)
	}
}

// calibrationError returns the mean difference between the estimated and the true probability
// over the bins, weighted by the number of attempts. It returns NaN if the bins are empty.
func calibrationError(bins []Bin) float64 {
	sum := 0.0
	n := 0
	for _, b := range bins {
		sum += math.Abs(b.Claimed-b.True) * float64(b.N)
		n += b.N
	}
	return sum / float64(n)
}

// newBins computes the table that compares the filter's probabilities with the true labels, one row
// for each range of probabilities. Answers with a limited confidence or an unknown axis are left
// out.
func newBins(answers []Labelled) []Bin {
	bins := make([]Bin, len(binEdges)-1)
	for i := range bins {
		bins[i].Low = binEdges[i]
		bins[i].High = binEdges[i+1]
	}

	// A probability on an edge belongs to the bin above it.
	inner := binEdges[1 : len(binEdges)-1]
	compareEdge := func(edge, p float64) int {
		return cmp.Or(cmp.Compare(edge, p), -1)
	}
	for i := range answers {
		if answers[i].isCapped() || answers[i].Axis == arena.AxisUnknown {
			continue
		}
		n, _ := slices.BinarySearchFunc(inner, answers[i].probability(), compareEdge)
		bins[n].add(&answers[i])
	}
	for i := range bins {
		bins[i].average()
	}
	return bins
}
