package filters

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// RankSignals are what attempts at one problem are ranked by. Each is in 0 to
// 1, more is better; docs/filter.md derives the formulas.
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
		Depth:          1 - 1/(1+float64(thinking+len(all))/8),
		Reformulations: 1 - 1/(1+float64(reformulations(all))),
		Verified:       verified(all),
		Regular:        1 - repeats(all),
	}
}

// reformulations counts searches with words that no search before had, beyond
// the first.
func reformulations(all []evidence.Claim) int {
	n := 0
	for i := range all {
		if all[i].Act.Tool != evidence.ToolFind {
			continue
		}
		fresh := true
		for j := range all[:i] {
			if all[j].Act.Tool == evidence.ToolFind && evidence.SameHashes(all[j].Act.Words, all[i].Act.Words) {
				fresh = false
				break
			}
		}
		if fresh {
			n++
		}
	}
	return max(n-1, 0)
}

func verified(all []evidence.Claim) float64 {
	seen, total := 0, 0
	for i := range all {
		if all[i].Act.Tool != evidence.ToolRecommend {
			continue
		}
		seen, total = 0, len(all[i].Act.IDs)
		for _, id := range all[i].Act.IDs {
			if opened(all[:i], id) {
				seen++
			}
		}
	}
	if total == 0 {
		return 0
	}
	return float64(seen) / float64(total)
}

// opened reports whether a call looked at this very product and was answered.
func opened(before []evidence.Claim, id string) bool {
	for i := range before {
		a := &before[i].Act
		if (a.Tool == evidence.ToolView || a.Tool == evidence.ToolMatch) && evidence.HasID(a.IDs, id) && before[i].Call.Result != "" {
			return true
		}
	}
	return false
}

// repeats is the share of catalogue calls that ask for what was asked before,
// or that swing between two requests.
func repeats(all []evidence.Claim) float64 {
	n, total := 0, 0
	for i := range all {
		if !all[i].Act.Tool.Catalogue() {
			continue
		}
		total++
		for j := range all[:i] {
			if all[j].Act.SameRequest(&all[i].Act) {
				n++
				break
			}
		}
	}
	if total == 0 {
		return 0
	}
	return float64(n) / float64(total)
}

// Score joins the signals, 0 to 1. A verified answer and a way without loops
// weigh most: the first is what a student should learn, the second what it
// must not lose.
func (s RankSignals) Score() float64 {
	return 0.35*s.Verified + 0.35*s.Regular + 0.15*s.Depth + 0.15*s.Reformulations
}
