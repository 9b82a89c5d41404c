package filters

import (
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// RankScore returns a score from 0 to 1 that ranks the attempts at one problem, the highest
// first. It is a weighted sum of four features from 0 to 1, whose formulas
// docs/filter-evidence.md derives. A verified answer and a path without loops have the largest
// weights: a student should learn the first, and must not unlearn the second.
func RankScore(s *arena.Structure) float64 {
	return float64(0.35*feature(s, "verified", 0)) +
		float64(0.35*feature(s, "regular", 0)) +
		float64(0.15*feature(s, "depth", 0)) +
		float64(0.15*feature(s, "reformulations", 0))
}

// feature returns the value of the named feature of an attempt. It returns missing if s has no such
// feature.
func feature(s *arena.Structure, name string, missing float64) float64 {
	for _, f := range s.Features {
		if f.Name == name {
			return f.Value
		}
	}
	return missing
}

// depth returns how much an attempt thinks and acts, one of the numbers in the output that describe
// an attempt, from 0 to below 1. It is 1 - 1/(1 + n/8), where n is the number of turns with
// thoughts plus the number of calls.
func depth(a *evidence.Attempt) float64 {
	thinking := slicesx.CountFunc(a.Dialogue.Turns, func(t *arena.Turn) bool {
		return t.Think != ""
	})
	return 1 - 1/(1+float64(float64(thinking+len(a.Claims))/8))
}

// hasEarlier reports whether a call before claims[i] has the same tool and is equal to claims[i]
// by the function equal.
func hasEarlier(
	claims []evidence.Claim,
	i int,
	equal func(a, b *evidence.Act) bool,
) bool {
	return slices.ContainsFunc(claims[:i], func(c evidence.Claim) bool {
		return c.Act.Tool == claims[i].Act.Tool &&
			equal(&c.Act, &claims[i].Act)
	})
}

// reformulations returns how often an attempt tries another search, one of the numbers in the
// output that describe an attempt, from 0 to below 1. It is 1 - 1/(1 + n), where n is the number of
// searches after the first whose words differ from those of every earlier search. Another page of
// the same search does not count.
func reformulations(claims []evidence.Claim) float64 {
	equalWords := func(a, b *evidence.Act) bool {
		return slices.Equal(a.Words, b.Words)
	}
	n := 0
	for i := range claims {
		if claims[i].Act.Tool == evidence.ToolFind && !hasEarlier(claims, i, equalWords) {
			n++
		}
	}
	return 1 - 1/(1+float64(max(n-1, 0)))
}

// verified returns the share of the finally committed items that an earlier call opened or
// matched against the request, with a result. It returns 0 if nothing is committed.
func verified(a *evidence.Attempt) float64 {
	last := a.LastCommit()
	if last < 0 {
		return 0
	}
	ids := a.Claims[last].Act.IDs
	n := slicesx.CountFunc(ids, func(id *string) bool {
		return wasOpened(a.Claims[:last], *id)
	})
	return float64(n) / float64(max(len(ids), 1))
}

// wasOpened reports whether one of the calls opened the item or matched it against the
// request, and got a result.
func wasOpened(claims []evidence.Claim, id string) bool {
	return slices.ContainsFunc(claims, func(c evidence.Claim) bool {
		opens := c.Act.Tool == evidence.ToolView || c.Act.Tool == evidence.ToolMatch
		return opens && slices.Contains(c.Act.IDs, id) && c.Call.Result != ""
	})
}

// regular returns 1 minus the share of calls to the tool server that repeat an earlier call with the
// same tool and arguments. It returns 1 if there are no calls.
func regular(claims []evidence.Claim) float64 {
	repeated := 0
	total := 0
	for i := range claims {
		if !claims[i].Act.Tool.IsCatalogue() {
			continue
		}
		total++
		if hasEarlier(claims, i, (*evidence.Act).SameRequest) {
			repeated++
		}
	}
	return 1 - float64(repeated)/float64(max(total, 1))
}
