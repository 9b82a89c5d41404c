package filters

import (
	"cmp"
	"math"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// Labelled is one attempt's answer beside the truth about it.
type Labelled struct {
	Family     string
	Agentic    bool
	Axis       arena.Axis
	Confidence float64
}

// probability that the attempt is agentic, as the filter sees it.
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

// Confusion counts the answers about the attempts of a family. An unknown is wrong on both
// sides of a share.
type Confusion struct {
	Family   string
	Attempts int
	// Agentic and Scripted count the answers about the attempts that truly are so.
	Agentic, Scripted map[arena.Axis]int
}

func newConfusion(family string) *Confusion {
	return &Confusion{Family: family, Agentic: map[arena.Axis]int{}, Scripted: map[arena.Axis]int{}}
}

func (c *Confusion) add(l *Labelled) {
	c.Attempts++
	if l.Agentic {
		c.Agentic[l.Axis]++
	} else {
		c.Scripted[l.Axis]++
	}
}

// Correct counts the correct answers.
func (c *Confusion) Correct() int {
	return c.Agentic[arena.AxisAgentic] + c.Scripted[arena.AxisScripted]
}

// Bin is one row of a reliability table: attempts whose probability of being
// agentic lies in a band, with the mean claimed and the share that is true.
type Bin struct {
	Low, High float64
	N         int
	Claimed   float64
	True      float64
}

// Calibration is the filter held against labels.
type Calibration struct {
	Total    Confusion
	Families []Confusion
	Bins     []Bin
	// Brier is the mean squared error of the probability, 0 is best.
	Brier float64
}

// Calibrate compares answers with labels.
func Calibrate(all []Labelled) Calibration {
	c := Calibration{Total: *newConfusion("all"), Bins: bins(all)}
	families := map[string]*Confusion{}
	for _, l := range evidence.Each(all) {
		if families[l.Family] == nil {
			families[l.Family] = newConfusion(l.Family)
		}
		families[l.Family].add(l)
		c.Total.add(l)
		c.Brier += math.Pow(l.probability()-evidence.Flag(l.Agentic), 2) / float64(len(all))
	}
	for _, f := range families {
		c.Families = append(c.Families, *f)
	}
	slices.SortFunc(c.Families, func(a, b Confusion) int { return cmp.Compare(a.Family, b.Family) })
	return c
}

func bins(all []Labelled) []Bin {
	edges := []float64{0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1}
	out := make([]Bin, len(edges)-1)
	for i := range out {
		out[i].Low, out[i].High = edges[i], edges[i+1]
	}
	for i := range all {
		p := all[i].probability()
		at, _ := slices.BinarySearchFunc(edges[1:len(edges)-1], p, func(edge, p float64) int { return cmp.Or(cmp.Compare(edge, p), -1) })
		b := &out[at]
		b.N++
		b.Claimed += p
		b.True += evidence.Flag(all[i].Agentic)
	}
	for i := range out {
		if n := float64(out[i].N); n > 0 {
			out[i].Claimed /= n
			out[i].True /= n
		}
	}
	return out
}
