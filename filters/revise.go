package filters

import (
	"math"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/checks"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/filters/habits"
)

// dayRule is what one thing that the agent's day shows adds to the log-odds of
// an attempt. It never adds towards agentic. A habit leads to unknown at most,
// since a model that keeps to its prompt has habits, too; a proof shows that
// the model cannot have decided.
type dayRule struct {
	name  string
	why   string
	proof bool
	odds  func(f *Filter, s *habits.Sample, a *habits.AgentStats) float64
}

// unreadScore is the most that is believed of an attempt whose agent's day
// shows nothing of results in its calls or words.
const unreadScore = 1

// unshownScore is the most that is believed of an attempt whose agent's day
// cannot show a habit, or shows one sequence of tools and nothing worse.
const unshownScore = 2

var dayRules = []dayRule{
	{"results_unread", "down to +1, a claim of 0.7, where nothing of the day shows that results reach the calls: puppets and models that do not think both look so", false,
		func(_ *Filter, s *habits.Sample, a *habits.AgentStats) float64 {
			return a.Unread() * min(unreadScore-s.Score, 0)
		}},
	{"habits_unshown", "down to +2, a claim of 0.86, where the day is too short for habits or has one course of tools, down to +1 where it also opens nothing but the first of each list: puppets that get through look so, and few models", false,
		func(f *Filter, s *habits.Sample, a *habits.AgentStats) float64 {
			return (1 - a.Unread()) * a.Unshown(f.cfg.MinAttempts) * min(unshownScore-a.Top-s.Score, 0)
		}},
	{"deaf_thinking", "-3 where products are taken after many words and none of them about results, on such a day: with the line above it makes a puppet likelier than a model", false,
		func(_ *Filter, _ *habits.Sample, a *habits.AgentStats) float64 {
			return -3 * a.Unread() * a.Deaf() * (1 - a.Chooses())
		}},
	{"template_thinking", "-2 where thoughts return as one template, on such a day: stock phrases speak for a program, but not alone", false,
		func(_ *Filter, _ *habits.Sample, a *habits.AgentStats) float64 {
			return -2 * a.Unread() * habits.Ramp(a.Templates, habits.TemplateLimit, habits.TemplateLimit+0.1)
		}},
	{"request_queries", "-2 where searches are cut out of the request, on such a day: a function of the request, but a small model may search so, too", false,
		func(_ *Filter, _ *habits.Sample, a *habits.AgentStats) float64 { return -2 * a.Unread() * a.CutOut() }},
	{"fixed_habit", "-10 where tools, openings and picks are all fixed: half as much again as naming can add, so that it decides already where eight attempts make it only likely", false,
		func(_ *Filter, _ *habits.Sample, a *habits.AgentStats) float64 { return -10 * a.Fixed }},
	{"fixed_plan", "-10 where the course of tools and the making of searches are both fixed, or searches are made again as often as ever whatever they brought: what is opened may then be drawn or computed, the plan is no model's", false,
		func(_ *Filter, _ *habits.Sample, a *habits.AgentStats) float64 { return -10 * a.Plan }},
	{"sorted_choice", "-10 where products are opened strictly by price or by sales: models are drawn to what stands first and to what fits, and do not sort without slips", false,
		func(_ *Filter, _ *habits.Sample, a *habits.AgentStats) float64 { return -10 * a.Sorted }},
	{"overriding_client", "-7 where replies are overruled in most attempts, or turned down until one suits: where they stand, a program let them", true,
		func(_ *Filter, _ *habits.Sample, a *habits.AgentStats) float64 { return -7 * a.Overruled() }},
	{"told_answers", "-8 where a recommended product that no result held is one that the shop showed to others, or made-up products turned out to be real elsewhere on the agent's day: as much as in the attempt itself", true,
		func(_ *Filter, s *habits.Sample, a *habits.AgentStats) float64 { return -8 * evidence.Flag(a.Knew(s)) }},
	{"replayed_text", "-8 where the day's thoughts give numbers that stood nowhere before, about products that the shop did show: the text is from elsewhere", true,
		func(_ *Filter, s *habits.Sample, a *habits.AgentStats) float64 {
			return -8 * evidence.Flag(s.Evidence && a.Replayed())
		}},
	{"answer_table", "-8 where the day's searches hold words of the answer before the request or a result did: the answer was known", true,
		func(_ *Filter, s *habits.Sample, a *habits.AgentStats) float64 {
			return -8 * evidence.Flag(s.Evidence && a.Tabled())
		}},
	{"pasted_episode", "-12 where the same calls answer other requests: a proof", true,
		func(f *Filter, s *habits.Sample, a *habits.AgentStats) float64 {
			return -12 * evidence.Flag(a.Pastes[s.Episode] > f.cfg.MaxPastes)
		}},
}

// Revise is the second pass: what the agent's day says about one attempt. It
// changes the axis where the sum of both passes does, never towards agentic, and
// towards scripted by proofs alone.
func (f *Filter) Revise(s arena.Structure, sample habits.Sample, a habits.AgentStats) arena.Structure {
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

// revisedOdds is the sum of both passes. Habits take it down to 0, where the
// record cannot tell, and no further.
func (f *Filter) revisedOdds(sample habits.Sample, a habits.AgentStats) float64 {
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
func (f *Filter) DayTerms(sample habits.Sample, a habits.AgentStats) []Term {
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
func (f *Filter) habits(s *habits.Sample, a *habits.AgentStats, turned bool) []arena.Verdict {
	var verdicts []arena.Verdict
	for i := range checks.All {
		c := &checks.All[i]
		if c.OverDay == nil {
			continue
		}
		v := arena.Verdict{Check: c.Name, Decision: arena.Keep}
		v.Value, v.Limit = c.OverDay(&f.limits, s, a)
		if turned && c.Fires(v.Value, v.Limit) {
			v.Decision, v.Reason = arena.Drop, c.Reason
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}
