package filters

import (
	"github.com/trajectory-arena/arena/filters/checks"
	"github.com/trajectory-arena/arena/filters/habits"
)

// RevisedOdds is the sum of both passes, before it is turned into a claim.
var RevisedOdds = (*Filter).revisedOdds

// AgentDay gives the habits in all samples of one agent's day.
func AgentDay(f *Filter, day []habits.Sample) habits.AgentStats {
	return habits.AgentDay(day, nil, f.cfg.MinAttempts)
}

// HasOneMeasure reports whether a check has a value in just one of the passes.
func HasOneMeasure(c *checks.Check) bool { return (c.Measure == nil) != (c.OverDay == nil) }
