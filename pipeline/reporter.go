package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/judges/multiplier"
	"github.com/trajectory-arena/arena/judges/probe"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// reporter adds up entries.
type reporter struct {
	agents map[string]*AgentShare
	levels map[float64]*LevelRate
	// lengths are by split.
	lengths map[string]*Lengths
	shifts  map[string][]probe.Shift
	guard   *guard.Report
	steps   *StepsReport
}

func (c *reporter) add(x *block.Entry, f choose.Fate) {
	if x.Fault != nil || f.Stage == stageRead {
		return
	}
	kept := 0
	if f.Stage == "" {
		kept = 1
		c.addLengths(x, f.Split)
	}
	c.agent(x, f.Axis, kept)
	c.addShifts(x)
	c.addSteps(x)
	if s := x.Judgement.Score; s != nil {
		l, known := c.levels[*s]
		if !known {
			l = &LevelRate{Score: *s}
			c.levels[*s] = l
		}
		l.Attempts++
		l.Kept += kept
	}
	c.leak(x)
}

func (c *reporter) agent(x *block.Entry, axis arena.Axis, kept int) {
	name := filters.AgentOf(x.Attempt.Agent, x.Attempt.RunID)
	a, known := c.agents[name]
	if !known {
		a = &AgentShare{Agent: name, Hotkey: x.Attempt.Agent.Hotkey}
		c.agents[name] = a
	}
	a.Attempts++
	a.Kept += kept
	switch axis {
	case arena.AxisAgentic:
		a.Agentic++
	case arena.AxisScripted:
		a.Scripted++
	case arena.AxisUnknown:
		a.Unknown++
	}
	if x.Outcome.Scores != nil {
		a.Scored++
	}
	if x.Outcome.Success {
		a.Successes++
	}
}

func (c *reporter) leak(x *block.Entry) {
	if x.Body.Bytes == 0 {
		return
	}
	l := x.Leak
	c.guard.Add(x.Attempt.ID, guard.Finding{
		Match: l.Match, Bank: l.Bank, Drop: l.Drop, Same: l.Same, Score: l.Score, Tier: guard.Tier(l.Tier), Evidence: l.Evidence, Beyond: l.Beyond,
	})
}

func (c *reporter) agentsReport() AgentsReport {
	var r AgentsReport
	for _, a := range c.agents {
		r.Agents = append(r.Agents, *a)
	}
	slices.SortFunc(r.Agents, func(a, b AgentShare) int {
		return cmp.Or(cmp.Compare(b.Kept, a.Kept), cmp.Compare(b.Attempts, a.Attempts), strings.Compare(a.Agent, b.Agent))
	})
	total, weighted := 0, 0
	for i, a := range r.Agents {
		total += a.Kept
		weighted += (len(r.Agents) - i) * a.Kept
	}
	if total > 0 {
		n := float64(len(r.Agents))
		r.TopShare = float64(r.Agents[0].Kept) / float64(total)
		r.Gini = (2*float64(weighted)/float64(total) - n - 1) / n
	}
	return r
}

func (c *reporter) judgesReport(run *Run, p *plan) JudgesReport {
	judge, m := run.Config.Judge, run.Config.Multiplier
	all := multiplier.Quality{Judged: p.Judged, Scored: p.Judged - p.Unscored}
	r := JudgesReport{
		Agreement: run.Agreement, Probes: c.probesReport(judge.ProbeEvery, run.Probes),
		Judge: judge.Name, Judged: p.Judged, Unscored: p.Unscored, Sparing: judge.Sparing, Coverage: all.Coverage(), Levels: []LevelRate{},
		Multiplier: MultiplierReport{Per: m.Per, Unscored: m.Unscored, Floor: m.Floor, Ceiling: m.Ceiling},
		Steps:      c.stepsReport(run.Config.StepJudge.Name, p),
	}
	if p.Runs != nil {
		r.Multiplier.Runs = map[string]RunQuality{}
	}
	for name, q := range p.Runs {
		r.Multiplier.Runs[name] = RunQuality{q.Mean(), q.Judged, q.Coverage()}
	}
	for _, l := range c.levels {
		r.Levels = append(r.Levels, *l)
	}
	slices.SortFunc(r.Levels, func(a, b LevelRate) int { return cmp.Compare(a.Score, b.Score) })
	return r
}

// report says how the problems were split, and audits the split.
func (p *Protection) report() (*LeakReport, error) {
	r := &LeakReport{
		Clusters: map[guard.Pool]int{}, Problems: map[guard.Pool]int{}, Outside: p.Outside,
		SharedProducts: []string{}, Canary: "caught",
	}
	side := map[string]guard.Pool{}
	for _, c := range p.State.Clusters {
		r.Clusters[c.Pool]++
		r.Problems[c.Pool] += len(c.Problems)
		for _, id := range c.ProductIDs {
			if other, seen := side[id]; seen && other != c.Pool {
				r.SharedProducts = append(r.SharedProducts, id)
			}
			side[id] = c.Pool
		}
	}
	if len(r.SharedProducts) > 0 {
		return nil, fmt.Errorf("audit the split: %d products are in clusters of different pools, the first is %s", len(r.SharedProducts), r.SharedProducts[0])
	}
	return r, nil
}

// Lengths says how long the kept attempts of a split are, each list in
// ascending order: turns of the model, and tokens as rows count them.
type Lengths struct {
	Split  string
	Steps  []int
	Tokens []int
}

// addLengths notes an attempt that was kept.
func (c *reporter) addLengths(x *block.Entry, split string) {
	l, known := c.lengths[split]
	if !known {
		l = &Lengths{Split: split}
		c.lengths[split] = l
	}
	l.Steps, l.Tokens = append(l.Steps, x.Attempt.Steps), append(l.Tokens, x.Body.Tokens)
}

// lengthsReport has the splits in the order that trainers read them.
func (c *reporter) lengthsReport() []Lengths {
	var out []Lengths
	for _, split := range []string{corpus.SplitTrain, corpus.SplitEval} {
		if l := c.lengths[split]; l != nil {
			slices.Sort(l.Steps)
			slices.Sort(l.Tokens)
			out = append(out, *l)
		}
	}
	return out
}

// lengthsText is the card's table, by which a trainer's longest sequence is
// set.
func lengthsText(all []Lengths) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Turns of the model, and tokens of a whole attempt (%s), of config sft:\n\n| split | attempts | turns: half, 9 of 10, all | tokens: half, 9 of 10, all |\n|---|---:|---|---|\n", rows.Bytes4{}.Name())
	for _, l := range all {
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", l.Split, len(l.Steps), upTo(l.Steps), upTo(l.Tokens))
	}
	return b.String()
}

// upTo says how far half, nine in ten and all of sorted values reach.
func upTo(sorted []int) string {
	last := len(sorted) - 1
	return fmt.Sprintf("%d, %d, %d", sorted[last/2], sorted[last*9/10], sorted[last])
}
