package filters

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/dice"
)

// Scored is one attempt with its success and its richness by three measures;
// a measure the log cannot answer counts as 0, as the subnet would have it.
type Scored struct {
	Agent   string
	Problem string
	Success bool
	Agentic bool
	// Adaptivity is that of the agent's day, nil where it is too short.
	Adaptivity *float64
	Richness   [3]float64
}

// RichnessNames name the three measures.
var RichnessNames = [3]string{"v1", "v2", "args"}

// Reweight factors: an attempt without any richness keeps 0.3 of its score.
const (
	reweightFloor = 0.3
	reweightGain  = 0.7
)

// Standing is one agent's line in the leaderboard.
type Standing struct {
	Agent    string
	Attempts int
	// Agentic is the share of its attempts that the model decided.
	Agentic    float64
	Adaptivity *float64
	Base       float64
	// Scores are the base times 0.3 + 0.7 × richness, by measure.
	Scores [3]float64
	// BaseRank and Ranks count from 1, ties in the order of names.
	BaseRank int
	Ranks    [3]int
	// Low and High bound the change of the share of all reward that falls to
	// this agent, in 95 of 100 resamples of the problems.
	Low, High [3]float64
	// Gain is that change itself.
	Gain [3]float64
}

// Leaderboard is the simulation of the subnet's reweighting.
type Leaderboard struct {
	Standings []Standing
	// BaseShare and Shares are the part of all reward that goes to agentic
	// attempts.
	BaseShare float64
	Shares    [3]float64
}

// reward of one attempt under the base score and the three reweighted ones.
func (s *Scored) reward() (r [4]float64) {
	if !s.Success {
		return r
	}
	r[0] = 1
	for i, v := range s.Richness {
		if math.IsNaN(v) {
			v = 0
		}
		r[i+1] = reweightFloor + reweightGain*v
	}
	return r
}

// resamples of the bootstrap; the interval's ends then move by under a tenth of
// its width from seed to seed.
const resamples = 1000

// Reweight computes the leaderboard. The bootstrap draws whole problems, since
// attempts at one problem succeed or fail together.
func Reweight(all []Scored) Leaderboard {
	t := newTally(all)
	b := Leaderboard{Standings: t.standings}
	whole := t.sum(func(int) float64 { return 1 })
	b.BaseShare, b.Shares = whole.agentic[0], [3]float64(whole.agentic[1:])
	drawn := t.resample()
	for i := range b.Standings {
		s := &b.Standings[i]
		s.Agentic /= float64(s.Attempts)
		s.Base = whole.by[i][0] / float64(s.Attempts)
		for k := range s.Scores {
			s.Scores[k] = whole.by[i][k+1] / float64(s.Attempts)
			s.Gain[k] = whole.gain(i, k)
			gains := make([]float64, len(drawn))
			for n := range drawn {
				gains[n] = drawn[n].gain(i, k)
			}
			slices.Sort(gains)
			s.Low[k], s.High[k] = gains[resamples/40], gains[resamples-1-resamples/40]
		}
	}
	rank(b.Standings)
	return b
}

// tally is the reward by agent and problem.
type tally struct {
	standings []Standing
	// cells is reward by problem and agent, agentic that of agentic attempts alone.
	cells   [][][4]float64
	agentic [][4]float64
}

func newTally(all []Scored) *tally {
	agents, problems := map[string]int{}, map[string]int{}
	for i := range all {
		agents[all[i].Agent], problems[all[i].Problem] = 0, 0
	}
	t := &tally{cells: make([][][4]float64, len(problems)), agentic: make([][4]float64, len(problems))}
	for i, name := range slices.Sorted(maps.Keys(agents)) {
		agents[name] = i
		t.standings = append(t.standings, Standing{Agent: name})
	}
	for i, name := range slices.Sorted(maps.Keys(problems)) {
		problems[name], t.cells[i] = i, make([][4]float64, len(agents))
	}
	for i := range all {
		s, a, p := &all[i], agents[all[i].Agent], problems[all[i].Problem]
		t.standings[a].Attempts++
		t.standings[a].Agentic += evidence.Flag(s.Agentic)
		t.standings[a].Adaptivity = s.Adaptivity
		for k, r := range s.reward() {
			t.cells[p][a][k] += r
			t.agentic[p][k] += r * evidence.Flag(s.Agentic)
		}
	}
	return t
}

// sums are rewards by agent and of all, and the part of agentic attempts.
type sums struct {
	by           [][4]float64
	all, agentic [4]float64
}

// sum adds the rewards with a weight for each problem.
func (t *tally) sum(weight func(problem int) float64) *sums {
	s := &sums{by: make([][4]float64, len(t.standings))}
	for p := range t.cells {
		w := weight(p)
		for k := range s.all {
			for a := range s.by {
				s.by[a][k] += w * t.cells[p][a][k]
				s.all[k] += w * t.cells[p][a][k]
			}
			s.agentic[k] += w * t.agentic[p][k]
		}
	}
	for k := range s.all {
		if s.all[k] > 0 {
			s.agentic[k] /= s.all[k]
		}
	}
	return s
}

// gain is how an agent's share of all reward changes by a measure.
func (s *sums) gain(agent, k int) float64 {
	if s.all[0] <= 0 || s.all[k+1] <= 0 {
		return 0
	}
	return s.by[agent][k+1]/s.all[k+1] - s.by[agent][0]/s.all[0]
}

func (t *tally) resample() []*sums {
	drawn := make([]*sums, resamples)
	draw := dice.Roll(0)
	for n := range drawn {
		weights := make([]float64, len(t.cells))
		for range weights {
			weights[draw.N(len(weights))]++
		}
		drawn[n] = t.sum(func(p int) float64 { return weights[p] })
	}
	return drawn
}

func rank(s []Standing) {
	order := func(key func(*Standing) float64, set func(*Standing, int)) {
		slices.SortFunc(s, func(a, b Standing) int {
			return cmp.Or(cmp.Compare(key(&b), key(&a)), cmp.Compare(a.Agent, b.Agent))
		})
		for i := range s {
			set(&s[i], i+1)
		}
	}
	for k := range RichnessNames {
		order(func(x *Standing) float64 { return x.Scores[k] }, func(x *Standing, r int) { x.Ranks[k] = r })
	}
	order(func(x *Standing) float64 { return x.Base }, func(x *Standing, r int) { x.BaseRank = r })
}

// RichnessOf reads the three measures off a verdict; NaN where the log cannot
// answer.
func RichnessOf(s *arena.Structure) (r [3]float64) {
	r = [3]float64{math.NaN(), math.NaN(), math.NaN()}
	for i, p := range []*float64{s.RichnessV1, s.RichnessV2} {
		if p != nil {
			r[i] = *p
		}
	}
	if s.Axis == arena.AxisScripted {
		r[2] = 0 // whatever its replies name, the agent's day says that a program wrote it
		return r
	}
	for _, f := range s.Features {
		if f.Name == featureRichness {
			r[2] = f.Value
		}
	}
	return r
}
