package race

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/trajectory-arena/arena/internal/stats"
)

// Standings are the agents of a race by their pooled score.
type Standings struct {
	// Spread is the standard deviation of one agent's score from race to race, or
	// from validator to validator where no agent has run two races; Of says which,
	// Freedom is how many differences it rests on. Without any there is no interval.
	Spread  float64 `json:"spread"`
	Of      string  `json:"of"`
	Freedom int     `json:"freedom"`
	Agents  []Agent `json:"agents"`
}

// Agent is one of the standings.
type Agent struct {
	ID    string  `json:"agent_version_id"`
	Name  string  `json:"name,omitempty"`
	Score float64 `json:"weighted_score"`
	// Races are those of the window that it ran, Runs the included runs of this race.
	Races int `json:"races"`
	Runs  int `json:"runs"`
	// Interval is a 95 % t interval, nil where the spread is not known.
	Interval *stats.Interval `json:"interval,omitempty"`
	// Best is the probability that its true score is the highest of all, 0 to 1; nil
	// where the spread is not known.
	Best   *float64 `json:"p_best,omitempty"`
	Winner bool     `json:"winner"`
}

func (d *Document) standings() *Standings {
	s, scores := &Standings{}, map[string][]float64{}
	for _, r := range d.counted() {
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
		windows, validators = append(windows, deltas), append(validators, runs)
		s.Agents = append(s.Agents, Agent{ID: q.Agent, Name: q.Name, Score: *q.Weighted, Races: len(deltas), Runs: len(runs), Winner: q.Agent == d.Detail.Race.Winner})
	}
	s.Of = "races"
	if s.Spread, s.Freedom = within(windows); s.Freedom == 0 {
		s.Of = "validators"
		s.Spread, s.Freedom = within(validators)
	}
	s.judge()
	slices.SortStableFunc(s.Agents, func(a, b Agent) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return s
}

// counted are the runs that count in the race: they ended well and have a score.
func (d *Document) counted() []run {
	return slices.DeleteFunc(slices.Clone(d.Runs), func(r run) bool {
		return !r.Included || r.Status != "SUCCESS" || r.Score == nil || r.RaceID != d.Detail.Race.ID
	})
}

// within is the standard deviation within groups, pooled over them.
func within(groups [][]float64) (sd float64, freedom int) {
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

func (s *Standings) judge() {
	unknown := func(a Agent) bool { return s.count(&a) == 0 }
	if s.Freedom == 0 || s.Spread == 0 || slices.ContainsFunc(s.Agents, unknown) {
		return
	}
	for i := range s.Agents {
		a := &s.Agents[i]
		between := stats.T95(a.Score, s.error(a), s.Freedom+1)
		best := s.best(i)
		a.Interval, a.Best = &between, &best
	}
}

// count is how many of what the spread is of an agent's score rests on.
func (s *Standings) count(a *Agent) int {
	if s.Of == "races" {
		return a.Races
	}
	return a.Runs
}

func (s *Standings) error(a *Agent) float64 { return s.Spread / math.Sqrt(float64(s.count(a))) }

// best integrates, over what agent i may truly have, the probability that all others
// have less: errors are normal and independent.
func (s *Standings) best(i int) (p float64) {
	const steps, reach = 2000, 8
	own := distuv.Normal{Mu: s.Agents[i].Score, Sigma: s.error(&s.Agents[i])}
	width := 2 * reach * own.Sigma / steps
	for k := range steps {
		x := own.Mu - float64(reach*own.Sigma) + float64((float64(k)+0.5)*width)
		mass := own.Prob(x) * width
		for j := range s.Agents {
			if j != i {
				mass *= distuv.Normal{Mu: s.Agents[j].Score, Sigma: s.error(&s.Agents[j])}.CDF(x)
			}
		}
		p += mass
	}
	return min(p, 1)
}

// winner: the race's winner has the highest score of the race, as it says.
func (d *Document) winner() Finding {
	id := d.Detail.Race.Winner
	if id == "" {
		return Finding{"winner", Unknown, "the race names none"}
	}
	top, own := math.Inf(-1), math.NaN()
	for _, q := range d.Detail.Qualifiers {
		if q.Score == nil {
			continue
		}
		top = max(top, *q.Score)
		if q.Agent == id {
			own = *q.Score
		}
	}
	said := d.Detail.Race.WinnerScore
	return found("winner", own == top && (said == nil || *said == own), fmt.Sprintf("%.4f, the highest is %.4f", own, top))
}

// Validator is how far one validator's scores lie from its peers', in score, with
// the 95 % t interval over the agents that both scored.
type Validator struct {
	Hotkey   string         `json:"validator_hotkey"`
	Agents   int            `json:"agents"`
	Delta    float64        `json:"mean_delta_vs_peers"`
	Interval stats.Interval `json:"interval"`
}

// biases are the published figures on validators with their intervals, the largest
// first. Of fewer than two agents there is none.
func (d *Document) biases() (all []Validator) {
	for _, v := range d.Variance.Validators {
		if v.Pairs > 1 {
			all = append(all, Validator{v.Hotkey, v.Pairs, v.Delta, stats.T95(v.Delta, v.StdDev/math.Sqrt(float64(v.Pairs)), v.Pairs)})
		}
	}
	slices.SortStableFunc(all, func(a, b Validator) int { return cmp.Compare(math.Abs(b.Delta), math.Abs(a.Delta)) })
	return all
}

// spread recomputes the validators' variance from the runs, where these are there.
func (d *Document) spread() Finding {
	if len(d.Runs) == 0 || d.Variance.Mean == nil {
		return Finding{"validator_variance", Unknown, "no runs, or no published variance"}
	}
	scores := map[string]map[string][]float64{}
	for _, r := range d.counted() {
		if scores[r.Agent] == nil {
			scores[r.Agent] = map[string][]float64{}
		}
		scores[r.Agent][r.Validator] = append(scores[r.Agent][r.Validator], *r.Score)
	}
	pairs, sum := 0, 0.0
	for _, agent := range slices.Sorted(maps.Keys(scores)) {
		by := scores[agent]
		if len(by) < 2 {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, given := range by {
			low, high = min(low, stat.Mean(given, nil)), max(high, stat.Mean(given, nil))
		}
		pairs++
		sum += high - low
	}
	mean := sum / float64(max(1, pairs))
	same := pairs == d.Variance.Pairs && math.Abs(mean-*d.Variance.Mean) < 1e-6
	return found("validator_variance", same, fmt.Sprintf("%d agents with two validators or more, mean spread %.6f; published %d, %.6f", pairs, mean, d.Variance.Pairs, *d.Variance.Mean))
}
