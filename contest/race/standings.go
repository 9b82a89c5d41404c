package race

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Standings are the agents of a race, ordered by their score.
type Standings struct {
	// Spread is the standard deviation of one agent's score between races or, if no agent has
	// run two races, between validators. Basis tells which of the two. Freedom is the number of
	// degrees of freedom; if it is 0, there are no intervals.
	Spread  float64 `json:"spread"`
	Basis   string  `json:"of"`
	Freedom int     `json:"freedom"`
	Agents  []Agent `json:"agents"`
}

// The values of Standings.Basis.
const (
	basisRaces      = "races"
	basisValidators = "validators"
)

// Agent is the standing of one agent.
type Agent struct {
	ID    string  `json:"agent_version_id"`
	Name  string  `json:"name,omitempty"`
	Score float64 `json:"weighted_score"`
	// Races counts the races in the agent's window. Runs counts the agent's included runs of
	// this race.
	Races int `json:"races"`
	Runs  int `json:"runs"`
	// Interval is the 95 % t interval of the score, nil if the spread is unknown.
	Interval *stats.Interval `json:"interval,omitempty"`
	// Best is the probability, from 0 to 1, that the agent's true score is the highest. It is
	// nil if the spread is unknown.
	Best   *float64 `json:"p_best,omitempty"`
	Winner bool     `json:"winner"`
}

func (d *Document) standings() *Standings {
	s := &Standings{Basis: basisRaces}
	scores := map[string][]float64{}
	for _, r := range d.scoredRuns() {
		scores[r.Agent] = append(scores[r.Agent], *r.Score)
	}
	var windows, validators [][]float64
	for _, q := range d.Detail.Qualifiers {
		if q.Weighted == nil {
			continue
		}
		var deltas []float64
		for _, w := range q.Window {
			if !w.Seed && w.Score != nil {
				deltas = append(deltas, w.Delta)
			}
		}
		runs := scores[q.Agent]
		windows = append(windows, deltas)
		validators = append(validators, runs)
		s.Agents = append(s.Agents, Agent{
			ID:     q.Agent,
			Name:   q.Name,
			Score:  *q.Weighted,
			Races:  len(deltas),
			Runs:   len(runs),
			Winner: q.Agent == d.Detail.Race.Winner,
		})
	}
	s.Spread, s.Freedom = pooledSD(windows)
	if s.Freedom == 0 {
		s.Basis = basisValidators
		s.Spread, s.Freedom = pooledSD(validators)
	}
	s.addIntervals()
	slicesx.SortStableFunc(s.Agents, func(a, b Agent) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return s
}

// scoredRuns returns the evaluation runs that count in this race: they belong to it, are marked as
// included, have status SUCCESS and have a score.
func (d *Document) scoredRuns() []run {
	return slices.DeleteFunc(slices.Clone(d.Runs), func(r run) bool {
		return !r.Included || r.Status != "SUCCESS" || r.Score == nil || r.RaceID != d.Detail.Race.ID
	})
}

// pooledSD returns the standard deviation of values around the mean of their own group, pooled over
// all groups, and its degrees of freedom: the number of values minus the number of groups, groups
// of a single value left out. Both are 0 if no group has two values.
func pooledSD(groups [][]float64) (sd float64, freedom int) {
	sum := 0.0
	for _, g := range groups {
		if len(g) > 1 {
			sum += float64(stat.Variance(g, nil) * float64(len(g)-1))
			freedom += len(g) - 1
		}
	}
	if freedom == 0 {
		return 0, 0
	}
	return math.Sqrt(sum / float64(freedom)), freedom
}

// addIntervals sets two values for each agent: Interval, the 95 % interval of its score, and Best,
// the probability that its true score is the highest. It sets them for no agent if it is unknown
// how much scores of one agent vary, or if some agent has no observations.
func (s *Standings) addIntervals() {
	hasNone := func(a Agent) bool { return s.observations(&a) == 0 }
	if s.Freedom == 0 || s.Spread == 0 || slices.ContainsFunc(s.Agents, hasNone) {
		return
	}
	for i := range s.Agents {
		a := &s.Agents[i]
		interval := stats.T95(a.Score, s.standardError(a), s.Freedom+1)
		best := s.bestProbability(i)
		a.Interval = &interval
		a.Best = &best
	}
}

// observations returns how many values an agent's score is the average of: evaluation runs if the
// spread of scores was measured between validators, otherwise races.
func (s *Standings) observations(a *Agent) int {
	if s.Basis == basisRaces {
		return a.Races
	}
	return a.Runs
}

func (s *Standings) standardError(a *Agent) float64 {
	return s.Spread / math.Sqrt(float64(s.observations(a)))
}

// bestProbability computes the probability that agent i has the highest true score, assuming
// normal and independent errors. It integrates numerically over the agent's true score.
func (s *Standings) bestProbability(i int) float64 {
	const steps, reach = 2000, 8
	p := 0.0
	score := distuv.Normal{
		Mu:    s.Agents[i].Score,
		Sigma: s.standardError(&s.Agents[i]),
	}
	width := 2 * reach * score.Sigma / steps
	for k := range steps {
		x := score.Mu - float64(reach*score.Sigma) + float64((float64(k)+0.5)*width)
		mass := score.Prob(x) * width
		for j := range s.Agents {
			if j != i {
				mass *= distuv.Normal{
					Mu:    s.Agents[j].Score,
					Sigma: s.standardError(&s.Agents[j]),
				}.CDF(x)
			}
		}
		p += mass
	}
	return min(p, 1)
}

// checkWinner checks that the published winner has the highest score of all qualified agents,
// and that the published winning score, if there is one, is equal to it.
func (d *Document) checkWinner() Finding {
	id := d.Detail.Race.Winner
	if id == "" {
		return Finding{"winner", Unknown, "the race names none"}
	}
	highest := math.Inf(-1)
	winner := math.NaN()
	for _, q := range d.Detail.Qualifiers {
		if q.Score == nil {
			continue
		}
		highest = max(highest, *q.Score)
		if q.Agent == id {
			winner = *q.Score
		}
	}
	published := d.Detail.Race.WinnerScore
	ok := winner == highest && (published == nil || *published == winner)
	return newFinding("winner", ok, fmt.Sprintf("%.4f, the highest is %.4f", winner, highest))
}

// Validator is one validator's bias: the mean difference between its scores and those of the
// others, with a 95 % t interval over the agents that both scored.
type Validator struct {
	Hotkey   string         `json:"validator_hotkey"`
	Agents   int            `json:"agents"`
	Delta    float64        `json:"mean_delta_vs_peers"`
	Interval stats.Interval `json:"interval"`
}

// biases returns, for each validator with at least two agents that others scored too, how much
// higher it scores than the others as published, with an interval. The largest bias is first.
func (d *Document) biases() []Validator {
	var validators []Validator
	for _, v := range d.Variance.Validators {
		if v.Pairs > 1 {
			interval := stats.T95(
				v.Delta,
				v.StdDev/math.Sqrt(float64(v.Pairs)),
				v.Pairs,
			)
			validators = append(validators, Validator{v.Hotkey, v.Pairs, v.Delta, interval})
		}
	}
	slicesx.SortStableFunc(validators, func(a, b Validator) int {
		return cmp.Compare(math.Abs(b.Delta), math.Abs(a.Delta))
	})
	return validators
}

// checkVariance compares the published variance between validators with the one computed from
// the runs. The result is unknown if the document has no runs or no variance.
func (d *Document) checkVariance() Finding {
	if len(d.Runs) == 0 || d.Variance.Mean == nil {
		return Finding{"validator_variance", Unknown, "no runs, or no published variance"}
	}
	scores := map[string]map[string][]float64{}
	for _, r := range d.scoredRuns() {
		if scores[r.Agent] == nil {
			scores[r.Agent] = map[string][]float64{}
		}
		scores[r.Agent][r.Validator] = append(scores[r.Agent][r.Validator], *r.Score)
	}
	pairs := 0
	sum := 0.0
	for _, agent := range slicesx.SortedKeys(scores) {
		byValidator := scores[agent]
		if len(byValidator) < 2 {
			continue
		}
		low := math.Inf(1)
		high := math.Inf(-1)
		for _, values := range byValidator {
			mean := stat.Mean(values, nil)
			low = min(low, mean)
			high = max(high, mean)
		}
		pairs++
		sum += high - low
	}
	mean := sum / float64(max(1, pairs))
	ok := pairs == d.Variance.Pairs && math.Abs(mean-*d.Variance.Mean) < 1e-6
	return newFinding(
		"validator_variance",
		ok,
		fmt.Sprintf("%d agents with two validators or more, mean spread %.6f; published %d, %.6f", pairs, mean, d.Variance.Pairs, *d.Variance.Mean),
	)
}
