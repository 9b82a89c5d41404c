package filters

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/habits"
)

// AgentOf returns the identity of the agent that made an attempt: its version or, if that is
// unknown, its hotkey or, if both are unknown, the id of the run.
func AgentOf(a arena.Agent, runID string) string {
	return cmp.Or(a.VersionID, a.Hotkey, runID)
}

// Checked is what the second pass, over the whole day, needs to know of an attempt that the
// first pass checked.
type Checked struct {
	// ID identifies the attempt: all copies of one attempt have the same ID. Record is the hash
	// of the bytes of this copy.
	ID     string
	Record string
	// Agent is the identity of the agent, as AgentOf returns it.
	Agent  string
	Sample habits.Sample
}

// Day is the result of comparing all attempts of a day, by attempt and by agent.
type Day struct {
	// CountedCopy maps the ID of an attempt to the index of that copy of the attempt which is
	// counted.
	CountedCopy map[string]int
	// Agents maps the identity of an agent to its habits.
	Agents map[string]*habits.Agent
}

// Day computes the habits of every agent over all its attempts of a day. Of several copies of
// one attempt, only the one with the smallest record hash counts, so that the order of the input
// files does not matter.
func (f *Filter) Day(attempts []*Checked) *Day {
	d := &Day{
		CountedCopy: map[string]int{},
		Agents:      map[string]*habits.Agent{},
	}
	for i, c := range attempts {
		counted, ok := d.CountedCopy[c.ID]
		if !ok || compareCopies(c, attempts[counted]) < 0 {
			d.CountedCopy[c.ID] = i
		}
	}

	samples := map[string][]*habits.Sample{}
	index := habits.NewIndex()
	for i, c := range attempts {
		agentSamples := samples[c.Agent] // stays nil for an agent that has only copies
		if d.CountedCopy[c.ID] == i {
			index.Add(&c.Sample, c.Agent)
			agentSamples = append(agentSamples, &c.Sample)
		}
		samples[c.Agent] = agentSamples
	}
	for agent, s := range samples {
		d.Agents[agent] = f.Agent(agent, slices.Values(s), index)
	}
	return d
}

// Agent computes the habits of the named agent over its samples. index has the attempts of all
// agents of the day.
func (f *Filter) Agent(name string, samples iter.Seq[*habits.Sample], index habits.Index) *habits.Agent {
	return habits.NewAgent(name, samples, index, f.cfg.MinAttempts)
}

func compareCopies(a, b *Checked) int {
	return CompareCopies(
		[]byte(a.Record),
		a.Agent,
		[]byte(b.Record),
		b.Agent,
	)
}

// CompareCopies orders the copies of one attempt by the hash of their record, then by agent. Only
// the first copy in this order is counted.
func CompareCopies(
	recordA []byte,
	agentA string,
	recordB []byte,
	agentB string,
) int {
	return cmp.Or(bytes.Compare(recordA, recordB), strings.Compare(agentA, agentB))
}

// Revise returns s after the second pass, which considers all attempts that the agent made that
// day. It appends the verdicts on the agent's habits and proofs. A proof with odds moves the
// axis towards scripted; a proof without odds, or a habit, changes agentic to unknown; a Doubt
// limits the confidence.
// The axis changes to agentic only if it was unknown because part of the log is undecided, and
// the model asked for nearly all of the agent's requests of the day.
func (f *Filter) Revise(
	s arena.Structure,
	o habits.Odds,
	a *habits.Agent,
) arena.Structure {
	before := s.Axis
	score, decides := revisedOdds(o, a)
	open := o.Open
	if a.NamesRequests || score > o.Score {
		open.Fall = 0
	}
	isMoved := score != o.Score || decides != o.Evidence || open != o.Open
	if before != arena.AxisScripted && isMoved {
		s.Axis, s.Confidence = decide(score, open, decides)
	}
	if s.Axis == arena.AxisAgentic && surestHabit(a) != nil {
		s.Axis = arena.AxisUnknown
		s.Confidence = 0.5
	}
	isDoubtful := a.Doubt != "" || open != o.Open && score <= o.Open.Fall
	if s.Axis == arena.AxisAgentic && isDoubtful {
		s.Confidence = min(s.Confidence, doubtfulConfidence)
	}
	if e := a.AdaptivityBy(f.adaptivity); e != nil {
		s.Adaptivity = &e.Point
	}
	day := dayVerdicts(o, a, before, s.Axis)
	s.Verdicts = slices.Concat(s.Verdicts, day)
	s.Reasons = mergeReasons(f.axisReasons(&s), day, s.Reasons)
	s.Keep = len(s.Reasons) == 0
	return s
}

// pooledOdds is added to the log-odds that the model made an attempt's calls if they are positive
// and the model made the calls of nearly all other attempts of the agent. An attempt with few calls
// is less certain by itself.
const pooledOdds = 2

// revisedOdds returns the log-odds that the model made the calls of an attempt, after the filter's
// second pass over all attempts of the agent, and whether they decide. The sum begins with the
// log-odds of the first pass, 0 if its log decided nothing.
//
// A proof (a property that no model can cause) adds its own log-odds and always decides. A proof
// without log-odds is only a doubt: the attempt cannot be decided in the model's favour.
func revisedOdds(o habits.Odds, a *habits.Agent) (score float64, decides bool) {
	if o.Evidence {
		score = o.Score
	}
	decides = o.Evidence
	hasProof := false
	hasDoubt := false
	for i := range habits.Proofs {
		p := &habits.Proofs[i]
		switch {
		case !o.Holds(i):
		case p.Odds == 0:
			hasDoubt = true
		default:
			score += p.Odds
			decides = true
			hasProof = true
		}
	}
	if decides && score > 0 && !hasProof && !hasDoubt && a.IsAgentic() {
		score += pooledOdds
	}
	return score, decides && (score <= 0 || !hasDoubt)
}

// surestHabit returns the most certain habit of an agent that acts without regard to results (as a
// program does), by the lower end of its confidence interval. It considers only habits so certain
// that the model can no longer be taken as the author of the agent's calls. It returns nil if there
// is none.
func surestHabit(a *habits.Agent) *habits.Habit {
	var surest *habits.Habit
	certainty := 0.0
	for i := range habits.All {
		e := a.Fixed[i]
		if e.Decides() && e.Low > certainty {
			surest = &habits.All[i]
			certainty = e.Low
		}
	}
	return surest
}

// dayVerdicts returns the verdicts of the filter's second pass on an attempt: one for each habit
// (way in which an agent acts without regard to results) and one for each proof (property that no
// model can cause). before and after are the attempt's axis (who made its calls) before and after
// the pass. A verdict rejects the attempt only if the pass changed the axis: a habit if it is
// certain and the new axis is unknown, a proof if it applies to the attempt.
func dayVerdicts(
	o habits.Odds,
	a *habits.Agent,
	before, after arena.Axis,
) []arena.Verdict {
	verdicts := make([]arena.Verdict, 0, len(habits.All)+len(habits.Proofs))
	changed := after != before
	for i := range habits.All {
		h := &habits.All[i]
		drops := changed && a.Fixed[i].Decides() && after == arena.AxisUnknown
		verdicts = append(verdicts, newVerdict(
			h.Check,
			h.Reason,
			a.Fixed[i].Low,
			habits.Limit,
			drops,
		))
	}
	for i := range habits.Proofs {
		p := &habits.Proofs[i]
		value := 0.0
		if o.Holds(i) {
			value = 1
		}
		verdicts = append(verdicts, newVerdict(
			p.Check,
			p.Reason,
			value,
			0,
			changed && o.Holds(i),
		))
	}
	return verdicts
}

// mergeReasons returns the codes of the reasons to reject an attempt after the filter's second
// pass. axis are the reasons that follow from who made the calls. Then come, if there are any of
// these, the reasons of the second pass's verdicts, day, and last those of the earlier reasons that
// are not about who made the calls.
func mergeReasons(
	axis []string,
	day []arena.Verdict,
	earlier []string,
) []string {
	reasons := axis
	for i := range day {
		if len(axis) > 0 && day[i].Decision == arena.Drop {
			reasons = append(reasons, day[i].Reason)
		}
	}
	for _, r := range earlier {
		if !slices.Contains(allAxisReasons, r) {
			reasons = append(reasons, r)
		}
	}
	return reasons
}

// doubts maps each Doubt constant of package habits to a text for users. The text explains why the
// filter limits its confidence that a model made the agent's calls (to doubtfulConfidence, 0.8).
var doubts = map[string]string{
	habits.DoubtShortDay: "the agent's day is too short to show whether its calls depend on results: the confidence is at most 0.8",
	habits.DoubtPlain:    "all attempts of one size use the same tools in the same order, as those of a program do: the confidence is at most 0.8",
	habits.DoubtScripted: "a program made at least a tenth of the agent's attempts of the day, so the others are in doubt: the confidence is at most 0.8",
	habits.DoubtLoosened: "the client left out words of nearly all searches, so that it may choose what is searched for: the confidence is at most 0.8",
	habits.DoubtHabit:    "the agent's calls may not depend on results: the confidence is at most 0.8",
}

// DayTerms returns the terms that explain the second pass: one for each change of an attempt's
// log-odds, and one without odds for what limits the confidence.
func DayTerms(o habits.Odds, a *habits.Agent) []Term {
	var terms []Term
	score, decides := revisedOdds(o, a)
	if o.Evidence && score > o.Score {
		terms = append(terms, Term{
			Rule: "named_day",
			Why:  "the logs of nearly all attempts of the agent's day show that the model wrote the calls",
			Odds: pooledOdds,
		})
	}
	for i := range habits.Proofs {
		p := &habits.Proofs[i]
		if o.Holds(i) && (p.Odds != 0 || score > 0) {
			terms = append(terms, Term{p.Reason, p.Why, cmp.Or(p.Odds, -score)})
		}
	}
	switch h := surestHabit(a); {
	case !decides || score <= 0:
	case h != nil:
		terms = append(terms, Term{h.Reason, h.Doc, -score})
	case a.Doubt != "":
		terms = append(terms, Term{Rule: a.Doubt, Why: doubts[a.Doubt]})
	}
	return terms
}
