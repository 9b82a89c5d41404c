package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

var _ = listed(&All, Habit{
	Check: "deaf_thinking_v2", Reason: "deaf_thinking",
	Doc: "Over the agent's day products are taken after many words, none of them about results, and no call shows that results were read.",
	// Models speak about results in more than a fifth of such turns.
	fixed: func(a *Agent) Estimate {
		if t := spoken.Total(a); t.Whole > 0 && !reads(a) {
			return t.ramped(0, 0.34).rest()
		}
		return Estimate{}
	},
})

// reads reports whether the day shows results to reach the calls: the agent cites
// them, as models that think do in a quarter of their turns, or takes from below the
// top what fits better than what it passed over. Dice take what fits worse, since
// lists are ordered by fit (0.18 to 0.51), and plans take nothing there.
func reads(a *Agent) bool {
	cited, taken := citing.Total(a), better.Total(a)
	return cited.Whole > 0 && cited.Share() >= 0.2 || taken.Whole >= 18 && taken.Share() > 0.525
}

var (
	citing = counted("turns after a result that cite results", func(a *evidence.Attempt) (t Ratio) {
		for i := range a.Said {
			t.add(a.Said[i].Cites)
		}
		return t
	})
	spoken = counted("products taken after words about results", func(a *evidence.Attempt) (t Ratio) {
		for _, s := range evidence.Each(a.Said) {
			made := a.Claims[s.Seen:min(s.Seen+s.Calls, len(a.Claims))]
			if s.Words >= minThought && slices.ContainsFunc(made, func(c evidence.Claim) bool { return c.Act.Tool.TakesProducts() }) {
				t.add(s.Cites || a.Quotes(s))
			}
		}
		return t
	})
	better = counted("products from below the top that fit better", func(a *evidence.Attempt) (t Ratio) {
		claimsOf(a, func(i int, c *evidence.Claim) {
			for _, id := range c.Act.IDs {
				choice(a, &t, i, id)
			}
		}, evidence.ToolView, evidence.ToolRecommend)
		return t
	})
)

// minThought is how many bytes make a thought that can be about something.
const minThought = 24

// choice holds a product that claim i takes against those that stood above it
// in the latest list with it and were passed over.
func choice(a *evidence.Attempt, t *Ratio, i int, id string) {
	for j := i - 1; j >= 0; j-- {
		list := &a.Claims[j]
		if list.Act.Tool != evidence.ToolFind {
			continue
		}
		if rank := slices.Index(list.Shown, id); rank >= 0 {
			weigh(a, t, list, rank, a.Claims[i].Act.IDs)
			return
		}
	}
}

// weigh holds the product at that rank of a list, one of those taken, against
// those above it that were not.
func weigh(a *evidence.Attempt, t *Ratio, list *evidence.Claim, rank int, taken []string) {
	if len(list.Titles) < len(list.Shown) {
		return
	}
	passed, sum := 0, 0
	for above, id := range list.Shown[:rank] {
		if !slices.Contains(taken, id) {
			passed++
			sum += a.Pad.Fit(list.Titles[above])
		}
	}
	if over := a.Pad.Fit(list.Titles[rank])*passed - sum; passed > 0 && over != 0 {
		t.add(over > 0)
	}
}
