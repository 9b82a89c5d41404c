package agreement

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
)

// SubnetFinding is what the subnet itself found about an attempt, or about a run if the key has
// no problem. Agent is the agent version of the run, "" if unknown.
type SubnetFinding struct {
	Key
	Agent string
	arena.Findings
}

// SubnetFindings are the subnet's findings about runs and their attempts.
type SubnetFindings struct {
	Items []SubnetFinding
	runs  map[string]bool
}

// Add adds the findings about a run, and those about its attempts by problem. It does nothing if
// the run was added before or has no findings.
func (s *SubnetFindings) Add(
	run, agent string,
	f arena.Findings,
	attempts map[string]arena.Findings,
) {
	isEmpty := f == (arena.Findings{}) && len(attempts) == 0
	if isEmpty || s.Has(run) {
		return
	}
	if s.runs == nil {
		s.runs = map[string]bool{}
	}
	s.runs[run] = true
	s.Items = append(s.Items, SubnetFinding{Key{Run: run}, agent, f})
	for _, problem := range slicesx.SortedKeys(attempts) {
		s.Items = append(s.Items, SubnetFinding{Key{
			Run:     run,
			Problem: problem,
		}, agent, attempts[problem]})
	}
}

// Has reports whether the findings about a run were added.
func (s *SubnetFindings) Has(run string) bool { return s.runs[run] }

// The names of the figures that the subnet reports for a run, and then those for an attempt.
const (
	FigureQuality     = "reasoning_quality"
	FigureCoefficient = "reasoning_coefficient" // the subnet's formula applied to the judge's mean
	FigureScore       = "validator_score"       // successes times the run's own coefficient

	FigureAttemptScore   = "score"
	FigureAttemptQuality = "reasoning_score"
	FigureMultiplier     = "multiplier" // the subnet's formula applied to both grades
)

// Figures are the names of all figures, those of runs first.
var Figures = []string{FigureScore, FigureQuality, FigureCoefficient, FigureAttemptScore, FigureAttemptQuality, FigureMultiplier}

// IsPerAttempt reports whether the subnet reports the figure for attempts instead of runs.
func IsPerAttempt(figure string) bool { return slices.Index(Figures, figure) > 2 }

// value returns the subnet's value of the named figure, such as reasoning_score, for the run or
// attempt. It returns nil if the subnet does not report the figure for it.
func (s *SubnetFinding) value(figure string) *float64 {
	if IsPerAttempt(figure) != (s.Problem != "") {
		return nil
	}
	switch figure {
	case FigureQuality, FigureAttemptQuality:
		return s.Quality
	case FigureCoefficient:
		return s.Coefficient
	case FigureMultiplier:
		if s.Quality == nil {
			return nil
		}
		return new(outcome.Multiplier(*s.Quality))
	default:
		return s.Score
	}
}

// convert returns the mean of a judge's grades on the scale on which the subnet reports the named
// figure, so that the two can be compared.
func (s *SubnetFinding) convert(figure string, mean float64) float64 {
	switch figure {
	case FigureQuality, FigureAttemptQuality:
		return mean
	case FigureCoefficient, FigureMultiplier:
		return outcome.Multiplier(mean)
	default:
		if s.Coefficient == nil {
			return mean
		}
		return mean * *s.Coefficient
	}
}

// Validator compares a judge with the subnet's validator, for attempts or for runs. The value of
// a run is the mean of the judge's grades.
type Validator struct {
	Judge string `json:"judge"`
	// Figure is the name of the compared figure. Category is the category of the problems.
	Figure   string `json:"figure"`
	Category string `json:"category,omitempty"`
	// Runs is the number of runs that both graded. Attempts is the number of the judge's grades
	// in these runs.
	Runs     int `json:"runs"`
	Attempts int `json:"attempts"`
	Agents   int `json:"agents"`
	// Coverage is the share of the runs, or attempts, with the figure that the judge graded.
	Coverage float64 `json:"coverage"`
	// Bias is the mean of the judge's figure minus the validator's. Distance is the mean
	// absolute difference. Correlation is Pearson's. The intervals are computed by resampling
	// agents.
	Bias        Figure `json:"bias"`
	Distance    Figure `json:"distance"`
	Correlation Figure `json:"correlation"`
}

// figurePairs has two values of one figure (such as the reasoning score) for each run or attempt:
// the one by the subnet's own validator, and the one by the judge. The order of the runs or
// attempts is the same in both lists. A pair's weight is the number of attempts that it represents,
// or 1 for a run.
type figurePairs struct{ validator, judge, weights []float64 }

// grade is a judge's grade of an attempt, and the number of attempts that it represents: 1 over the
// probability with which the attempt was sampled.
type grade struct{ score, weight float64 }

// mean returns the mean of grades by their weights. It sorts them in place, because a sum of floats
// depends on its order.
func mean(grades []grade) float64 {
	slicesx.SortFunc(grades, func(a, b grade) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.weight, b.weight))
	})
	scores := slicesx.Map(grades, func(g grade) float64 { return g.score })
	weights := slicesx.Map(grades, func(g grade) float64 { return g.weight })
	return stat.Mean(scores, weights)
}

// AgainstValidator compares a judge with the validator by the named figure, for each category.
// Findings without the figure are not counted.
func AgainstValidator(
	figure string,
	findings []SubnetFinding,
	judge *Ratings,
	opt Options,
) []Validator {
	grades := map[Key][]grade{}
	for key, score := range judge.Scores {
		if score != nil {
			run := Key{Run: key.Run}
			g := grade{*score, 1 / judge.probability(key)}
			runGrades := append(grades[run], g)
			grades[key] = []grade{g}
			grades[run] = runGrades
		}
	}
	byCategory := map[string][]*SubnetFinding{}
	for i := range findings {
		if f := &findings[i]; f.value(figure) != nil {
			byCategory[f.Category] = append(byCategory[f.Category], f)
		}
	}
	var out []Validator
	for _, category := range slicesx.SortedKeys(byCategory) {
		v := Validator{Judge: judge.Name, Figure: figure, Category: category}
		v.compare(byCategory[category], grades, opt)
		if v.Attempts > 0 {
			out = append(out, v)
		}
	}
	return out
}

func (v *Validator) compare(
	findings []*SubnetFinding,
	grades map[Key][]grade,
	opt Options,
) {
	index := map[string]int{}
	runs := map[string]bool{}
	var agents []figurePairs
	compared := 0
	for _, f := range findings {
		judged := grades[f.Key]
		if len(judged) == 0 {
			continue
		}
		compared++
		v.Attempts += len(judged)
		runs[f.Run] = true
		name := Key{Run: f.Run, Problem: f.Agent}.cluster()
		i, ok := index[name]
		if !ok {
			i = len(agents)
			index[name] = i
			agents = append(agents, figurePairs{})
		}
		agents[i].validator = append(agents[i].validator, *f.value(v.Figure))
		agents[i].judge = append(agents[i].judge, f.convert(v.Figure, mean(judged)))
		agents[i].weights = append(agents[i].weights, weightOf(f, judged))
	}
	v.Runs = len(runs)
	v.Agents = len(agents)
	v.Coverage = float64(compared) / float64(len(findings))
	figures := bootstrap(len(agents), opt, func(drawn []int) []float64 {
		return compareFigures(agents, drawn)
	})
	v.Bias = figures[0]
	v.Distance = figures[1]
	v.Correlation = figures[2]
}

// weightOf returns the number of attempts that a finding of the subnet (its figures on one run or
// attempt) represents: 1 for a run, and the weight of the first of the judge's grades for an
// attempt. judged must not be empty.
func weightOf(f *SubnetFinding, judged []grade) float64 {
	if f.Problem == "" {
		return 1
	}
	return judged[0].weight
}

// compareFigures returns the bias, the mean distance and the correlation of judge and validator
// over a sample, which has indexes of agents. A statistic that is not defined is NaN.
func compareFigures(agents []figurePairs, sample []int) []float64 {
	var p figurePairs
	for _, i := range sample {
		p.validator = append(p.validator, agents[i].validator...)
		p.judge = append(p.judge, agents[i].judge...)
		p.weights = append(p.weights, agents[i].weights...)
	}
	n := floats.Sum(p.weights)
	var bias, distance float64
	for i, x := range p.judge {
		weight := p.weights[i] / n
		bias += float64((x - p.validator[i]) * weight)
		distance += float64(math.Abs(x-p.validator[i]) * weight)
	}
	if n == 0 {
		bias = math.NaN()
		distance = math.NaN()
	}
	return []float64{
		bias,
		distance,
		stat.Correlation(p.validator, p.judge, p.weights),
	}
}
