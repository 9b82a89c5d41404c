package filters

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Scored is one attempt with its success and its richness by three measures, each from 0 to 1. A
// measure that cannot be computed from the log is NaN and counts as 0, as it would in the
// subnet.
type Scored struct {
	Agent   string
	Problem string
	Success bool
	Agentic bool
	// Adaptivity is how much the agent's calls depend on earlier results, nil if the agent has
	// too few attempts that day.
	Adaptivity *float64
	Richness   [3]float64
}

// Measures are the names of the ways to compute a reward: from success alone, and from success
// times each of three measures of richness.
var Measures = [4]string{"base", "v1", "v2", "args"}

// Constants of the reward. A successful attempt gets reweightFloor + reweightGain × richness:
// 0.3 without richness and 1 with full richness.
const (
	reweightFloor = 0.3
	reweightGain  = 0.7
)

// Standing is one agent's line in the leaderboard. Its arrays have one value for each of
// Measures.
type Standing struct {
	Agent    string
	Attempts int
	// Agentic is the share of the agent's attempts whose calls the model decided.
	Agentic    float64
	Adaptivity *float64
	// Scores are the agent's mean rewards. Ranks are its ranks, counted from 1; agents with
	// equal scores are ranked by name.
	Scores [4]float64
	Ranks  [4]int
	// Gain is the agent's share of all reward minus its share by success alone. Low and High are
	// the ends of its 95 % interval, -1 and 1 if there is a single problem.
	Gain [4]float64
	Low  [4]float64
	High [4]float64
}

// Leaderboard is a simulation of the agents' standings if the subnet multiplied rewards by
// richness.
type Leaderboard struct {
	Standings []Standing
	// AgenticShare is the share of all reward that agentic attempts get, by each of Measures, and
	// AgenticInterval its 95 % interval over Problems, the number of problems; 0 to 1 if that is 1.
	AgenticShare    [4]float64
	AgenticInterval [4]stats.Interval
	Problems        int
}

// rewards returns the reward of an attempt by each of Measures. A failure gets 0. A success gets 1
// by the first measure, and 0.3 + 0.7 × richness by each of the others, where a richness of NaN
// counts as 0.
func (s *Scored) rewards() [4]float64 {
	if !s.Success {
		return [4]float64{}
	}
	r := [4]float64{1}
	for i, richness := range s.Richness {
		if math.IsNaN(richness) {
			richness = 0
		}
		r[i+1] = reweightFloor + float64(reweightGain*richness)
	}
	return r
}

// Reweight computes the leaderboard. The intervals treat problems as independent of each other,
// but not attempts, since attempts at one problem succeed or fail together.
func Reweight(attempts []Scored) Leaderboard {
	total := problemRewards{}
	agentic := problemRewards{}
	byAgent := map[string]problemRewards{}
	standings := map[string]*Standing{}
	for i := range attempts {
		s := &attempts[i]
		if standings[s.Agent] == nil {
			standings[s.Agent] = &Standing{Agent: s.Agent}
			byAgent[s.Agent] = problemRewards{}
		}
		standing := standings[s.Agent]
		standing.Attempts++
		standing.Adaptivity = s.Adaptivity
		byAgent[s.Agent].add(s)
		total.add(s)
		if s.Agentic {
			standing.Agentic++
			agentic.add(s)
		}
	}

	problems := slicesx.SortedKeys(total)
	b := Leaderboard{Problems: len(problems)}
	for k := range Measures {
		b.AgenticShare[k] = agentic.shareOf(total, problems, k)
		_, se := stats.Ratio(agentic.sums(problems, k), total.sums(problems, k))
		b.AgenticInterval[k] = stats.Interval{High: 1}
		if !math.IsNaN(se) {
			b.AgenticInterval[k] = stats.T95(b.AgenticShare[k], se, len(problems))
		}
	}
	for _, name := range slicesx.SortedKeys(standings) {
		s := standings[name]
		s.Agentic /= float64(s.Attempts)
		for k := range Measures {
			s.Scores[k] = byAgent[name].sum(problems, k) / float64(s.Attempts)
			s.Gain[k], s.Low[k], s.High[k] = byAgent[name].gain(total, problems, k)
		}
		b.Standings = append(b.Standings, *s)
	}
	rank(b.Standings)
	return b
}

// problemRewards maps each problem to the sums of the rewards of its attempts, one sum for each of
// Measures (the ways to compute a reward).
type problemRewards map[string][4]float64

func (r problemRewards) add(s *Scored) {
	sums := r[s.Problem]
	for k, reward := range s.rewards() {
		sums[k] += reward
	}
	r[s.Problem] = sums
}

// sums returns the rewards for each of the given problems by the measure Measures[k].
func (r problemRewards) sums(problems []string, k int) []float64 {
	return slicesx.Map(problems, func(p string) float64 { return r[p][k] })
}

// sum returns the sum of the rewards for the given problems by the measure Measures[k].
func (r problemRewards) sum(problems []string, k int) float64 {
	sum := 0.0
	for _, p := range problems {
		sum += r[p][k]
	}
	return sum
}

// shareOf returns the sum of r as a share of the sum of total, both for the given problems and
// the measure Measures[k]. It returns 0 if the sum of total is 0.
func (r problemRewards) shareOf(total problemRewards, problems []string, k int) float64 {
	sum := total.sum(problems, k)
	if sum <= 0 {
		return 0
	}
	return r.sum(problems, k) / sum
}

// gain returns how much the agent's share of all reward changes if rewards are computed by
// Measures[k] instead of by success alone, with a 95 % interval. r has the agent's rewards, total
// those of all agents. The interval treats problems as independent and linearises the two shares.
// It is -1 to 1 if there is one problem. All results are 0 if nothing was rewarded.
func (r problemRewards) gain(
	total problemRewards,
	problems []string,
	k int,
) (gain, low, high float64) {
	baseTotal := total.sum(problems, 0)
	measureTotal := total.sum(problems, k)
	if baseTotal <= 0 || measureTotal <= 0 {
		return 0, 0, 0
	}
	before := r.shareOf(total, problems, 0)
	after := r.shareOf(total, problems, k)
	n := len(problems)
	if n < 2 {
		return after - before, -1, 1
	}

	squares := 0.0
	for _, p := range problems {
		afterTerm := (r[p][k] - float64(after*total[p][k])) / measureTotal
		beforeTerm := (r[p][0] - float64(before*total[p][0])) / baseTotal
		d := afterTerm - beforeTerm
		squares += float64(d * d)
	}
	se := math.Sqrt(squares * float64(n) / float64(n-1))
	interval := stats.T95(after-before, se, n)
	return after - before, interval.Low, interval.High
}

// rank sets the ranks of all standings by each measure, counted from 1; equal scores are ranked
// by name. It leaves the standings sorted by success alone.
func rank(standings []Standing) {
	for k := range slices.Backward(Measures[:]) {
		slicesx.SortFunc(standings, func(a, b Standing) int {
			return cmp.Or(cmp.Compare(b.Scores[k], a.Scores[k]), strings.Compare(a.Agent, b.Agent))
		})
		for i := range standings {
			standings[i].Ranks[k] = i + 1
		}
	}
}

// RichnessOf returns the richness of an attempt by three measures. A measure is NaN if it cannot
// be computed from the log.
func RichnessOf(s *arena.Structure) [3]float64 {
	r := [3]float64{
		math.NaN(),
		math.NaN(),
		math.NaN(),
	}
	if s.RichnessV1 != nil {
		r[0] = *s.RichnessV1
	}
	if s.RichnessV2 != nil {
		r[1] = *s.RichnessV2
	}
	isCopied := func(v arena.Verdict) bool { return v.Reason == habits.CopiedDialogue }
	if s.Axis == arena.AxisScripted || slices.ContainsFunc(s.Verdicts, isCopied) {
		r[2] = 0 // a program or another agent wrote it, even if its replies name calls
		return r
	}
	r[2] = feature(s, featureRichness, math.NaN())
	return r
}
