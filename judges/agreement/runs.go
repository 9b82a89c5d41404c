package agreement

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/judges/outcome"
)

// Theirs is what the subnet itself says of an attempt, or of a run, whose key has no
// problem. Agent is the run's version, empty where unknown.
type Theirs struct {
	Key
	Agent string
	arena.Findings
}

// Carried are the subnet's own findings of runs.
type Carried struct {
	All   []Theirs
	known map[string]bool
}

// Add takes in what a run carries, and what of its attempts by problem; the first word
// on a run counts.
func (c *Carried) Add(run, agent string, f arena.Findings, attempts map[string]arena.Findings) {
	if c.Knows(run) || f == (arena.Findings{}) && len(attempts) == 0 {
		return
	}
	if c.known == nil {
		c.known = map[string]bool{}
	}
	c.known[run] = true
	c.All = append(c.All, Theirs{Key{Run: run}, agent, f})
	for _, problem := range slices.Sorted(maps.Keys(attempts)) {
		c.All = append(c.All, Theirs{Key{Run: run, Problem: problem}, agent, attempts[problem]})
	}
}

// Knows reports whether a run carries anything.
func (c *Carried) Knows(run string) bool { return c.known[run] }

// The figures of what a run carries, and of what it carries of an attempt.
const (
	FigureQuality     = "reasoning_quality"
	FigureCoefficient = "reasoning_coefficient" // what the subnet's rule makes of the judge's mean
	FigureScore       = "validator_score"       // successes times the run's own coefficient

	FigureAttemptScore   = "score"
	FigureAttemptQuality = "reasoning_score"
	FigureMultiplier     = "multiplier" // what the subnet's rule makes of both grades
)

// Figures are all of them, those of runs first.
var Figures = []string{FigureScore, FigureQuality, FigureCoefficient, FigureAttemptScore, FigureAttemptQuality, FigureMultiplier}

// OfAttempts reports whether a figure is told attempt by attempt.
func OfAttempts(figure string) bool { return slices.Index(Figures, figure) > 2 }

// says is a figure, nil where it is not carried, and what our mean becomes before it is
// held against it.
func (t *Theirs) says(figure string) (value *float64, of func(mean float64) float64) {
	of = func(mean float64) float64 { return mean }
	switch {
	case OfAttempts(figure) != (t.Problem != ""):
		return nil, nil
	case figure == FigureQuality, figure == FigureAttemptQuality:
		return t.Quality, of
	case figure == FigureCoefficient:
		return t.Coefficient, outcome.Multiplier
	case figure == FigureMultiplier && t.Quality != nil:
		return new(outcome.Multiplier(*t.Quality)), outcome.Multiplier
	case figure == FigureMultiplier:
		return nil, nil
	case t.Coefficient != nil:
		of = func(mean float64) float64 { return mean * *t.Coefficient }
	}
	return t.Score, of
}

// Validator holds a judge against the validator's own, run by run, the mean of its
// grades against what the run carries, or attempt by attempt.
type Validator struct {
	Judge string `json:"judge"`
	// Figure is what the subnet's own is of, Category that of the attempts it is told of.
	Figure   string `json:"figure"`
	Category string `json:"category,omitempty"`
	// Runs counts those that both graded, Attempts the judge's grades in them.
	Runs     int `json:"runs"`
	Attempts int `json:"attempts"`
	Agents   int `json:"agents"`
	// Coverage is the share that the judge graded of the runs, or attempts, that carry the figure.
	Coverage float64 `json:"coverage"`
	// Bias is the mean of the judge's quality less the validator's, Distance the mean
	// of that without its sign, Correlation Pearson's. Intervals draw agents.
	Bias        Figure `json:"bias"`
	Distance    Figure `json:"distance"`
	Correlation Figure `json:"correlation"`
}

// qualities are those of runs, by the validator and by a judge.
type qualities struct{ validator, judge []float64 }

// AgainstValidator compares a judge with the validator's by one of Figures, category by
// category. What the subnet does not say is left out.
func AgainstValidator(figure string, theirs []Theirs, judge *Ratings, opt Options) (all []Validator) {
	grades := map[Key][]float64{}
	for key, score := range judge.Scores {
		if score != nil {
			grades[key], grades[Key{Run: key.Run}] = []float64{*score}, append(grades[Key{Run: key.Run}], *score)
		}
	}
	categories := map[string][]*Theirs{}
	for i := range theirs {
		if value, _ := theirs[i].says(figure); value != nil {
			categories[theirs[i].Category] = append(categories[theirs[i].Category], &theirs[i])
		}
	}
	for _, category := range slices.Sorted(maps.Keys(categories)) {
		v := Validator{Judge: judge.Name, Figure: figure, Category: category}
		if v.compare(categories[category], grades, opt); v.Attempts > 0 {
			all = append(all, v)
		}
	}
	return all
}

func (v *Validator) compare(theirs []*Theirs, grades map[Key][]float64, opt Options) {
	at, runs, agents, compared := map[string]int{}, map[string]bool{}, []qualities{}, 0
	for _, t := range theirs {
		ours := grades[t.Key]
		if len(ours) == 0 {
			continue
		}
		slices.Sort(ours) // a sum of floats depends on its order
		compared++
		v.Attempts += len(ours)
		runs[t.Run] = true
		name := Key{Run: t.Run, Problem: t.Agent}.cluster()
		if _, known := at[name]; !known {
			at[name], agents = len(agents), append(agents, qualities{})
		}
		q := &agents[at[name]]
		value, of := t.says(v.Figure)
		q.validator, q.judge = append(q.validator, *value), append(q.judge, of(stat.Mean(ours, nil)))
	}
	v.Runs, v.Agents, v.Coverage = len(runs), len(agents), float64(compared)/float64(len(theirs))
	found := figures(len(agents), opt, func(drawn []int) []float64 { return compareQualities(agents, drawn) })
	v.Bias, v.Distance, v.Correlation = found[0], found[1], found[2]
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
