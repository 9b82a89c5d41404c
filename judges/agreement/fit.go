package agreement

import (
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/outcome"
)

// Fit is the scale on which a judge's grades pay what comes nearest to what the
// labels pay on the subnet's: the least squared difference of the two factors, each
// attempt weighing 1 over the probability with which it was drawn. Of several
// people's labels at an attempt their mean factor counts.
type Fit struct {
	Judge    string `json:"judge"`
	N        int    `json:"n"`
	Problems int    `json:"problems"`
	// Floor and Ceiling are in hundredths.
	Floor   Figure `json:"floor"`
	Ceiling Figure `json:"ceiling"`
	// Subnet is the root mean squared difference with the judge on the subnet's own
	// scale, Fitted with each problem on the scale that fits all others; null of one
	// problem.
	Subnet float64  `json:"subnet_rms"`
	Fitted *float64 `json:"fitted_rms"`
}

type graded struct{ grade, factor, weight float64 }

// FitScale fits a multiplier's scale to labels.
func FitScale(labels []Ratings, judge *Ratings, opt Options) (Fit, error) {
	byProblem := gradedBoth(labels, judge)
	f := Fit{Judge: judge.Name, Problems: len(byProblem)}
	all := slices.Concat(byProblem...)
	if f.N = len(all); f.N == 0 {
		return f, errors.New("fit the multiplier: no attempt has both a label and a grade")
	}
	figures := figures(len(byProblem), opt, func(drawn []int) []float64 {
		var sample []graded
		for _, i := range drawn {
			sample = append(sample, byProblem[i]...)
		}
		s := nearest(sample)
		return []float64{s.Floor, s.Ceiling}
	})
	f.Floor, f.Ceiling = figures[0], figures[1]
	subnet, fitted, weight := 0.0, 0.0, 0.0
	for i, problem := range byProblem {
		others := nearest(slices.Concat(slices.Concat(byProblem[:i]...), slices.Concat(byProblem[i+1:]...)))
		for _, g := range problem {
			subnet += float64(g.weight * square(g.factor-outcome.Multiplier(g.grade)))
			fitted += float64(g.weight * square(g.factor-others.Multiplier(g.grade)))
			weight += g.weight
		}
	}
	f.Subnet = math.Sqrt(subnet / weight)
	if apart := math.Sqrt(fitted / weight); len(byProblem) > 1 {
		f.Fitted = &apart
	}
	return f, nil
}

// gradedBoth are the attempts with a label and a grade, problem by problem.
func gradedBoth(labels []Ratings, judge *Ratings) [][]graded {
	return byCluster(judge.Scores, func(key Key, grade *float64) (graded, bool) {
		g, people := graded{weight: 1}, 0.0
		for i := range labels {
			if score := labels[i].Scores[key]; score != nil {
				g.factor += outcome.Multiplier(*score)
				g.weight = 1 / labels[i].drawn(key)
				people++
			}
		}
		if grade == nil || people == 0 {
			return g, false
		}
		g.grade, g.factor = *grade, g.factor/people
		return g, true
	})
}

// nearest is the scale of the least loss; the subnet's where none is nearer.
func nearest(all []graded) outcome.Scale {
	grades := map[float64]graded{} // what the loss depends on: the sums at each grade
	for _, g := range all {
		sum := grades[g.grade]
		grades[g.grade] = graded{g.grade, sum.factor + float64(g.weight*g.factor), sum.weight + g.weight}
	}
	sums := slicesx.Map(slices.Sorted(maps.Keys(grades)), func(grade float64) graded { return grades[grade] })
	best := outcome.SubnetScale()
	least := loss(best, sums)
	for hundredths := 1; hundredths <= 100; hundredths++ {
		s := outcome.Scale{Ceiling: float64(hundredths) / 100}
		s.Floor = floorAt(s.Ceiling, sums)
		if l := loss(s, sums); l < least-1e-9 {
			best, least = s, l
		}
	}
	return best
}

// floorAt is the floor of the least loss at a ceiling: with x the share of the
// ceiling that a grade reaches, the factor is floor (1-x) + x.
func floorAt(ceiling float64, sums []graded) float64 {
	var over, under float64
	for _, g := range sums {
		x := min(1, g.grade/ceiling)
		over += float64((1 - x) * (g.factor - float64(g.weight*x)))
		under += float64(g.weight * square(1-x))
	}
	if under == 0 {
		return outcome.SubnetScale().Floor
	}
	return math.Round(100*max(0, min(1, over/under))) / 100
}

// loss is the sum of the weighed squared differences, less what no scale changes.
func loss(s outcome.Scale, sums []graded) (sum float64) {
	for _, g := range sums {
		m := s.Multiplier(g.grade)
		sum += float64(g.weight*m*m) - float64(2*m*g.factor)
	}
	return sum
}
