package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/corpus/figures"
)

// Colours of charts. They can be distinguished in print and by the colour-blind.
const (
	blue   = "#3867d6"
	orange = "#e17a2c"
	grey   = "#9aa4ba"
	ink    = "#1b2230"
	axis   = "#5b6579"
	grid   = "#e4e7ee"
)

// Sizes and positions in a chart, in pixels. The plot is the rectangle with the bars; labels are
// drawn around it.
const (
	chartWidth  = 490
	chartHeight = 283
	plotLeft    = 78
	plotRight   = chartWidth - 14
	plotTop     = 14
	plotBottom  = chartHeight - 50
	legendRow   = 22 // height of the row above the plot that names the stacks

	labelSize = 13 // font size of axis labels
	tickSize  = 12 // font size of everything else
	charWidth = 7  // generous mean width of a character at tickSize
)

// Plots returns an SVG file for each bar chart by its file name. Charts without bars are
// left out. Equal charts have equal bytes.
func Plots(charts []figures.Bars) map[string][]byte {
	out := map[string][]byte{}
	for i := range charts {
		if len(charts[i].Names) > 0 {
			out[charts[i].File] = drawBars(&charts[i])
		}
	}
	return out
}

// drawBars returns a bar chart as SVG.
func drawBars(b *figures.Bars) []byte {
	s := &svg{}
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="Helvetica, Arial, sans-serif">`+"\n",
		chartWidth, chartHeight)
	s.rect(0, 0, chartWidth, chartHeight, "#ffffff") // cards are also read on dark pages

	top := float64(plotTop)
	if len(b.Stacks) > 1 {
		top += legendRow
		s.legend(b.Stacks)
	}
	totals := stackTotals(b)
	step := tickStep(maxOf(totals))
	limit := max(math.Ceil(maxOf(totals)/step), 1) * step // the highest tick is the top of the plot
	y := func(count float64) float64 {
		return plotBottom - (plotBottom-top)*count/limit
	}

	for count := 0.0; count <= limit; count += step {
		s.line(y(count), grid)
		s.text(
			plotLeft-6,
			y(count)+4,
			tickSize,
			"end",
			"",
			strconv.FormatFloat(count, 'f', -1, 64),
		)
	}
	s.bars(b, y)
	s.line(plotBottom, axis)
	s.text(
		(plotLeft+plotRight)/2,
		chartHeight-10,
		labelSize,
		"middle",
		"",
		b.X,
	)
	middle := (top + plotBottom) / 2
	s.text(
		16,
		middle,
		labelSize,
		"middle",
		fmt.Sprintf(` transform="rotate(-90 16 %s)"`, coordinate(middle)),
		b.Y,
	)

	s.WriteString("</svg>\n")
	return s.Bytes()
}

// stackTotals returns, for each bar of a chart, its height: the sum of its counts over all stacks.
func stackTotals(b *figures.Bars) []float64 {
	totals := make([]float64, len(b.Names))
	for _, stack := range b.Stacks {
		for i, count := range stack.Counts {
			totals[i] += count
		}
	}
	return totals
}

func maxOf(values []float64) float64 {
	highest := 0.0
	for _, v := range values {
		highest = max(highest, v)
	}
	return highest
}

// tickStep returns the distance between ticks, in counts. It is the smallest 1, 2 or 5 times a
// power of ten, and at least 1, that divides an axis from 0 to limit into at most five parts.
func tickStep(limit float64) float64 {
	const parts = 5
	for power := 1.0; ; power *= 10 {
		for _, digit := range []float64{1, 2, 5} {
			if limit <= parts*digit*power || math.IsInf(power, 1) {
				return digit * power
			}
		}
	}
}

func fill(stack figures.Stack, i int) string {
	switch {
	case stack.Rest:
		return grey
	case i%2 == 1:
		return orange
	default:
		return blue
	}
}

// svg is the text of an SVG file.
type svg struct{ bytes.Buffer }

// bars draws the bars of a chart and the names below them. If names are wider than the space of a
// bar, only every n-th name is drawn. y converts a count to a vertical position in pixels.
func (s *svg) bars(b *figures.Bars, y func(float64) float64) {
	slot := float64(plotRight-plotLeft) / float64(len(b.Names))
	width := min(slot*0.7, 60)
	longest := 0
	for _, name := range b.Names {
		longest = max(longest, utf8.RuneCountInString(name))
	}
	every := max(int(math.Ceil(float64(longest*charWidth)/slot)), 1)
	for i, name := range b.Names {
		middle := plotLeft + float64(slot*(float64(i)+0.5))
		base := 0.0
		for k, stack := range b.Stacks {
			count := stack.Counts[i]
			if count > 0 {
				s.rect(
					middle-width/2,
					y(base+count),
					width,
					y(base)-y(base+count),
					fill(stack, k),
				)
			}
			base += count
		}
		if i%every == 0 {
			s.text(middle, plotBottom+16, tickSize, "middle", "", name)
		}
	}
}

// legend draws the legend of a chart: the names and colours of the stacks in a row above the plot,
// aligned to the right.
func (s *svg) legend(stacks []figures.Stack) {
	x := float64(plotRight)
	for i := len(stacks) - 1; i >= 0; i-- {
		x -= float64(utf8.RuneCountInString(stacks[i].Name) * charWidth)
		s.text(x, plotTop+9, tickSize, "start", "", stacks[i].Name)
		x -= 16
		s.rect(x, plotTop, 11, 11, fill(stacks[i], i))
		x -= 12
	}
}

func (s *svg) rect(x, y, width, height float64, color string) {
	fmt.Fprintf(
		s,
		`<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n",
		coordinate(x),
		coordinate(y),
		coordinate(width),
		coordinate(height),
		color,
	)
}

// line adds a horizontal line over the whole width of the plot, at the height y.
func (s *svg) line(y float64, color string) {
	fmt.Fprintf(
		s,
		`<line x1="%d" y1="%s" x2="%d" y2="%[2]s" stroke="%[4]s"/>`+"\n",
		plotLeft,
		coordinate(y),
		plotRight,
		color,
	)
}

// text adds the SVG element of a text at the position x, y, unless content is empty. anchor is the
// value of the attribute text-anchor. attributes are further attributes in SVG syntax, which are
// written unchanged.
func (s *svg) text(
	x, y float64,
	size int,
	anchor, attributes, content string,
) {
	if content == "" {
		return
	}
	fmt.Fprintf(
		s,
		`<text x="%s" y="%s" font-size="%d" text-anchor="%s" fill="%s"%s>`,
		coordinate(x),
		coordinate(y),
		size,
		anchor,
		ink,
		attributes,
	)
	xml.EscapeText(s, []byte(content)) //nolint:errcheck // a buffer takes everything
	io.WriteString(s, "</text>\n")     //nolint:errcheck // likewise
}

// coordinate formats a length in pixels, rounded to one decimal, for SVG.
func coordinate(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}
