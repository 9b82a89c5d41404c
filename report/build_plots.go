package report

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// shownAgents is how many agents a plot has room to name.
const shownAgents = 8

// Plots draws the build as SVG files for its card, by name: what stayed at each
// stage, how the judge graded, and whose attempts were kept. A plot without
// anything to show is left out. The same build gives the same bytes.
func (b *Build) Plots() (map[string][]byte, error) {
	stages, levels, agents := bars{y: "records left"}, bars{x: "judge's grade", y: "attempts"}, bars{y: "kept attempts"}
	for _, s := range b.Funnel {
		stages.add(s.Name, float64(s.Out))
	}
	for _, l := range b.Levels {
		levels.add(fmt.Sprint(l.Score), float64(l.Attempts))
	}
	for i, a := range b.Agents {
		if i < shownAgents && a.Kept > 0 {
			agents.add(fmt.Sprintf("%.8s", a.Name), float64(a.Kept))
		}
	}
	out := map[string][]byte{}
	for name, plotted := range map[string]bars{"funnel.svg": stages, "grades.svg": levels, "agents.svg": agents} {
		if len(plotted.values) == 0 {
			continue
		}
		svg, err := plotted.svg()
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", name, err)
		}
		out[name] = svg
	}
	return out, nil
}

// bars is a bar chart with a name under each bar.
type bars struct {
	x, y   string
	names  []string
	values plotter.Values
}

func (b *bars) add(name string, value float64) {
	b.names, b.values = append(b.names, name), append(b.values, value)
}

// svg draws the chart as a file of its own.
func (b *bars) svg() ([]byte, error) {
	p := newPlot(b.x, b.y)
	p.BackgroundColor = color.White // cards are also read on dark pages
	chart, err := plotter.NewBarChart(b.values, vg.Points(24))
	if err != nil {
		return nil, err
	}
	chart.Color, chart.LineStyle.Width = blue, 0
	p.Add(chart)
	p.NominalX(b.names...)
	p.Y.Min = 0
	return drawn(p)
}

// drawn is a plot as an SVG file.
func drawn(p *plot.Plot) ([]byte, error) {
	canvas := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	_, err := canvas.WriteTo(&b)
	return b.Bytes(), err
}
