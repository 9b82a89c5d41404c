package agreement

import (
	"errors"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
)

// Fit is the result of fitting a scale, which converts a judge's grades to payment factors, to
// labels. The scale has the lowest mean squared difference between the factors of the judge's
// grades and those of the labels. Attempts are weighted by 1 over the probability with which
// they were sampled. If several people labelled an attempt, the mean of their factors counts.
type Fit struct {
	Judge    string `json:"judge"`
	N        int    `json:"n"`
	Problems int    `json:"problems"`
	// Floor and Ceiling are the ends of the fitted scale, rounded to hundredths.
	Floor   Figure `json:"floor"`
	Ceiling Figure `json:"ceiling"`
	// Subnet is the root mean squared difference with the subnet's own scale. Fitted is the
	// difference if each problem is paid by the scale that fits all other problems. It is nil if
	// there is only one problem.
	Subnet float64  `json:"subnet_rms"`
	Fitted *float64 `json:"fitted_rms"`
}

// observation is an attempt that was graded twice: by a judge (grade), and by labels, whose scores
// are converted to factors of payment and averaged (factor). weight is 1 over the probability with
// which the attempt was sampled.
type observation struct{ grade, factor, weight float64 }

// FitScale returns the scale that converts a judge's grades to payment factors, fitted to labels.
func FitScale(labels []Ratings, judge *Ratings, opt Options) (Fit, error) {
	byProblem := observations(labels, judge)
	f := Fit{
		Judge:    judge.Name,
		N:        len(slices.Concat(byProblem...)),
		Problems: len(byProblem),
	}
	if f.N == 0 {
		return f, errors.New("fit the multiplier: no attempt has both a label and a grade")
	}
	figures := bootstrap(len(byProblem), opt, func(problems []int) []float64 {
		var sample []observation
		for _, i := range problems {
			sample = append(sample, byProblem[i]...)
		}
		s := nearestScale(sample)
		return []float64{s.Floor, s.Ceiling}
	})
	f.Floor = figures[0]
	f.Ceiling = figures[1]

	var subnet, fitted, weight float64
	for i, problem := range byProblem {
		before := slices.Concat(byProblem[:i]...)
		after := slices.Concat(byProblem[i+1:]...)
		leaveOneOut := nearestScale(slices.Concat(before, after))
		for _, o := range problem {
			subnet += float64(o.weight * square(o.factor-outcome.Multiplier(o.grade)))
			fitted += float64(o.weight * square(o.factor-leaveOneOut.Multiplier(o.grade)))
			weight += o.weight
		}
	}
	f.Subnet = math.Sqrt(subnet / weight)
	if len(byProblem) > 1 {
		f.Fitted = new(math.Sqrt(fitted / weight))
	}
	return f, nil
}

// observations returns the attempts that the judge graded and at least one of the label sets
// scored, grouped by problem, each with the grade, the mean payment factor of its labels and its
// weight.
func observations(labels []Ratings, judge *Ratings) [][]observation {
	return byCluster(judge.Scores, func(key Key, grade *float64) (observation, bool) {
		o := observation{weight: 1}
		people := 0.0
		for i := range labels {
			if score := labels[i].Scores[key]; score != nil {
				o.factor += outcome.Multiplier(*score)
				o.weight = 1 / labels[i].probability(key)
				people++
			}
		}
		if grade == nil || people == 0 {
			return o, false
		}
		o.grade = *grade
		o.factor /= people
		return o, true
	})
}

// nearestScale returns the scale (a conversion of a judge's grade to a payment factor, rising from
// a floor to 1 at a ceiling) whose factors are nearest to those of the labels on a sample. Its
// floor and ceiling are multiples of 0.01. It returns the subnet's scale if no other one is nearer.
func nearestScale(sample []observation) outcome.Scale {
	byGrade := map[float64]observation{} // the loss depends on the sums at each grade
	for _, o := range sample {
		sum := byGrade[o.grade]
		byGrade[o.grade] = observation{o.grade, sum.factor + float64(o.weight*o.factor), sum.weight + o.weight}
	}
	grades := slicesx.SortedKeys(byGrade)
	sums := slicesx.Map(grades, func(grade float64) observation {
		return byGrade[grade]
	})
	best := outcome.SubnetScale()
	bestLoss := loss(best, sums)
	for hundredths := 1; hundredths <= 100; hundredths++ {
		s := outcome.Scale{Ceiling: float64(hundredths) / 100}
		s.Floor = bestFloor(s.Ceiling, sums)
		if l := loss(s, sums); l < bestLoss-1e-9 {
			best = s
			bestLoss = l
		}
	}
	return best
}

// bestFloor returns, for a given ceiling of a scale (a conversion of a judge's grade to a payment
// factor), the floor with the lowest loss, 0 to 1 and rounded to 0.01. A grade at the share x of
// the ceiling pays the factor floor (1-x) + x. sums are the observations, added up by grade. It
// returns the subnet's floor if every grade reaches the ceiling.
func bestFloor(ceiling float64, sums []observation) float64 {
	var numerator, denominator float64
	for _, o := range sums {
		x := min(1, o.grade/ceiling)
		numerator += float64((1 - x) * (o.factor - float64(o.weight*x)))
		denominator += float64(o.weight * square(1-x))
	}
	if denominator == 0 {
		return outcome.SubnetScale().Floor
	}
	return math.Round(100*max(0, min(1, numerator/denominator))) / 100
}

// loss returns how far the payment factors that a scale gives the judge's grades are from those of
// the people's labels: the sum of the weighted squared differences, without the terms that are
// equal for every scale. sums are the observations, added up by grade.
func loss(s outcome.Scale, sums []observation) float64 {
	sum := 0.0
	for _, o := range sums {
		m := s.Multiplier(o.grade)
		sum += float64(o.weight*m*m) - float64(2*m*o.factor)
	}
	return sum
}
