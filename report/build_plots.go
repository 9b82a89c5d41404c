package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/trajectory-arena/arena/corpus"
)

// shownAgents is how many agents a plot has room to name.
const shownAgents = 8

// Plots draws the build as SVG files for its card, by name: what stayed at each
// stage, how the judge graded, whose attempts were kept, and how long they are. A plot without
// anything to show is left out. The same build gives the same bytes.
func (b *Build) Plots() (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, d := range []struct {
		name, x, y string
		bars       barred
	}{
		{"funnel.svg", "", "records left", b.stages()},
		{"grades.svg", "judge's grade", "attempts", b.grades()},
		{"agents.svg", "agent", "kept attempts", b.keptAgents()},
		{"steps.svg", "turns of the model, from … on", "kept attempts", b.bySplit(func(l *Lengths) []int { return l.Steps })},
		{"tokens.svg", "tokens, from … on", "kept attempts", b.bySplit(func(l *Lengths) []int { return l.Tokens })},
	} {
		if len(d.bars.names) == 0 {
			continue
		}
		p := newPlot(d.x, d.y)
		p.BackgroundColor = color.White // cards are also read on dark pages
		err := histogram(p, d.bars.names, d.bars.stacks...)
		if err == nil {
			out[d.name], err = drawn(p)
		}
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", d.name, err)
		}
	}
	return out, nil
}

// barred is what a bar chart shows.
type barred struct {
	names  []string
	stacks []stack
}

func (b *Build) stages() barred {
	left := stack{name: "left", colour: blue}
	var names []string
	for _, s := range b.Funnel {
		names, left.counts = append(names, s.Name), append(left.counts, float64(s.Out))
	}
	return barred{names, []stack{left}}
}

func (b *Build) grades() barred {
	kept, other := stack{name: "kept", colour: blue}, stack{name: "not kept", colour: grey}
	var names []string
	for _, l := range b.Levels {
		names = append(names, fmt.Sprint(l.Score))
		kept.counts, other.counts = append(kept.counts, float64(l.Kept)), append(other.counts, float64(l.Attempts-l.Kept))
	}
	return barred{names, []stack{kept, other}}
}

// keptAgents are the first agents by the beginning of their names.
func (b *Build) keptAgents() barred {
	kept := stack{name: "kept", colour: blue}
	var names []string
	for _, a := range b.Agents[:min(len(b.Agents), shownAgents)] {
		if a.Kept > 0 {
			names, kept.counts = append(names, fmt.Sprintf("%.5s", a.Name)), append(kept.counts, float64(a.Kept))
		}
	}
	return barred{names, []stack{kept}}
}

// maxBars is how many bars have room for their numbers.
const maxBars = 12

// bySplit counts attempts by length, the splits on top of each other.
func (b *Build) bySplit(of func(*Lengths) []int) barred {
	longest := 0
	for i := range b.Lengths {
		longest = max(longest, slices.Max(of(&b.Lengths[i])))
	}
	width := int(roundWidth(float64(longest), maxBars))
	var out barred
	colours := []color.Color{blue, orange}
	for i := range b.Lengths {
		counts := make(plotter.Values, longest/width+1)
		for _, n := range of(&b.Lengths[i]) {
			counts[n/width]++
		}
		out.stacks = append(out.stacks, stack{name: b.Lengths[i].Split, counts: counts, colour: colours[i%len(colours)]})
	}
	for i := 0; i <= longest/width && len(b.Lengths) > 0; i++ {
		out.names = append(out.names, fmt.Sprint(i*width))
	}
	return out
}

// drawn is a plot as an SVG file.
func drawn(p *plot.Plot) ([]byte, error) {
	canvas := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	_, err := canvas.WriteTo(&b)
	return b.Bytes(), err
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

// Agent is one agent's kept attempts.
type Agent struct {
	Name string
	Kept int
}

// Level counts the attempts at one level of the judge.
type Level struct {
	Score    float64
	Attempts int
	Kept     int
}

// Lengths are turns and tokens of each attempt of a split, ascending.
type Lengths struct {
	Split         string
	Steps, Tokens []int
}

// Build is what the plots of a finished corpus show.
type Build struct {
	Funnel []corpus.Stage
	Agents []Agent
	Levels []Level
	// Lengths are those of the splits that hold attempts.
	Lengths []Lengths
}
