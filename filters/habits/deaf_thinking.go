package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

var deafThinking = Habit{
	Check: "deaf_thinking_v2", Reason: "deaf_thinking",
	Doc: "Over the agent's day products are taken after many words, none of them about results, and no call shows that results were read.",
	// Models mention results in more than a fifth of such turns.
	estimate: func(a *Agent) Estimate {
		mentioned := choicesAfterText.Total(a)
		if mentioned.Whole == 0 || readsResults(a) {
			return Estimate{}
		}
		return mentioned.ramp(0, 0.34).complement()
	},
}

// readsResults reports whether the calls of the day depend on results. The agent cites
// results, as models that think do in a quarter of their turns. Or it takes products from
// below the top that fit better than those that it passed over: dice take worse ones,
// since lists are ordered by fit (0.18 to 0.51), and fixed plans take none there.
func readsResults(a *Agent) bool {
	cited := citingTurns.Total(a)
	if cited.Whole > 0 && cited.Share() >= 0.2 {
		return true
	}
	better := betterFits.Total(a)
	return better.Whole >= 18 && better.Share() > 0.525
}

var citingTurns = &Count{
	Name: "turns after a result that cite results",
	ratio: func(a *evidence.Attempt) Ratio {
		var r Ratio
		for i := range a.Support {
			r.add(a.Support[i].Cites)
		}
		return r
	},
}

// minThought is the minimum length, in bytes, of a text that can be about something.
const minThought = 24

var choicesAfterText = &Count{
	Name: "products taken after words about results",
	ratio: func(a *evidence.Attempt) Ratio {
		takesProducts := func(c evidence.Claim) bool {
			return c.Act.Tool.TakesProducts()
		}
		var r Ratio
		for i := range a.Support {
			s := &a.Support[i]
			calls := a.Claims[s.EarlierClaims:min(s.EarlierClaims+s.Calls, len(a.Claims))]
			if s.Length >= minThought && slices.ContainsFunc(calls, takesProducts) {
				r.add(s.Cites || a.QuotesTitle(s))
			}
		}
		return r
	},
}

var betterFits = &Count{
	Name: "products from below the top that fit better",
	ratio: func(a *evidence.Attempt) Ratio {
		var r Ratio
		for i := range a.Claims {
			c := &a.Claims[i]
			if c.Act.Tool != evidence.ToolView && c.Act.Tool != evidence.ToolRecommend {
				continue
			}
			for _, id := range c.Act.IDs {
				if list, rank := latestList(a, i, id); list != nil {
					compareFit(a, &r, list, rank, c.Act.IDs)
				}
			}
		}
		return r
	},
}

// latestList returns the latest search before a claim that shows the product, and its rank
// there; nil if none does.
func latestList(
	a *evidence.Attempt,
	claim int,
	id string,
) (list *evidence.Claim, rank int) {
	for i := claim - 1; i >= 0; i-- {
		list := &a.Claims[i]
		if list.Act.Tool != evidence.ToolFind {
			continue
		}
		if rank := slices.Index(list.Shown, id); rank >= 0 {
			return list, rank
		}
	}
	return nil, 0
}

// compareFit counts whether the product at this rank of a list fits the request better
// than the products above it that were not chosen, on average. Equal fits do not count.
func compareFit(
	a *evidence.Attempt,
	r *Ratio,
	list *evidence.Claim,
	rank int,
	chosen []string,
) {
	if len(list.Titles) < len(list.Shown) {
		return
	}
	passedOver := 0
	sum := 0
	for i, id := range list.Shown[:rank] {
		if !slices.Contains(chosen, id) {
			passedOver++
			sum += a.Fit(list.Titles[i])
		}
	}
	difference := a.Fit(list.Titles[rank])*passedOver - sum
	if passedOver > 0 && difference != 0 {
		r.add(difference > 0)
	}
}
