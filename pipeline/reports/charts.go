package reports

import (
	"fmt"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/corpus/figures"
)

// Charts returns the charts of a build's card: the records left at each stage, the judge's grades,
// the kept attempts by agent, and their lengths. A chart may have no bars.
func (s *Set) Charts() []figures.Bars {
	return []figures.Bars{
		s.stagesChart(), s.gradesChart(), s.agentsChart(),
		s.lengthsChart("steps.svg", "turns of the model, from … on", func(l *Lengths) []int { return l.Steps }),
		s.lengthsChart("tokens.svg", "tokens, from … on", func(l *Lengths) []int { return l.Tokens }),
	}
}

func (s *Set) stagesChart() figures.Bars {
	b := figures.Bars{
		File:   "funnel.svg",
		Y:      "records left",
		Stacks: []figures.Stack{{Name: "left"}},
	}
	for _, stage := range s.Funnel {
		b.Names = append(b.Names, stage.Name)
		b.Stacks[0].Counts = append(b.Stacks[0].Counts, float64(stage.Out))
	}
	return b
}

func (s *Set) gradesChart() figures.Bars {
	keptRows := figures.Stack{Name: "kept"}
	others := figures.Stack{Name: "not kept", Rest: true}
	b := figures.Bars{File: "grades.svg", X: "judge's grade", Y: "graded attempts"}
	for _, l := range s.Judges.Levels {
		b.Names = append(b.Names, fmt.Sprint(l.Score))
		keptRows.Counts = append(keptRows.Counts, float64(l.Kept))
		others.Counts = append(others.Counts, float64(l.Attempts-l.Kept))
	}
	b.Stacks = []figures.Stack{keptRows, others}
	return b
}

// shownAgents is the maximum number of agents in the chart of agents.
const shownAgents = 8

// agentsChart returns the chart of how many attempts of each agent were kept. It shows at most
// shownAgents agents, those with the most, each by the first five characters of its name.
func (s *Set) agentsChart() figures.Bars {
	b := figures.Bars{
		File:   "agents.svg",
		X:      "agent",
		Y:      "kept attempts",
		Stacks: []figures.Stack{{Name: "kept"}},
	}
	for _, a := range s.Agents.Agents[:min(len(s.Agents.Agents), shownAgents)] {
		if a.Kept > 0 {
			b.Names = append(b.Names, fmt.Sprintf("%.5s", a.Agent))
			b.Stacks[0].Counts = append(b.Stacks[0].Counts, float64(a.Kept))
		}
	}
	return b
}

// maxBars is the maximum number of bars of a chart of lengths, so that there is space for the
// number below each.
const maxBars = 12

// lengthsChart returns the chart of how many kept attempts have a length in each of at most maxBars
// equal ranges, with the splits stacked. file is the name of the chart's file, x the text of its
// axis, and values returns the lengths of one split's attempts.
func (s *Set) lengthsChart(file, x string, values func(*Lengths) []int) figures.Bars {
	b := figures.Bars{File: file, X: x, Y: "kept attempts"}
	longest := 0
	for i := range s.Lengths {
		longest = max(longest, slices.Max(values(&s.Lengths[i])))
	}
	width := int(roundWidth(float64(longest), maxBars))
	for i := range s.Lengths {
		counts := make([]float64, longest/width+1)
		for _, n := range values(&s.Lengths[i]) {
			counts[n/width]++
		}
		b.Stacks = append(b.Stacks, figures.Stack{
			Name:   s.Lengths[i].Split,
			Counts: counts,
		})
	}
	for i := 0; i <= longest/width && len(s.Lengths) > 0; i++ {
		b.Names = append(b.Names, fmt.Sprint(i*width))
	}
	return b
}

// roundWidth returns the smallest width of a bar, 1, 2 or 5 times a power of ten, with which that
// many bars cover the values from 0 to limit.
func roundWidth(limit, bars float64) float64 {
	for power := 1.0; ; power *= 10 {
		for _, step := range []float64{1, 2, 5} {
			if limit/(step*power) < bars || math.IsInf(power, 1) {
				return step * power
			}
		}
	}
}
