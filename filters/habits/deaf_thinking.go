package habits

import (
	"slices"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// deafThinking is the habit of choosing items after thoughts that mention nothing of the results,
// while no call shows that the agent read results. The thoughts are then likely written for show.
var deafThinking = Habit{
	Check: "deaf_thinking_v2", Reason: "deaf_thinking",
	Doc: "During the agent's day, it chooses items after long texts that never mention results, and no call shows that it read results.",
	// Models mention results in more than a fifth of such turns.
	estimate: func(a *Agent) Estimate {
		mentioned := choicesAfterText.Total(a)
		if mentioned.Whole == 0 || readsResults(a) {
			return Estimate{}
		}
		return mentioned.ramp(0, 0.34).complement()
	},
}

// readsResults reports whether the agent's calls show that it reads results. One of two signs is
// enough. In the first, at least a fifth of its turns after a result cite a number from one; models
// do so in a quarter. In the second, items that it chose from below the top of a list fit the
// request better than those above, in more than 0.525 of at least 18 cases. Random choices reach
// 0.18 to 0.51, since lists are sorted by fit, and fixed programs choose the top.
func readsResults(a *Agent) bool {
	cited := citingTurns.Total(a)
	if cited.Whole > 0 && cited.Share() >= 0.2 {
		return true
	}
	better := betterFits.Total(a)
	return better.Whole >= 18 && better.Share() > 0.525
}

// citingTurns counts the turns with calls that follow a result, and among them those whose text
// has a number of an earlier result.
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

// minThought is the minimum length of a turn's text in bytes. Shorter texts cannot mention much
// and are not counted.
const minThought = 24

// choicesAfterText counts the turns that choose items after a text of at least minThought bytes,
// and among them those whose text mentions a number or a title word from a result. A turn chooses
// if it opens items, matches them or gives the answer. Texts that never mention results are likely
// written for show.
var choicesAfterText = &Count{
	Name: "items taken after words about results",
	ratio: func(a *evidence.Attempt) Ratio {
		takesIDs := func(c evidence.Claim) bool {
			return c.Act.Tool.TakesIDs()
		}
		var r Ratio
		for i := range a.Support {
			s := &a.Support[i]
			calls := a.Claims[s.EarlierClaims:min(s.EarlierClaims+s.Calls, len(a.Claims))]
			if s.Length >= minThought && slices.ContainsFunc(calls, takesIDs) {
				r.add(s.Cites || a.QuotesTitle(s))
			}
		}
		return r
	},
}

// betterFits counts the opened or committed items that a search result lists below an item that was
// not chosen, and among them those that fit the request better than the average of the items above
// that were not chosen. Equal fits are not counted.
var betterFits = &Count{
	Name: "items from below the top that fit better",
	ratio: func(a *evidence.Attempt) Ratio {
		var r Ratio
		for i := range a.Claims {
			c := &a.Claims[i]
			if c.Act.Tool != evidence.ToolView && c.Act.Tool != evidence.ToolCommit {
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

// latestList returns the latest search before a.Claims[claim] whose results show the item with this
// id, and the item's index in these results. It returns nil and 0 if there is none.
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

// compareFit adds one case to r: whether the item at index rank of a list fits the customer's
// request better than the average of the items above it that were not chosen. The fit is the
// number of words that title and request have in common. It adds nothing if the fits are equal, all
// items above were chosen or titles are missing.
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
