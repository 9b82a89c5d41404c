package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/trajectory-arena/arena/corpus/figures"
)

// The colours of plots: told apart in print and by the colour-blind.
var (
	blue   = color.RGBA{0x38, 0x67, 0xd6, 0xff}
	orange = color.RGBA{0xe1, 0x7a, 0x2c, 0xff}
	grey   = color.RGBA{0x9a, 0xa4, 0xba, 0xff}
)

// The size of a plot.
const (
	plotWidth  = 13 * vg.Centimeter
	plotHeight = 7.5 * vg.Centimeter
)

func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.BackgroundColor = color.White // cards are also read on dark pages
	p.Legend.Top, p.Legend.Padding = true, vg.Points(2)
	// Widths are reckoned with a face as wide as that of pages.
	for _, style := range []*text.Style{&p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = nil, color.RGBA{0xe4, 0xe7, 0xee, 0xff}
	p.Add(grid)
	return p
}

// Plots draws bar charts as SVG files by their names, but those without bars. The same
// charts give the same bytes.
func Plots(all []figures.Bars) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, b := range all {
		if len(b.Names) == 0 {
			continue
		}
		p, canvas, file := newPlot(b.X, b.Y), vgsvg.New(plotWidth, plotHeight), bytes.Buffer{}
		err := histogram(p, &b)
		if err == nil {
			p.Draw(draw.New(canvas))
			_, err = canvas.WriteTo(&file)
		}
		if err != nil {
			return nil, fmt.Errorf("draw %s: %w", b.File, err)
		}
		out[b.File] = file.Bytes()
	}
	return out, nil
}

func histogram(p *plot.Plot, b *figures.Bars) error {
	width := plotWidth * 0.7 / vg.Length(max(4, len(b.Names)))
	var below *plotter.BarChart
	for i, s := range b.Stacks {
		bars, err := plotter.NewBarChart(plotter.Values(s.Counts), width)
		if err != nil {
			return fmt.Errorf("draw %q: %w", s.Name, err)
		}
		bars.Color, bars.LineStyle.Width = []color.Color{blue, orange}[i%2], 0
		if s.Rest {
			bars.Color = grey
		}
		if below != nil {
			bars.StackOn(below)
		}
		below = bars
		p.Add(bars)
		if len(b.Stacks) > 1 {
			p.Legend.Add(s.Name, bars)
		}
	}
	p.NominalX(b.Names...)
	p.X.Min, p.X.Max = -0.6, float64(len(b.Names))-0.4 // room for the first and the last bar
	p.Y.Min = 0
	p.Y.Max *= 1.08 // room above the tallest
	if len(b.Stacks) > 1 {
		p.Y.Max *= 1.15 // and for the legend
	}
	p.Y.Tick.Marker = plot.TickerFunc(wholeTicks)
	return nil
}

// wholeTicks labels counts: no tick between two of them has a number.
func wholeTicks(least, most float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(least, most)
	for i, t := range ticks {
		switch {
		case t.IsMinor():
		case t.Value == math.Trunc(t.Value):
			ticks[i].Label = strconv.FormatFloat(t.Value, 'f', 0, 64)
		default:
			ticks[i].Label = ""
		}
	}
	return ticks
}
