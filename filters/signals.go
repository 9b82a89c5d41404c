package filters

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// RankSignals are what attempts at one problem are ranked by. Each is in 0 to
// 1, more is better; docs/filter-evidence.md derives the formulas.
type RankSignals struct {
	// Depth is 1 - 1/(1 + n/8) over n turns that think and tools called.
	Depth float64
	// Reformulations is 1 - 1/(1 + n) over n searches whose words differ from
	// all before; another page of the same query is none.
	Reformulations float64
	// Verified is the share of recommended products that were opened or matched
	// before they were recommended.
	Verified float64
	// Regular is 1 minus the share of catalogue calls that repeat an earlier
	// one or belong to a ping-pong of two.
	Regular float64
}

// SignalsOf reads the signals off a verdict.
func SignalsOf(s *arena.Structure) (r RankSignals) {
	for _, f := range s.Features {
		switch f.Name {
		case "depth":
			r.Depth = f.Value
		case "reformulations":
			r.Reformulations = f.Value
		case "verified":
			r.Verified = f.Value
		case "regular":
			r.Regular = f.Value
		}
	}
	return r
}

func signals(d *arena.Dialogue, all []evidence.Claim) RankSignals {
	thinking := 0
	for i := range d.Turns {
		if d.Turns[i].Think != "" {
			thinking++
		}
	}
	return RankSignals{
		Depth:          1 - 1/(1+float64(float64(thinking+len(all))/8)),
		Reformulations: 1 - 1/(1+float64(reformulations(all))),
		Verified:       verified(all),
		Regular:        1 - repeats(all),
	}
}

// before reports whether a call like the one at i, of the same tool, came before it.
func before(all []evidence.Claim, i int, same func(a, b *evidence.Act) bool) bool {
	return slices.ContainsFunc(all[:i], func(c evidence.Claim) bool {
		return c.Act.Tool == all[i].Act.Tool && same(&c.Act, &all[i].Act)
	})
}

// reformulations counts searches with words that no search before had, beyond
// the first.
func reformulations(all []evidence.Claim) (n int) {
	sameWords := func(a, b *evidence.Act) bool { return slices.Equal(a.Words, b.Words) }
	for i := range all {
		n += int(evidence.Flag(all[i].Act.Tool == evidence.ToolFind && !before(all, i, sameWords)))
	}
	return max(n-1, 0)
}

// verified is the share of the last recommendation's products that a call looked at
// before, and was answered.
func verified(all []evidence.Claim) float64 {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Act.Tool != evidence.ToolRecommend {
			continue
		}
		seen, ids := 0, all[i].Act.IDs
		for _, id := range ids {
			seen += int(evidence.Flag(slices.ContainsFunc(all[:i], func(c evidence.Claim) bool {
				return (c.Act.Tool == evidence.ToolView || c.Act.Tool == evidence.ToolMatch) && slices.Contains(c.Act.IDs, id) && c.Call.Result != ""
			})))
		}
		return float64(seen) / float64(max(len(ids), 1))
	}
	return 0
}

// repeats is the share of catalogue calls that ask for what was asked before,
// or that swing between two requests.
func repeats(all []evidence.Claim) float64 {
	n, total := 0, 0
	for i := range all {
		if all[i].Act.Tool.Catalogue() {
			total++
			n += int(evidence.Flag(before(all, i, (*evidence.Act).SameRequest)))
		}
	}
	return float64(n) / float64(max(total, 1))
}

// Score joins the signals, 0 to 1. A verified answer and a way without loops
// weigh most: the first is what a student should learn, the second what it
// must not lose.
func (s RankSignals) Score() float64 {
	return float64(0.35*s.Verified) + float64(0.35*s.Regular) + float64(0.15*s.Depth) + float64(0.15*s.Reformulations)
}
