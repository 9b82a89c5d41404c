package reports

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/filters/habits"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/judges/shop/probe"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// Adder computes reports from the entries that are added to it.
type Adder struct {
	agents map[string]*AgentShare
	levels map[float64]LevelRate
	// gradedAgents has the agents with at least one graded attempt.
	gradedAgents map[string]bool
	lengths      map[string]Lengths // by split
	shifts       map[string][]probe.Shift
	guard        *guard.Report
	steps        *Steps
	stepJudges   map[string]bool
	outcomes     map[arena.JudgeOutcome]int
	drawn        int
	doubts       map[arena.JudgeDoubt]int
	subnet       subnet
	thinking     Thinking
	// graded are the attempts with a grade and a score by domain.
	graded map[string][]stats.Graded
}

// NewAdder returns an Adder that adds the guard's findings to g.
func NewAdder(g *guard.Report) *Adder {
	return &Adder{
		agents:       map[string]*AgentShare{},
		levels:       map[float64]LevelRate{},
		gradedAgents: map[string]bool{},
		lengths:      map[string]Lengths{},
		outcomes:     map[arena.JudgeOutcome]int{},
		doubts:       map[arena.JudgeDoubt]int{},
		graded:       map[string][]stats.Graded{},
		shifts:       map[string][]probe.Shift{},
		guard:        g,
	}
}

// Add adds an attempt and the decision on it.
func (a *Adder) Add(x *block.Entry, d choose.Decision) {
	keptRows := 0
	if d.IsKept() {
		keptRows = 1
		l := a.lengths[d.Split]
		a.lengths[d.Split] = Lengths{d.Split, append(l.Steps, int(x.NSteps)), append(l.Tokens, x.Body.Tokens)}
	}
	a.thinking.add(x, d.IsKept())
	a.addToAgent(x, d.Axis, keptRows)
	a.subnet.add(x)
	a.addGraded(x)
	for _, s := range x.Shifts {
		a.shifts[s.Probe] = append(a.shifts[s.Probe], s)
	}
	if x.HasDialogue && x.Judgement.Outcome != "" {
		a.outcomes[x.Judgement.Outcome]++
	}
	if x.OneIn > 0 {
		a.drawn++
	}
	if x.Judgement.Doubt != "" {
		a.doubts[x.Judgement.Doubt]++
	}
	if o := x.StepJudgement.Outcome; o != "" {
		if a.steps == nil {
			a.steps = &Steps{Outcomes: map[arena.JudgeOutcome]int{}}
			a.stepJudges = map[string]bool{}
		}
		a.stepJudges[x.StepJudgement.Judge] = true
		a.steps.Outcomes[o]++
		a.steps.Verdicts = a.steps.Verdicts.Plus(x.StepNeeds)
	}
	if x.Score != nil {
		a.addGrade(x, keptRows)
	}
	if x.Body.Bytes > 0 {
		a.guard.Add(x.TraceID, x.Leak)
	}
}

func (a *Adder) addGrade(x *block.Entry, keptRows int) {
	a.gradedAgents[x.Agent] = true
	l := a.levels[*x.Score]
	l.Score = *x.Score
	l.Attempts++
	l.Kept += keptRows
	if x.OneIn > 0 {
		l.Drawn++
	}
	a.levels[*x.Score] = l
}

func (a *Adder) addToAgent(x *block.Entry, axis arena.Axis, keptRows int) {
	share, ok := a.agents[x.Agent]
	if !ok {
		share = &AgentShare{Agent: x.Agent, Hotkey: x.AgentHotkey}
		a.agents[x.Agent] = share
	}
	share.Attempts++
	share.Kept += keptRows
	switch axis {
	case arena.AxisAgentic:
		share.Agentic++
	case arena.AxisScripted:
		share.Scripted++
	case arena.AxisUnknown:
		share.Unknown++
	}
	if x.Outcome.Scored() {
		share.Scored++
	}
	if x.Outcome.Success {
		share.Successes++
	}
}

// Agents returns the agents in descending order of their kept attempts. adaptivity has that of the
// agents by name.
func (a *Adder) Agents(adaptivity map[string]*habits.Estimate) Agents {
	var r Agents
	for _, share := range a.agents {
		share.Adaptivity = adaptivity[share.Agent]
		r.Agents = append(r.Agents, *share)
	}
	slicesx.SortFunc(r.Agents, func(a, b AgentShare) int {
		return cmp.Or(
			cmp.Compare(b.Kept, a.Kept),
			cmp.Compare(b.Attempts, a.Attempts),
			strings.Compare(a.Agent, b.Agent),
		)
	})
	total := 0
	weighted := 0
	for i, share := range r.Agents {
		total += share.Kept
		weighted += (len(r.Agents) - i) * share.Kept
	}
	if total > 0 {
		n := float64(len(r.Agents))
		r.TopShare = float64(r.Agents[0].Kept) / float64(total)
		r.Gini = (2*float64(weighted)/float64(total) - n - 1) / n
	}
	return r
}

// Lengths returns the lengths of the splits in the order in which trainers read them.
func (a *Adder) Lengths() []Lengths {
	var out []Lengths
	for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
		if l, ok := a.lengths[split]; ok {
			slices.Sort(l.Steps)
			slices.Sort(l.Tokens)
			out = append(out, l)
		}
	}
	return out
}

// Replies counts the answers of the judges.
type Replies struct {
	// Judged counts the attempts that the judge was asked about, Unscored those without an
	// answer. The other two are the counts of the step judge.
	Judged        int `json:"judged"`
	Unscored      int `json:"unscored"`
	StepsJudged   int `json:"steps_judged,omitempty"`
	StepsUnscored int `json:"steps_unscored,omitempty"`
}

// Count counts the answers on an attempt of the judges that were asked.
func (r *Replies) Count(judgement, steps arena.JudgeOutcome) {
	count := func(judged, unscored *int, o arena.JudgeOutcome) {
		if !o.IsAsked() {
			return
		}
		*judged++
		if o != arena.JudgeScored {
			*unscored++
		}
	}
	count(&r.Judged, &r.Unscored, judgement)
	count(&r.StepsJudged, &r.StepsUnscored, steps)
}

// Merge adds the counts of o.
func (r *Replies) Merge(o Replies) {
	r.Judged += o.Judged
	r.Unscored += o.Unscored
	r.StepsJudged += o.StepsJudged
	r.StepsUnscored += o.StepsUnscored
}

// Judges returns the report on the judges: r, which has the properties of the judge, completed
// by the entries and by the counts and runs of the plan. probes are the results of separate
// probes; if there are none, the report has those of this build, one in every attempts.
func (a *Adder) Judges(
	r Judges,
	n Replies,
	runs map[string]multiplier.Quality,
	probes []probe.Summary,
	every int,
) Judges {
	r.Judged = n.Judged
	r.Unscored = n.Unscored
	r.Coverage = coverage(n.Judged, n.Unscored)
	r.Probes = a.probes(every, probes)
	r.Levels = []LevelRate{}
	r.GradedAgents = len(a.gradedAgents)
	r.Outcomes = a.outcomes
	r.Drawn = a.drawn
	r.Doubts = a.doubts
	r.Subnet = a.subnet.compare()
	if runs != nil {
		r.Multiplier.Runs = map[string]RunQuality{}
	}
	for name, q := range runs {
		r.Multiplier.Runs[name] = RunQuality{q.Mean(), q.Judged, q.Coverage()}
	}
	for _, score := range slicesx.SortedKeys(a.levels) {
		r.Levels = append(r.Levels, a.levels[score])
	}
	r.Thinking = a.thinking
	r.Predicts = a.predict()
	r.Steps = a.steps
	if r.Steps != nil {
		r.Steps.Judge = strings.Join(slicesx.SortedKeys(a.stepJudges), " and ")
		r.Steps.Judged = n.StepsJudged
		r.Steps.Unscored = n.StepsUnscored
		r.Steps.Coverage = coverage(n.StepsJudged, n.StepsUnscored)
	}
	return r
}

func coverage(judged, unscored int) float64 {
	return multiplier.Quality{Judged: judged, Scored: judged - unscored}.Coverage()
}

// probes returns the report on how much the judge's grades change after edits that should not
// matter. separate has measurements from outside this build; if there are any, the report has only
// these. Otherwise it has those of this build, for which one in every (a number) attempts was
// sampled. It returns nil if there are no measurements.
func (a *Adder) probes(every int, separate []probe.Summary) *Probes {
	if len(separate) > 0 {
		return &Probes{Probes: separate}
	}
	if len(a.shifts) == 0 {
		return nil
	}
	return &Probes{every, slicesx.Map(probe.All(), func(p probe.Probe) probe.Summary {
		return probe.Summarise(p.Name, a.shifts[p.Name])
	})}
}
