package reports

import (
	"fmt"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/corpus/figures"
)

// Charts are the pictures of a build's card: what stayed at each stage, how the judge
// graded, whose attempts were kept, and how long they are. Some may have no bars.
func (s *Set) Charts() []figures.Bars {
	return []figures.Bars{
		s.stages(), s.grades(), s.kept(),
		s.bySplit("steps.svg", "turns of the model, from … on", func(l *Lengths) []int {
			return l.Steps
		}),
		s.bySplit("tokens.svg", "tokens, from … on", func(l *Lengths) []int {
			return l.Tokens
		}),
	}
}

func (s *Set) stages() figures.Bars {
	b := figures.Bars{
		File:   "funnel.svg",
		Y:      "records left",
		Stacks: []figures.Stack{{Name: "left"}},
	}
	for _, stage := range s.Funnel {
		b.Names, b.Stacks[0].Counts = append(b.Names, stage.Name), append(b.Stacks[0].Counts, float64(stage.Out))
	}
	return b
}

func (s *Set) grades() figures.Bars {
	kept := figures.Stack{Name: "kept"}
	other := figures.Stack{Name: "not kept", Rest: true}
	b := figures.Bars{File: "grades.svg", X: "judge's grade", Y: "attempts"}
	for _, l := range s.Judges.Levels {
		b.Names = append(b.Names, fmt.Sprint(l.Score))
		kept.Counts, other.Counts = append(kept.Counts, float64(l.Kept)), append(other.Counts, float64(l.Attempts-l.Kept))
	}
	b.Stacks = []figures.Stack{kept, other}
	return b
}

// shownAgents is how many agents a plot has room to name.
const shownAgents = 8

// kept are the first agents by the beginning of their names.
func (s *Set) kept() figures.Bars {
	b := figures.Bars{
		File:   "agents.svg",
		X:      "agent",
		Y:      "kept attempts",
		Stacks: []figures.Stack{{Name: "kept"}},
	}
	for _, a := range s.Agents.Agents[:min(len(s.Agents.Agents), shownAgents)] {
		if a.Kept > 0 {
			b.Names, b.Stacks[0].Counts = append(b.Names, fmt.Sprintf("%.5s", a.Agent)), append(b.Stacks[0].Counts, float64(a.Kept))
		}
	}
	return b
}

// maxBars is how many bars have room for their numbers.
const maxBars = 12

// bySplit counts attempts by length, the splits on top of each other.
func (s *Set) bySplit(file, x string, of func(*Lengths) []int) figures.Bars {
	b := figures.Bars{File: file, X: x, Y: "kept attempts"}
	longest := 0
	for i := range s.Lengths {
		longest = max(longest, slices.Max(of(&s.Lengths[i])))
	}
	width := int(roundWidth(float64(longest), maxBars))
	for i := range s.Lengths {
		counts := make([]float64, longest/width+1)
		for _, n := range of(&s.Lengths[i]) {
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

// roundWidth is the least round width by which values up to most fit so many bars.
func roundWidth(most, bars float64) float64 {
	for power := 1.0; ; power *= 10 {
		for _, step := range []float64{1, 2, 5} {
			if most/(step*power) < bars || math.IsInf(power, 1) {
				return step * power
			}
		}
	}
}
