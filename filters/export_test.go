package filters

import (
	"github.com/trajectory-arena/arena/filters/habits"
)

// RevisedOdds is the sum of both passes, before it is turned into a claim.
func RevisedOdds(f *Filter, s habits.Sample, a *habits.Agent) float64 {
	odds, _ := f.revisedOdds(&s, a)
	return odds
}

// AgentDay gives the habits in all samples of one agent's day.
func AgentDay(f *Filter, day []habits.Sample) *habits.Agent {
	return habits.Of(day, nil, f.cfg.MinAttempts)
}
