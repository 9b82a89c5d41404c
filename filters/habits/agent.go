// Package habits measures, over one agent's day, how far its calls depend on what
// came back, and what its words and searches rest on.
package habits

import (
	"math"
	"sort"

	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Tally is a counted share with its interval.
type Tally struct{ Part, Whole int }

// Share is NaN where nothing was counted.
func (t Tally) Share() float64 { return evidence.Share(t.Part, t.Whole) }

// Interval is the 95 % interval of the share (Wilson 1927); 0 to 1 where nothing
// was counted.
func (t Tally) Interval() (lo, hi float64) {
	w := stats.Wilson(t.Part, t.Whole)
	return w.Low, w.High
}

// AgentStats are the habits of one agent over one day.
type AgentStats struct {
	Attempts int
	// Common counts attempts with the commonest sequence of tools for their
	// size, Asked those with the commonest sequence of what they ask the shop for
	// their size and first request, Tops openings in rank order, Firsts
	// recommendations of what stood first, Citing turns after a result that speak
	// of what came back.
	Common Tally
	Asked  Tally
	Tops   Tally
	Firsts Tally
	Citing Tally
	// Spoken are the turns of Citing that take products after thinking aloud.
	// Poor and Good count searches that brought little and much, and how many of
	// either are followed by a search in other words; Better products taken from
	// below the top of a list, and how many fit the request better than those
	// passed over; Excerpts searches, and how many are cut out of the request.
	Spoken   Tally
	Poor     Tally
	Good     Tally
	Better   Tally
	Excerpts Tally
	// Forms are searches that use the same kinds of words of their request as
	// others of the day, and those of them in the commonest order. Cheapest,
	// Dearest and BestSold are openings out of lists that are not sorted so, and
	// those of them that follow just that order. Overrides are attempts with calls that
	// were replaced.
	Forms     Tally
	Cheapest  Tally
	Dearest   Tally
	BestSold  Tally
	Overrides Tally
	// Refusals are searches before which replies were turned down again and again,
	// AtOnce those that the first reply named, Course attempts that open the same
	// number of products as others each time, and never go back after it, Breadth
	// those that open that number, whatever comes after.
	Refusals Tally
	AtOnce   int
	Course   Tally
	Breadth  Tally
	// Ungrounded are numbers in thoughts and those that stood nowhere before,
	// UnseenIDs products in calls and those that nothing had shown, Foreknown
	// searches and those with words of the answer that nothing held.
	Ungrounded Tally
	UnseenIDs  Tally
	Foreknown  Tally
	// Told counts attempts in which a reply named a product before the shop had
	// shown it.
	Told int
	// offered are the products that any agent of the day found.
	offered Offered
	// Sequence is how surely the sequence of tools is the same for requests of
	// one size, Top and First how surely products are opened in rank order and
	// the first is recommended; each 0 to 1.
	Sequence float64
	Top      float64
	First    float64
	// Fixed is the least of the three: dependence on results in any one of them
	// is adaptivity. An agent that takes products with many words and none about
	// results must depend on them in what it does before, since a program picks
	// the best of three as well as a model.
	Fixed float64
	// Plan is how surely both tools and searches follow one plan whatever comes
	// back, Sorted how surely products are opened by price or sales alone.
	Plan   float64
	Sorted float64
	// Templates is the share of thoughts whose skeleton returns in another
	// attempt, 0 for agents that cite results: they fill their templates with
	// what they read.
	Templates float64
	// Pastes counts the requests that each episode answers.
	Pastes map[uint64]int
}

// Offered are products that the shop showed and somebody took, over the day of
// all agents, by the hashes of their ids. It tells an id that a model made up
// from one that it was told.
type Offered map[uint64]struct{}

// Add takes in what an attempt took.
func (o Offered) Add(s *Sample) {
	for _, id := range s.Taken {
		o[id] = struct{}{}
	}
}

// has reports whether one of the ids is on offer.
func (o Offered) has(ids []uint64) bool {
	for _, id := range ids {
		if _, ok := o[id]; ok {
			return true
		}
	}
	return false
}

// AgentDay measures the habits in all samples of one agent's day, which it sorts;
// found is what all agents of the day found.
func AgentDay(s []Sample, found Offered, minAttempts int) AgentStats {
	sort.Slice(s, func(i, j int) bool { return s[i].Attempt < s[j].Attempt })
	a := AgentStats{Attempts: len(s), Pastes: pastes(s), offered: found}
	a.Common, a.Asked = commonest(s)
	for i := range s {
		a.Tops = Tally{a.Tops.Part + s[i].TopViews, a.Tops.Whole + s[i].Views}
		a.Firsts = Tally{a.Firsts.Part + s[i].FirstPicks, a.Firsts.Whole + s[i].Picks}
		a.Citing = Tally{a.Citing.Part + s[i].Cited, a.Citing.Whole + s[i].Turns}
		a.Spoken = Tally{a.Spoken.Part + s[i].SpokenCited, a.Spoken.Whole + s[i].Spoken}
		a.Poor = Tally{a.Poor.Part + s[i].PoorAgain, a.Poor.Whole + s[i].Poor}
		a.Good = Tally{a.Good.Part + s[i].GoodAgain, a.Good.Whole + s[i].Good}
		a.Better = Tally{a.Better.Part + s[i].Better, a.Better.Whole + s[i].Better + s[i].Worse}
		a.Excerpts = Tally{a.Excerpts.Part + s[i].Excerpts, a.Excerpts.Whole + s[i].Searches}
		a.Told += int(evidence.Flag(s[i].Prescient > 0))
		a.Cheapest = Tally{a.Cheapest.Part + s[i].Cheapest, a.Cheapest.Whole + s[i].Openings}
		a.Dearest = Tally{a.Dearest.Part + s[i].Dearest, a.Dearest.Whole + s[i].Openings}
		a.BestSold = Tally{a.BestSold.Part + s[i].BestSold, a.BestSold.Whole + s[i].Openings}
		a.Overrides = Tally{a.Overrides.Part + s[i].Overridden, a.Overrides.Whole + s[i].Asked}
		a.Refusals = Tally{a.Refusals.Part + s[i].Refused, a.Refusals.Whole + s[i].Judged}
		a.AtOnce += s[i].AtOnce
	}
	a.Sorted = a.sortedViews()
	if len(s) < minAttempts {
		return a
	}
	a.Breadth = breadths(s)
	a.Sequence, a.Top, a.First = a.fixedSequence(), a.Tops.unbroken(), a.fixedPicks()
	a.Fixed = math.Min(a.Sequence, math.Min(a.Top, math.Max(a.First, a.Deaf())))
	a.Forms, a.Course = forms(s), courses(s)
	a.Plan = math.Min(a.steady(), math.Max(a.fixedForms(), a.searchesAgain()))
	a.Templates = templates(s)
	a.addGrounding(s)
	return a
}

// maxTold is how many attempts of a day may name a real product too early: ids
// have ten digits, so one is hardly chance and two are none.
const maxTold = 1

// Knew reports whether the attempt's answer came from elsewhere: no model makes up an
// id of ten digits that the shop has.
func (a *AgentStats) Knew(s *Sample) bool {
	return a.offered.has(s.Unseen) || s.Invented > 0 && a.Told > maxTold
}

// ExcerptLimit is the share of searches cut out of the request, by the lower
// bound of its interval, from which on queries count as a function of it.
const ExcerptLimit = 0.5

// CutOut is how surely searches are cut out of the request.
func (a *AgentStats) CutOut() float64 {
	lo, _ := a.Excerpts.Interval()
	return Ramp(lo, ExcerptLimit, ExcerptLimit+0.2)
}

// TemplateLimit is the share of returning skeletons that honest agents with
// short thoughts reach.
const TemplateLimit = 0.8
