package filters

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// RankScore is what attempts at one problem are ranked by, 0 to 1, more is better: it joins
// the signals among a verdict's features, each 0 to 1 as well; docs/filter-evidence.md
// derives the formulas. A verified answer and a way without loops weigh most: the first is
// what a student should learn, the second what it must not lose.
func RankScore(s *arena.Structure) float64 {
	return float64(0.35*feature(s, "verified", 0)) + float64(0.35*feature(s, "regular", 0)) + float64(0.15*feature(s, "depth", 0)) + float64(0.15*feature(s, "reformulations", 0))
}

// feature is the value behind a verdict that has this name, or none.
func feature(s *arena.Structure, name string, none float64) float64 {
	for _, f := range s.Features {
		if f.Name == name {
			return f.Value
		}
	}
	return none
}

// depth is 1 - 1/(1 + n/8) over n turns that think and tools called.
func depth(a *evidence.Attempt) float64 {
	thinking := slicesx.CountFunc(a.Dialogue.Turns, func(t *arena.Turn) bool { return t.Think != "" })
	return 1 - 1/(1+float64(float64(thinking+len(a.Claims))/8))
}

// before reports whether a call like the one at i, of the same tool, came before it.
func before(all []evidence.Claim, i int, same func(a, b *evidence.Act) bool) bool {
	return slices.ContainsFunc(all[:i], func(c evidence.Claim) bool {
		return c.Act.Tool == all[i].Act.Tool && same(&c.Act, &all[i].Act)
	})
}

// reformulations is 1 - 1/(1 + n) over n searches whose words differ from all before,
// beyond the first; another page of the same query is none.
func reformulations(all []evidence.Claim) float64 {
	n, sameWords := 0, func(a, b *evidence.Act) bool { return slices.Equal(a.Words, b.Words) }
	for i := range all {
		n += int(evidence.Flag(all[i].Act.Tool == evidence.ToolFind && !before(all, i, sameWords)))
	}
	return 1 - 1/(1+float64(max(n-1, 0)))
}

// verified is the share of the last recommendation's products that a call opened or
// matched before, and was answered.
func verified(a *evidence.Attempt) float64 {
	last := a.LastRecommendation()
	if last < 0 {
		return 0
	}
	ids := a.Claims[last].Act.IDs
	seen := slicesx.CountFunc(ids, func(id *string) bool {
		return slices.ContainsFunc(a.Claims[:last], func(c evidence.Claim) bool {
			return (c.Act.Tool == evidence.ToolView || c.Act.Tool == evidence.ToolMatch) && slices.Contains(c.Act.IDs, *id) && c.Call.Result != ""
		})
	})
	return float64(seen) / float64(max(len(ids), 1))
}

// regular is 1 minus the share of catalogue calls that ask for what was asked before, or
// that swing between two requests.
func regular(all []evidence.Claim) float64 {
	n, total := 0, 0
	for i := range all {
		if all[i].Act.Tool.IsCatalogue() {
			total++
			n += int(evidence.Flag(before(all, i, (*evidence.Act).SameRequest)))
		}
	}
	return 1 - float64(n)/float64(max(total, 1))
}
