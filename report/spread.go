package report

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/plotter"
)

// spread is how a number is distributed over rollouts, solved and not.
type spread struct{ solved, others []float64 }

// add counts a value; a server may tell any, and none is below 0.
func (s *spread) add(v float64, solved bool) {
	v = max(v, 0)
	if solved {
		s.solved = append(s.solved, v)
	} else {
		s.others = append(s.others, v)
	}
}

// maxBins keeps the bars of a histogram wide enough to be seen.
const maxBins = 25

// bins counts in steps of a round width, from 0 on: 1, 2 or 5 times a power of
// ten, so that there are at most maxBins. names are where each bin begins;
// only some are named if there are many.
func (s *spread) bins() (names []string, solved, others plotter.Values) {
	all := slices.Concat(s.solved, s.others)
	if len(all) == 0 {
		return nil, nil, nil
	}
	width := roundWidth(slices.Max(all), maxBins)
	n := int(slices.Max(all)/width) + 1
	solved, others = make(plotter.Values, n), make(plotter.Values, n)
	for _, v := range s.solved {
		solved[int(v/width)]++
	}
	for _, v := range s.others {
		others[int(v/width)]++
	}
	const enough = 9
	for i := range n {
		name := ""
		if i%((n+enough-1)/enough) == 0 {
			name = strconv.FormatFloat(float64(i)*width, 'f', -1, 64)
		}
		names = append(names, name)
	}
	return names, solved, others
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

// median is the middle of all values; NaN of none.
func (s *spread) median() float64 {
	all := slices.Sorted(slices.Values(slices.Concat(s.solved, s.others)))
	if len(all) == 0 {
		return math.NaN()
	}
	return all[len(all)/2]
}
