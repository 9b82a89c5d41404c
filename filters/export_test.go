package filters

import "github.com/trajectory-arena/arena"

// RevisedOdds is the sum of both passes, before it is turned into a claim.
var RevisedOdds = (*Filter).revisedOdds

// AgentDay gives the habits in all samples of one agent's day.
func AgentDay(f *Filter, day []Sample) AgentStats { return f.agentDay(day, nil) }

// Listed is what a result shows: ids, titles, prices, sales, and the ids when
// they are read alone.
func Listed(result arena.Raw) (all [4][]string, ids []string) {
	l := new(pad).list(result)
	return [...][]string{l.shown, l.titles, l.prices, l.sales}, new(pad).shownIDs(result)
}

// IDsOf are the products that the filter reads from a call's arguments.
func IDsOf(args arena.Raw) []string {
	var a act
	a.read(new(pad), toolRecommend, args, false)
	return a.ids
}

// HasOneMeasure reports whether a check has a value in just one of the passes.
func HasOneMeasure(c *Check) bool { return (c.measure == nil) != (c.overDay == nil) }
