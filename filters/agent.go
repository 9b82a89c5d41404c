package filters

import (
	"math"
	"slices"
	"sort"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Tally is a counted share with its interval.
type Tally struct{ Part, Whole int }

// Share is NaN where nothing was counted.
func (t Tally) Share() float64 { return share(t.Part, t.Whole) }

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
	offered offered
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
	// pastes counts the requests that each episode answers.
	pastes map[uint64]int
}

// offered are products that the shop showed and somebody took, over the day of
// all agents, by the hashes of their ids. It tells an id that a model made up
// from one that it was told.
type offered map[uint64]struct{}

// add takes in what an attempt took.
func (o offered) add(s *Sample) {
	for _, id := range s.Taken {
		o[id] = struct{}{}
	}
}

// has reports whether one of the ids is on offer.
func (o offered) has(ids []uint64) bool {
	for _, id := range ids {
		if _, ok := o[id]; ok {
			return true
		}
	}
	return false
}

// agentDay measures the habits in all samples of one agent's day, which it sorts;
// found is what all agents of the day found.
func (f *Filter) agentDay(s []Sample, found offered) AgentStats {
	sort.Slice(s, func(i, j int) bool { return s[i].Attempt < s[j].Attempt })
	a := AgentStats{Attempts: len(s), pastes: pastes(s), offered: found}
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
		a.Told += int(flag(s[i].Prescient > 0))
		a.Cheapest = Tally{a.Cheapest.Part + s[i].Cheapest, a.Cheapest.Whole + s[i].Openings}
		a.Dearest = Tally{a.Dearest.Part + s[i].Dearest, a.Dearest.Whole + s[i].Openings}
		a.BestSold = Tally{a.BestSold.Part + s[i].BestSold, a.BestSold.Whole + s[i].Openings}
		a.Overrides = Tally{a.Overrides.Part + s[i].Overridden, a.Overrides.Whole + s[i].Asked}
		a.Refusals = Tally{a.Refusals.Part + s[i].Refused, a.Refusals.Whole + s[i].Judged}
		a.AtOnce += s[i].AtOnce
	}
	a.Sorted = a.sortedViews()
	if len(s) < f.cfg.MinAttempts {
		return a
	}
	a.Breadth = breadths(s)
	a.Sequence, a.Top, a.First = a.fixedSequence(), a.Tops.unbroken(), a.fixedPicks()
	a.Fixed = math.Min(a.Sequence, math.Min(a.Top, math.Max(a.First, a.deaf())))
	a.Forms, a.Course = forms(s), courses(s)
	a.Plan = math.Min(a.steady(), math.Max(a.fixedForms(), a.searchesAgain()))
	a.Templates = templates(s)
	a.addGrounding(s)
	return a
}

// dayRule is what one thing that the agent's day shows adds to the log-odds of
// an attempt. It never adds towards agentic. A habit leads to unknown at most,
// since a model that keeps to its prompt has habits, too; a proof shows that
// the model cannot have decided.
type dayRule struct {
	name  string
	why   string
	proof bool
	odds  func(f *Filter, s *Sample, a *AgentStats) float64
}

// unreadScore is the most that is believed of an attempt whose agent's day
// shows nothing of results in its calls or words.
const unreadScore = 1

// unshownScore is the most that is believed of an attempt whose agent's day
// cannot show a habit, or shows one sequence of tools and nothing worse.
const unshownScore = 2

var dayRules = []dayRule{
	{"results_unread", "down to +1, a claim of 0.7, where nothing of the day shows that results reach the calls: puppets and models that do not think both look so", false,
		func(_ *Filter, s *Sample, a *AgentStats) float64 { return a.unread() * min(unreadScore-s.Score, 0) }},
	{"habits_unshown", "down to +2, a claim of 0.86, where the day is too short for habits or has one course of tools, down to +1 where it also opens nothing but the first of each list: puppets that get through look so, and few models", false,
		func(f *Filter, s *Sample, a *AgentStats) float64 {
			return (1 - a.unread()) * a.unshown(f.cfg.MinAttempts) * min(unshownScore-a.Top-s.Score, 0)
		}},
	{"deaf_thinking", "-3 where products are taken after many words and none of them about results, on such a day: with the line above it makes a puppet likelier than a model", false,
		func(_ *Filter, _ *Sample, a *AgentStats) float64 {
			return -3 * a.unread() * a.deaf() * (1 - a.chooses())
		}},
	{"template_thinking", "-2 where thoughts return as one template, on such a day: stock phrases speak for a program, but not alone", false,
		func(_ *Filter, _ *Sample, a *AgentStats) float64 {
			return -2 * a.unread() * ramp(a.Templates, templateLimit, templateLimit+0.1)
		}},
	{"request_queries", "-2 where searches are cut out of the request, on such a day: a function of the request, but a small model may search so, too", false,
		func(_ *Filter, _ *Sample, a *AgentStats) float64 { return -2 * a.unread() * a.excerpts() }},
	{"fixed_habit", "-10 where tools, openings and picks are all fixed: half as much again as naming can add, so that it decides already where eight attempts make it only likely", false,
		func(_ *Filter, _ *Sample, a *AgentStats) float64 { return -10 * a.Fixed }},
	{"fixed_plan", "-10 where the course of tools and the making of searches are both fixed, or searches are made again as often as ever whatever they brought: what is opened may then be drawn or computed, the plan is no model's", false,
		func(_ *Filter, _ *Sample, a *AgentStats) float64 { return -10 * a.Plan }},
	{"sorted_choice", "-10 where products are opened strictly by price or by sales: models are drawn to what stands first and to what fits, and do not sort without slips", false,
		func(_ *Filter, _ *Sample, a *AgentStats) float64 { return -10 * a.Sorted }},
	{"overriding_client", "-7 where replies are overruled in most attempts, or turned down until one suits: where they stand, a program let them", true,
		func(_ *Filter, _ *Sample, a *AgentStats) float64 { return -7 * a.overrides() }},
	{"told_answers", "-8 where a recommended product that no result held is one that the shop showed to others, or made-up products turned out to be real elsewhere on the agent's day: as much as in the attempt itself", true,
		func(_ *Filter, s *Sample, a *AgentStats) float64 { return -8 * flag(a.told(s)) }},
	{"replayed_text", "-8 where the day's thoughts give numbers that stood nowhere before, about products that the shop did show: the text is from elsewhere", true,
		func(_ *Filter, s *Sample, a *AgentStats) float64 { return -8 * flag(s.Evidence && a.replayed()) }},
	{"answer_table", "-8 where the day's searches hold words of the answer before the request or a result did: the answer was known", true,
		func(_ *Filter, s *Sample, a *AgentStats) float64 { return -8 * flag(s.Evidence && a.foreknown()) }},
	{"pasted_episode", "-12 where the same calls answer other requests: a proof", true,
		func(f *Filter, s *Sample, a *AgentStats) float64 {
			return -12 * flag(a.pastes[s.Episode] > f.cfg.MaxPastes)
		}},
}

// Revise is the second pass: what the agent's day says about one attempt. It
// changes the axis where the sum of both passes does, never towards agentic, and
// towards scripted by proofs alone.
func (f *Filter) Revise(s arena.Structure, sample Sample, a AgentStats) arena.Structure {
	score := f.revisedOdds(sample, a)
	before := s.Axis
	if before != arena.AxisScripted && score < sample.Score {
		s.Axis, s.Confidence = decide(score, sample.Evidence || score <= proof)
	}
	turned := before != s.Axis
	habits := f.habits(&sample, &a, turned)
	s.Verdicts = slices.Concat(s.Verdicts, habits)
	if !turned {
		return s
	}
	reasons := f.axisReasons(&s)
	for i := range habits {
		if len(reasons) > 0 && habits[i].Decision == arena.Drop {
			reasons = append(reasons, habits[i].Reason)
		}
	}
	for _, r := range s.Reasons {
		if r != ReasonUnknown && r != ReasonUncertain {
			reasons = append(reasons, r)
		}
	}
	s.Reasons, s.Keep = reasons, len(reasons) == 0
	return s
}

// maxTold is how many attempts of a day may name a real product too early: ids
// have ten digits, so one is hardly chance and two are none.
const maxTold = 1

// told reports whether the attempt's answer came from elsewhere: no model makes up an
// id of ten digits that the shop has.
func (a *AgentStats) told(s *Sample) bool {
	return a.offered.has(s.Unseen) || s.Invented > 0 && a.Told > maxTold
}

// excerptLimit is the share of searches cut out of the request, by the lower
// bound of its interval, from which on queries count as a function of it.
const excerptLimit = 0.5

// excerpts is how surely searches are cut out of the request.
func (a *AgentStats) excerpts() float64 {
	lo, _ := a.Excerpts.Interval()
	return ramp(lo, excerptLimit, excerptLimit+0.2)
}

// templateLimit is the share of returning skeletons that honest agents with
// short thoughts reach.
const templateLimit = 0.8

// revisedOdds is the sum of both passes. Habits take it down to 0, where the
// record cannot tell, and no further.
func (f *Filter) revisedOdds(sample Sample, a AgentStats) float64 {
	score, habits := sample.Score, 0.0
	for i := range dayRules {
		odds := dayRules[i].odds(f, &sample, &a)
		if dayRules[i].proof {
			score += odds
		} else {
			habits += odds
		}
	}
	return math.Max(score+habits, math.Min(score, 0))
}

// DayTerms are what the agent's day adds to the log-odds of an attempt.
func (f *Filter) DayTerms(sample Sample, a AgentStats) []Term {
	var terms []Term
	for i := range dayRules {
		if odds := dayRules[i].odds(f, &sample, &a); odds != 0 {
			terms = append(terms, Term{Rule: dayRules[i].name, Why: dayRules[i].why, Odds: odds})
		}
	}
	return terms
}

// habits are the verdicts of the checks of the second pass. They speak against the
// attempt only where the day turned its axis.
func (f *Filter) habits(s *Sample, a *AgentStats, turned bool) []arena.Verdict {
	var verdicts []arena.Verdict
	for i := range checks {
		c := &checks[i]
		if c.overDay == nil {
			continue
		}
		v := arena.Verdict{Check: c.Name, Decision: arena.Keep}
		v.Value, v.Limit = c.overDay(f, s, a)
		if turned && c.fires(v.Value, v.Limit) {
			v.Decision, v.Reason = arena.Drop, c.Reason
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}
