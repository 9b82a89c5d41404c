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

// Confusion counts answers against the truth. Unknown is counted apart and is
// wrong on both sides of a share.
type Confusion struct {
	Family                     string
	Agentic, Scripted          int
	TrueAgentic, FalseAgentic  int
	TrueScripted, FalseScripts int
	Unknown                    int
}

func (c *Confusion) add(l *Labelled) {
	if l.Agentic {
		c.Agentic++
	} else {
		c.Scripted++
	}
	switch {
	case l.Axis == arena.AxisUnknown:
		c.Unknown++
	case l.Axis == arena.AxisAgentic && l.Agentic:
		c.TrueAgentic++
	case l.Axis == arena.AxisAgentic:
		c.FalseAgentic++
	case l.Agentic:
		c.FalseScripts++
	default:
		c.TrueScripted++
	}
}

// Right and All count the correct answers and all of them.
func (c *Confusion) Right() int { return c.TrueAgentic + c.TrueScripted }

// All counts every attempt of the family.
func (c *Confusion) All() int { return c.Agentic + c.Scripted }

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
	c := Calibration{Total: Confusion{Family: "all"}, Bins: bins(all)}
	families := map[string]*Confusion{}
	for _, l := range evidence.Each(all) {
		if families[l.Family] == nil {
			families[l.Family] = &Confusion{Family: l.Family}
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
