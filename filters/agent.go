package filters

import (
	"math"
	"sort"

	"github.com/trajectory-arena/arena"
)

// Tally is a counted share with its interval.
type Tally struct{ Part, Whole int }

// Share is NaN where nothing was counted.
func (t Tally) Share() float64 { return share(t.Part, t.Whole) }

// Interval is the 95 % interval of the share by Wilson's formula.
func (t Tally) Interval() (lo, hi float64) { return Wilson(t.Part, t.Whole) }

// AgentStats are the habits of one agent over one day.
type AgentStats struct {
	Attempts int
	// Common counts attempts with the commonest sequence of tools for their
	// size, Tops openings in rank order, Firsts recommendations of what stood
	// first, Citing turns after a result that speak of what came back.
	Common Tally
	Tops   Tally
	Firsts Tally
	Citing Tally
	// Sequence is how surely the sequence of tools is the same for requests of
	// one size, Top and First how surely products are opened in rank order and
	// the first is recommended; each 0 to 1.
	Sequence float64
	Top      float64
	First    float64
	// Fixed is the least of the three: dependence on results in any one of them
	// is adaptivity.
	Fixed float64
	// Templates is the share of thoughts whose skeleton returns in another
	// attempt, 0 for agents that cite results: they fill their templates with
	// what they read.
	Templates float64
	// pastes counts the requests that each episode answers.
	pastes map[uint64]int
}

// AgentDay measures the habits in all samples of one agent's day, in any order.
func (f *Filter) AgentDay(samples []Sample) AgentStats {
	s := append([]Sample(nil), samples...)
	sort.Slice(s, func(i, j int) bool { return s[i].Attempt < s[j].Attempt })
	a := AgentStats{Attempts: len(s), Common: commonest(s), pastes: pastes(s)}
	for i := range s {
		a.Tops = Tally{a.Tops.Part + s[i].TopViews, a.Tops.Whole + s[i].Views}
		a.Firsts = Tally{a.Firsts.Part + s[i].FirstPicks, a.Firsts.Whole + s[i].Picks}
		a.Citing = Tally{a.Citing.Part + s[i].Cited, a.Citing.Whole + s[i].Turns}
	}
	if len(s) < f.cfg.MinAttempts {
		return a
	}
	a.Sequence, a.Top, a.First = a.fixedSequence(), a.fixedViews(), a.fixedPicks()
	a.Fixed = math.Min(a.Sequence, math.Min(a.Top, a.First))
	if !a.cites() {
		a.Templates = templates(s)
	}
	return a
}

// pastes counts the distinct requests behind each episode.
func pastes(samples []Sample) map[uint64]int {
	type pair struct{ episode, query uint64 }
	seen := map[pair]bool{}
	n := map[uint64]int{}
	for i := range samples {
		p := pair{samples[i].Episode, samples[i].Query}
		if p.episode != 0 && !seen[p] {
			seen[p] = true
			n[p.episode]++
		}
	}
	return n
}

// commonest looks at requests of one size, by the number of products
// recommended: the attempts that use that size's commonest sequence of tools.
func commonest(samples []Sample) (t Tally) {
	sizes := map[int]map[uint64]int{}
	for i := range samples {
		s := &samples[i]
		if sizes[s.Slots] == nil {
			sizes[s.Slots] = map[uint64]int{}
		}
		sizes[s.Slots][s.Tools]++
	}
	for _, counts := range sizes {
		most, all := 0, 0
		for _, n := range counts {
			most, all = max(most, n), all+n
		}
		if all > 1 {
			t = Tally{t.Part + most, t.Whole + all}
		}
	}
	return t
}

// fixedSequence is how surely the sequence of tools is fixed. Honest agents stay
// below three quarters on the labelled day, so the interval's lower bound below
// 0.6; programs reach one, and 0.7 with the bound after eight attempts.
func (a *AgentStats) fixedSequence() float64 {
	lo, _ := a.Common.Interval()
	return ramp(lo, 0.6, 0.7)
}

// fixedViews is how surely every opening took the first products in order. An
// agent that looks at results departs from that order at least once in twenty
// openings; a dozen openings without any departure begin to say so. Who never
// opens anything has shown no choice, for or against: a quarter.
func (a *AgentStats) fixedViews() float64 {
	if a.Tops.Whole == 0 {
		return 0.25
	}
	return (1 - ramp(1-a.Tops.Share(), 0, 0.04)) * ramp(float64(a.Tops.Whole), 0, 12)
}

// fixedPicks is how surely the product recommended is the first one shown. Who
// compares recommends another than the first at least in a quarter of cases;
// an agent that never speaks of results must do so more often to be believed.
func (a *AgentStats) fixedPicks() float64 {
	if a.Firsts.Whole == 0 {
		return 0
	}
	p, least := a.Firsts.Share(), 0.73
	if !a.cites() {
		least = 0.65
	}
	return ramp(p-math.Sqrt(p*(1-p)/float64(a.Firsts.Whole)), least, least+0.05)
}

// cites says that the agent speaks of results. Models that think at all do so
// in a quarter of their turns.
func (a *AgentStats) cites() bool { return a.Citing.Whole > 0 && a.Citing.Share() >= 0.2 }

// ramp is 0 up to lo, 1 from hi on, straight between.
func ramp(x, lo, hi float64) float64 {
	return math.Min(math.Max((x-lo)/(hi-lo), 0), 1)
}

// templates is the share of thoughts whose skeleton stands in another attempt.
func templates(samples []Sample) float64 {
	type place struct {
		attempt int
		several bool
	}
	at := map[uint64]place{}
	for i := range samples {
		for _, t := range samples[i].Thoughts {
			if p, ok := at[t]; !ok {
				at[t] = place{attempt: i}
			} else if p.attempt != i {
				at[t] = place{attempt: i, several: true}
			}
		}
	}
	again, total := 0, 0
	for i := range samples {
		for _, t := range samples[i].Thoughts {
			total++
			if at[t].several {
				again++
			}
		}
	}
	if total == 0 {
		return 0
	}
	return float64(again) / float64(total)
}

// The log-odds that habits take from an attempt. A habit fixed in everything
// weighs more than all that naming can add; so does a pasted episode. Stock
// phrases without any result in them speak for a program, but not alone: some
// honest agents hardly think.
const (
	fixedOdds    = -9
	pastedOdds   = -12
	templateOdds = -2
)

// Revise is the second pass: what the agent's day says about one attempt. It
// changes the axis where the sum of both passes does, and never towards
// agentic: habits can show a program, not prove a model.
func (f *Filter) Revise(s arena.Structure, sample Sample, a AgentStats) arena.Structure {
	score := f.revisedOdds(sample, a)
	before := s.Axis
	s.Verdicts = append(s.Verdicts[:len(s.Verdicts):len(s.Verdicts)], f.habitVerdicts(a, a.pastes[sample.Episode])...)
	if before != arena.AxisScripted && score < sample.Score {
		s.Axis, s.Confidence = decide(score, sample.Evidence || score <= proof)
	}
	if before == s.Axis || s.Axis != arena.AxisScripted {
		return s
	}
	reasons := []string{ReasonScripted}
	for i := range s.Verdicts[len(s.Verdicts)-3:] {
		if v := &s.Verdicts[len(s.Verdicts)-3+i]; v.Value > v.Limit {
			v.Decision, v.Reason = arena.Drop, checkNamed(v.Check).Reason
			reasons = append(reasons, v.Reason)
		}
	}
	for _, r := range s.Reasons {
		if r != ReasonUnknown && r != ReasonUncertain {
			reasons = append(reasons, r)
		}
	}
	s.Reasons, s.Keep = reasons, false
	return s
}

// templateLimit is the share of returning skeletons that honest agents with
// short thoughts reach.
const templateLimit = 0.8

// revisedOdds is the sum of both passes.
func (f *Filter) revisedOdds(sample Sample, a AgentStats) float64 {
	score := sample.Score + fixedOdds*a.Fixed + templateOdds*ramp(a.Templates, templateLimit, templateLimit+0.1)
	if a.pastes[sample.Episode] > f.cfg.MaxPastes {
		score += pastedOdds
	}
	return score
}

func (f *Filter) habitVerdicts(a AgentStats, pasted int) []arena.Verdict {
	return []arena.Verdict{
		{Check: "fixed_habit_v1", Decision: arena.Keep, Value: a.Fixed, Limit: 0.5},
		{Check: "pasted_episode_v1", Decision: arena.Keep, Value: float64(pasted), Limit: float64(f.cfg.MaxPastes)},
		{Check: "template_thinking_v1", Decision: arena.Keep, Value: a.Templates, Limit: templateLimit},
	}
}

func checkNamed(name string) *Check {
	for i := range checks {
		if checks[i].Name == name {
			return &checks[i]
		}
	}
	return &Check{}
}

// Wilson is the 95 % interval of a share; 0 to 1 where nothing was counted.
func Wilson(part, whole int) (lo, hi float64) {
	if whole == 0 {
		return 0, 1
	}
	const z = 1.959964
	n, p := float64(whole), float64(part)/float64(whole)
	mid, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return math.Max((mid-half)/(1+z*z/n), 0), math.Min((mid+half)/(1+z*z/n), 1)
}
