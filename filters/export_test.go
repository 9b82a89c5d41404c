package filters

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/filters/habits"
)

// RevisedOdds is the sum of both passes, before it is turned into a claim.
func RevisedOdds(s habits.Sample, a *habits.Agent) float64 {
	odds, _ := revisedOdds(a.Odds(&s), a)
	return odds
}

// AgentDay returns the habits in all samples of one agent's day.
func AgentDay(f *Filter, day []*habits.Sample) *habits.Agent {
	return habits.NewAgent("", slices.Values(day), habits.Index{}, f.cfg.MinAttempts)
}

// Rules names the rules of the first pass.
func Rules() (names []string) {
	for i := range rules {
		names = append(names, rules[i].name)
	}
	return names
}

// Odds are what each rule of the first pass adds, and whether the log bears on it at all.
func Odds(f *Filter, t *arena.Trace, d *arena.Dialogue) (odds []float64, decides bool) {
	a := evidence.Examine(t, d, f.tools)
	defer a.Release()
	for i := range rules {
		odds = append(odds, rules[i].odds(a))
	}
	return odds, hasEvidence(a)
}

// Without subtracts odds from the first pass's sum for an attempt.
func Without(s *arena.Structure, sample *habits.Sample, odds float64, decides bool) {
	if s.Axis == arena.AxisUnknown && sample.Score == 0 {
		return
	}
	sample.Score -= odds
	sample.Evidence = decides || sample.Score <= proof
	s.Axis, s.Confidence = decide(sample.Score, sample.Open, sample.Evidence)
	sample.Axis = s.Axis
}

// WithoutHabit calls run without the habit or proof that has this reason.
func WithoutHabit(reason string, run func()) {
	habitList := habits.All
	proofs := habits.Proofs
	defer func() {
		habits.All = habitList
		habits.Proofs = proofs
	}()
	habits.All = slices.DeleteFunc(slices.Clone(habitList), func(h habits.Habit) bool { return h.Reason == reason })
	habits.Proofs = slices.DeleteFunc(slices.Clone(proofs), func(p habits.Proof) bool { return p.Reason == reason })
	run()
}
