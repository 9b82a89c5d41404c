package filters

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/stats"
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

// Measures name what rewards are counted by: success alone, and reweighted by each richness.
var Measures = [4]string{"base", "v1", "v2", "args"}

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
	// Scores are by measure: the base, and the base times 0.3 + 0.7 × richness. Ranks count
	// from 1, ties in the order of names.
	Scores [4]float64
	Ranks  [4]int
	// Gain is how the share of all reward that falls to this agent changes from the base
	// to each measure; Low and High bound it at 95 %, -1 to 1 for one problem.
	Gain, Low, High [4]float64
}

// Leaderboard is the simulation of the subnet's reweighting.
type Leaderboard struct {
	Standings []Standing
	// AgenticShare are the part of all reward that goes to agentic attempts, by measure.
	AgenticShare [4]float64
}

// reward of one attempt by each measure.
func (s *Scored) reward() (r [4]float64) {
	if !s.Success {
		return r
	}
	r[0] = 1
	for i, v := range s.Richness {
		if math.IsNaN(v) {
			v = 0
		}
		r[i+1] = reweightFloor + float64(reweightGain*v)
	}
	return r
}

// Reweight computes the leaderboard. Intervals take problems for independent of one
// another, since attempts at one problem succeed or fail together.
func Reweight(all []Scored) Leaderboard {
	b, by := Leaderboard{}, map[string]rewards{}
	whole, agentic := rewards{}, rewards{}
	agents := map[string]*Standing{}
	for _, s := range evidence.Each(all) {
		if agents[s.Agent] == nil {
			agents[s.Agent], by[s.Agent] = &Standing{Agent: s.Agent}, rewards{}
		}
		a := agents[s.Agent]
		a.Attempts++
		a.Agentic += evidence.Flag(s.Agentic)
		a.Adaptivity = s.Adaptivity
		by[s.Agent].add(s, 1)
		whole.add(s, 1)
		agentic.add(s, evidence.Flag(s.Agentic))
	}
	problems := slices.Sorted(maps.Keys(whole))
	for k := range Measures {
		b.AgenticShare[k] = agentic.share(whole, problems, k)
	}
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		s := agents[name]
		s.Agentic /= float64(s.Attempts)
		for k := range Measures {
			s.Scores[k] = by[name].sum(problems, k) / float64(s.Attempts)
			s.Gain[k], s.Low[k], s.High[k] = by[name].gain(whole, problems, k)
		}
		b.Standings = append(b.Standings, *s)
	}
	rank(b.Standings)
	return b
}

type rewards map[string][4]float64

func (r rewards) add(s *Scored, weight float64) {
	sum := r[s.Problem]
	for k, reward := range s.reward() {
		sum[k] += float64(weight * reward)
	}
	r[s.Problem] = sum
}

func (r rewards) sum(problems []string, k int) (sum float64) {
	for _, p := range problems {
		sum += r[p][k]
	}
	return sum
}

// share is the part of all reward, 0 where there is none.
func (r rewards) share(whole rewards, problems []string, k int) float64 {
	if all := whole.sum(problems, k); all > 0 {
		return r.sum(problems, k) / all
	}
	return 0
}

// gain is how the share of all reward changes by a measure, with the 95 % interval of
// the difference of the two ratios, linearised over problems.
func (r rewards) gain(whole rewards, problems []string, k int) (gain, low, high float64) {
	base, all := whole.sum(problems, 0), whole.sum(problems, k)
	if base <= 0 || all <= 0 {
		return 0, 0, 0
	}
	before, after, squares, n := r.share(whole, problems, 0), r.share(whole, problems, k), 0.0, len(problems)
	for _, p := range problems {
		d := (r[p][k]-float64(after*whole[p][k]))/all - (r[p][0]-float64(before*whole[p][0]))/base
		squares += float64(d * d)
	}
	of := stats.T95(after-before, math.Sqrt(squares*float64(n)/float64(n-1)), n)
	if n < 2 {
		of = stats.Interval{Low: -1, High: 1}
	}
	return after - before, of.Low, of.High
}

// rank leaves the standings in the order of the base.
func rank(s []Standing) {
	for k := range slices.Backward(Measures[:]) {
		slices.SortFunc(s, func(a, b Standing) int {
			return cmp.Or(cmp.Compare(b.Scores[k], a.Scores[k]), cmp.Compare(a.Agent, b.Agent))
		})
		for i := range s {
			s[i].Ranks[k] = i + 1
		}
	}
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
	copied := func(v arena.Verdict) bool { return v.Reason == habits.CopiedDialogue }
	if s.Axis == arena.AxisScripted || slices.ContainsFunc(s.Verdicts, copied) {
		r[2] = 0 // whatever its replies name, the day says that a program or another agent wrote it
		return r
	}
	r[2] = feature(s, featureRichness, r[2])
	return r
}
