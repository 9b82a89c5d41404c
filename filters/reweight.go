package filters

import (
	"cmp"
	"math"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// Scored is one attempt with its success and its richness by three measures;
// a measure the log cannot answer counts as 0, as the subnet would have it.
type Scored struct {
	Agent    string
	Problem  string
	Success  bool
	Agentic  bool
	Richness [3]float64
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
	Agentic float64
	Base    float64
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
	ones := make([]float64, len(t.problems))
	for i := range ones {
		ones[i] = 1
	}
	totals, shares := t.sum(ones)
	b := Leaderboard{BaseShare: shares[0], Shares: [3]float64(shares[1:])}
	for i, name := range t.agents {
		n := float64(max(t.attempts[i], 1))
		s := Standing{Agent: name, Attempts: t.attempts[i], Agentic: float64(t.agentic[i]) / n, Base: totals[i][0] / n}
		for k := range s.Scores {
			s.Scores[k] = totals[i][k+1] / n
		}
		b.Standings = append(b.Standings, s)
	}
	t.intervals(b.Standings, totals)
	rank(b.Standings)
	return b
}

// tally is the reward by agent and problem.
type tally struct {
	agents, problems  []string
	attempts, agentic []int
	// cells is reward by problem and agent, agenticCells that of agentic
	// attempts alone by problem.
	cells        [][][4]float64
	agenticCells [][4]float64
}

func newTally(all []Scored) *tally {
	t := &tally{}
	for i := range all {
		t.agents = append(t.agents, all[i].Agent)
		t.problems = append(t.problems, all[i].Problem)
	}
	t.agents, t.problems = distinct(t.agents), distinct(t.problems)
	t.attempts, t.agentic = make([]int, len(t.agents)), make([]int, len(t.agents))
	t.cells, t.agenticCells = make([][][4]float64, len(t.problems)), make([][4]float64, len(t.problems))
	for i := range t.cells {
		t.cells[i] = make([][4]float64, len(t.agents))
	}
	for i := range all {
		s := &all[i]
		a, _ := slices.BinarySearch(t.agents, s.Agent)
		p, _ := slices.BinarySearch(t.problems, s.Problem)
		t.attempts[a]++
		t.agentic[a] += int(evidence.Flag(s.Agentic))
		for k, r := range s.reward() {
			t.cells[p][a][k] += r
			t.agenticCells[p][k] += r * evidence.Flag(s.Agentic)
		}
	}
	return t
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// sum adds the rewards with a weight for each problem. shares is the agentic
// part of all.
func (t *tally) sum(weights []float64) (totals [][4]float64, shares [4]float64) {
	totals = make([][4]float64, len(t.agents))
	var all [4]float64
	for p, w := range weights {
		if w == 0 {
			continue
		}
		for a := range totals {
			for k := range all {
				totals[a][k] += w * t.cells[p][a][k]
				all[k] += w * t.cells[p][a][k]
			}
		}
		for k := range shares {
			shares[k] += w * t.agenticCells[p][k]
		}
	}
	for k := range shares {
		if all[k] > 0 {
			shares[k] /= all[k]
		}
	}
	return totals, shares
}

// intervals fills the gains in reward share and their bootstrap bounds.
func (t *tally) intervals(standings []Standing, totals [][4]float64) {
	for i, g := range gains(totals) {
		standings[i].Gain = g
	}
	drawn := make([][][3]float64, len(standings))
	weights := make([]float64, len(t.problems))
	draw := sequence{state: evidence.HashSeed}
	for range resamples {
		clear(weights)
		for range weights {
			weights[draw.below(len(weights))]++
		}
		sums, _ := t.sum(weights)
		for i, g := range gains(sums) {
			drawn[i] = append(drawn[i], g)
		}
	}
	for i := range standings {
		for k := range standings[i].Gain {
			slices.SortFunc(drawn[i], func(a, b [3]float64) int { return cmp.Compare(a[k], b[k]) })
			standings[i].Low[k] = drawn[i][resamples/40][k]
			standings[i].High[k] = drawn[i][resamples-1-resamples/40][k]
		}
	}
}

// gains is how each agent's share of all reward changes by each measure.
func gains(totals [][4]float64) [][3]float64 {
	var all [4]float64
	for _, t := range totals {
		for k := range all {
			all[k] += t[k]
		}
	}
	out := make([][3]float64, len(totals))
	for i, t := range totals {
		for k := range out[i] {
			if all[0] > 0 && all[k+1] > 0 {
				out[i][k] = t[k+1]/all[k+1] - t[0]/all[0]
			}
		}
	}
	return out
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

// sequence is a seeded series of numbers (SplitMix64): the bootstrap gives the
// same interval in every run.
type sequence struct{ state uint64 }

func (q *sequence) below(n int) int {
	q.state += 0x9e3779b97f4a7c15
	z := q.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
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
	for _, f := range s.Features {
		if f.Name == featureRichness {
			r[2] = f.Value
		}
	}
	return r
}
