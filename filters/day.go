package filters

import (
	"cmp"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/filters/habits"
)

// AgentOf names the agent whose day an attempt belongs to, by the most precise
// thing that is known of it.
func AgentOf(a arena.Agent, runID string) string { return cmp.Or(a.VersionID, a.Hotkey, runID) }

// Checked is an attempt after the first pass, as the second needs it.
type Checked struct {
	// ID names the attempt; copies of one attempt share it. Record is the hash of
	// the copy's own bytes.
	ID, Record string
	// Agent is whose day the attempt belongs to, as AgentOf names it.
	Agent  string
	Sample habits.Sample
}

// Day is what all attempts of a day show about their agents.
type Day struct {
	// CountedCopy is, by attempt, the position among all of the day of the copy that counts.
	CountedCopy map[string]int
	// Agents are the habits of each agent.
	Agents map[string]*habits.Agent
}

// Day measures every agent's habits over all its attempts. Of the copies of one
// attempt, the one with the smallest hash of its record counts and no other, so
// that the order in which files are read changes nothing.
func (f *Filter) Day(all []*Checked) *Day {
	d := &Day{CountedCopy: map[string]int{}, Agents: map[string]*habits.Agent{}}
	for i, c := range all {
		if w, known := d.CountedCopy[c.ID]; !known || cmp.Or(cmp.Compare(c.Record, all[w].Record), cmp.Compare(c.Agent, all[w].Agent)) < 0 {
			d.CountedCopy[c.ID] = i
		}
	}
	samples, found := map[string][]*habits.Sample{}, habits.NewIndex()
	for i, c := range all {
		own := samples[c.Agent] // of an agent with copies alone none
		if d.CountedCopy[c.ID] == i {
			found.Add(&c.Sample, c.Agent)
			own = append(own, &c.Sample)
		}
		samples[c.Agent] = own
	}
	for agent, s := range samples {
		d.Agents[agent] = habits.NewAgent(agent, s, found, f.cfg.MinAttempts)
	}
	return d
}

// Revise is the second pass: what the agent's day, and the proofs in it, say about one
// attempt. Proofs lead towards scripted, doubts and habits from agentic to unknown,
// nothing to agentic.
func (f *Filter) Revise(s arena.Structure, o habits.Odds, a *habits.Agent) arena.Structure {
	before := s.Axis
	score, decides := revisedOdds(o, a)
	if before != arena.AxisScripted && (score != o.Score || decides != o.Evidence) {
		s.Axis, s.Confidence = decide(score, decides)
	}
	if s.Axis == arena.AxisAgentic && adapts(a) != nil {
		s.Axis, s.Confidence = arena.AxisUnknown, 0.5
	}
	if a.Known {
		s.Adaptivity = &a.Adaptivity.Point
	}
	day := dayVerdicts(o, a, before, s.Axis)
	s.Verdicts = slices.Concat(s.Verdicts, day)
	s.Reasons = revised(f.axisReasons(&s), day, s.Reasons)
	s.Keep = len(s.Reasons) == 0
	return s
}

// pooled is what a day of attempts, nearly all of which the model wrote, adds to one of
// them: few calls are then no reason for doubt.
const pooled = 2

// revisedOdds is the sum of both passes, and whether it decides. Where the attempt
// itself does not, it counts nothing.
func revisedOdds(o habits.Odds, a *habits.Agent) (score float64, decides bool) {
	score, decides = o.Score*evidence.Flag(o.Evidence), o.Evidence
	proved, doubted := false, false
	for i := range habits.Proofs {
		switch p := &habits.Proofs[i]; {
		case !o.Holds(i):
		case p.Odds == 0:
			doubted = true
		default:
			score, decides, proved = score+p.Odds, true, true
		}
	}
	if decides && score > 0 && !proved && !doubted && a.Named() {
		score += pooled
	}
	return score, decides && (score <= 0 || !doubted)
}

// adapts is the surest habit that keeps the agent's calls from depending on results,
// nil where none does.
func adapts(a *habits.Agent) (worst *habits.Habit) {
	most := 0.0
	for i := range habits.All {
		if e := a.Fixed[i]; e.Decides() && e.Low > most {
			worst, most = &habits.All[i], e.Low
		}
	}
	return worst
}

// dayVerdicts are the verdicts on the agent's day. They speak against the attempt
// only where the day turned its axis, and as it did.
func dayVerdicts(o habits.Odds, a *habits.Agent, before, after arena.Axis) []arena.Verdict {
	all, turned := make([]arena.Verdict, 0, len(habits.All)+len(habits.Proofs)), after != before
	for i, h := range evidence.Each(habits.All) {
		all = append(all, verdict(h.Check, h.Reason, a.Fixed[i].Low, habits.Limit, turned && a.Fixed[i].Decides() && after == arena.AxisUnknown))
	}
	for i, p := range evidence.Each(habits.Proofs) {
		all = append(all, verdict(p.Check, p.Reason, evidence.Flag(o.Holds(i)), 0, turned && o.Holds(i)))
	}
	return all
}

// revised puts the reasons of the axis first, then those of the day, then what was
// there before.
func revised(axis []string, day []arena.Verdict, before []string) []string {
	all := axis
	for i := range day {
		if len(axis) > 0 && day[i].Decision == arena.Drop {
			all = append(all, day[i].Reason)
		}
	}
	for _, r := range before {
		if !slices.Contains(axisWords, r) {
			all = append(all, r)
		}
	}
	return all
}

// DayTerms are what the agent's day adds to the log-odds of an attempt.
func DayTerms(o habits.Odds, a *habits.Agent) (terms []Term) {
	score, decides := revisedOdds(o, a)
	if o.Evidence && score > o.Score {
		terms = append(terms, Term{"named_day", "the log says of nearly all attempts of the agent's day that the model wrote the calls", pooled})
	}
	for i := range habits.Proofs {
		if p := &habits.Proofs[i]; o.Holds(i) && (p.Odds != 0 || score > 0) {
			terms = append(terms, Term{p.Reason, p.Why, cmp.Or(p.Odds, -score)})
		}
	}
	if h := adapts(a); h != nil && decides && score > 0 {
		terms = append(terms, Term{h.Reason, h.Doc, -score})
	}
	return terms
}
