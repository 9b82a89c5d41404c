package agreement

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/trajectory-arena/arena/judges/outcome"
)

// Run is what the subnet itself says of a run: the mean reasoning quality of its
// attempts by the validator's judge, 0 to 1.
type Run struct {
	ID string
	// Agent is its version, empty where unknown.
	Agent   string
	Quality float64
	// Of is what the mean of a judge's grades becomes before it is held against
	// Quality, where this is another of the subnet's figures; nil leaves it.
	Of func(mean float64) float64
}

// Carried is what a run carries of the subnet's own findings; nil where it has none.
type Carried struct{ Quality, Coefficient, Score *float64 }

// The figures of what a run carries.
const (
	FigureQuality     = "reasoning_quality"
	FigureCoefficient = "reasoning_coefficient" // what the subnet's rule makes of the judge's mean
	FigureScore       = "validator_score"       // successes times the run's own coefficient
)

// Against is what one of the figures holds a judge, or successes, against.
func (c *Carried) Against(figure string) (run Run, has bool) {
	of := map[string]*float64{FigureQuality: c.Quality, FigureCoefficient: c.Coefficient, FigureScore: c.Score}[figure]
	if of == nil {
		return run, false
	}
	run.Quality = *of
	switch {
	case figure == FigureCoefficient:
		run.Of = outcome.Multiplier
	case figure == FigureScore && c.Coefficient != nil:
		run.Of = func(mean float64) float64 { return mean * *c.Coefficient }
	}
	return run, true
}

// Validator holds a judge against the validator's own, run by run: the mean of the
// judge's grades against what the run carries.
type Validator struct {
	Judge string `json:"judge"`
	// Figure is what the subnet's own is of, such as reasoning_quality.
	Figure string `json:"figure"`
	// Runs counts those that both graded, Attempts the judge's grades in them.
	Runs     int `json:"runs"`
	Attempts int `json:"attempts"`
	Agents   int `json:"agents"`
	// Bias is the mean of the judge's quality less the validator's, Distance the mean
	// of that without its sign, Correlation Pearson's. Intervals draw agents.
	Bias        Figure `json:"bias"`
	Distance    Figure `json:"distance"`
	Correlation Figure `json:"correlation"`
}

// qualities are those of runs, by the validator and by a judge.
type qualities struct{ validator, judge []float64 }

// AgainstValidator compares a judge with the validator's.
func AgainstValidator(runs []Run, judge *Ratings, opt Options) Validator {
	grades := map[string][]float64{}
	for key, score := range judge.Scores {
		if score != nil {
			grades[key.Run] = append(grades[key.Run], *score)
		}
	}
	v, at, agents := Validator{Judge: judge.Name}, map[string]int{}, []qualities{}
	for _, run := range runs {
		if len(grades[run.ID]) == 0 {
			continue
		}
		slices.Sort(grades[run.ID]) // a sum of floats depends on its order
		v.Runs++
		v.Attempts += len(grades[run.ID])
		name := Key{Run: run.ID, Problem: run.Agent}.cluster()
		if _, known := at[name]; !known {
			at[name], agents = len(agents), append(agents, qualities{})
		}
		q, mean := &agents[at[name]], stat.Mean(grades[run.ID], nil)
		if run.Of != nil {
			mean = run.Of(mean)
		}
		q.validator, q.judge = append(q.validator, run.Quality), append(q.judge, mean)
	}
	v.Agents = len(agents)
	found := figures(len(agents), opt, func(drawn []int) []float64 { return compareQualities(agents, drawn) })
	v.Bias, v.Distance, v.Correlation = found[0], found[1], found[2]
	return v
}

func compareQualities(agents []qualities, drawn []int) []float64 {
	var q qualities
	var bias, distance float64
	for _, i := range drawn {
		q.validator, q.judge = append(q.validator, agents[i].validator...), append(q.judge, agents[i].judge...)
	}
	n := float64(len(q.judge))
	for i, x := range q.judge {
		bias += (x - q.validator[i]) / n
		distance += math.Abs(x-q.validator[i]) / n
	}
	if n == 0 {
		bias, distance = math.NaN(), math.NaN()
	}
	return []float64{bias, distance, stat.Correlation(q.validator, q.judge, nil)}
}
