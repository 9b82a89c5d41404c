package survey

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/agreement"
)

// Check is a measurement of how well judge and guard work on the attempts of a domain.
type Check struct {
	Domain *domain.Domain
	// Judge is the judge to measure.
	Judge   judges.Judge
	JudgeIs judges.Identity
	// Steps is the judge of steps to measure.
	Steps    judges.StepJudge
	StepsAre judges.Identity
	// Labels are grades of attempts or labels of steps by people, nil if there are none. Without
	// grades, the judge is measured by how well its own ones distinguish solved attempts from failed
	// ones at the same task.
	Labels *agreement.Ratings
	// Programs are patterns of path.Match for the names of agents that are programs; all other
	// agents are models. Without a pattern, adaptivity is not measured.
	Programs []string

	agents *agents
	steps  steps
	grades agreement.Ratings
	// graded are the attempts with a grade and an outcome, each with its task.
	graded []stats.Graded
	// requests are the tasks for the guard, by their requests.
	requests map[string]*request
}

// Add adds an attempt to the measurement. The judge grades it, unless no model wrote its thinking.
func (c *Check) Add(ctx context.Context, t *arena.Trace, d *arena.Dialogue) error {
	if c.requests == nil {
		c.requests = map[string]*request{}
		c.grades = agreement.Ratings{Name: c.JudgeIs.Name, Scores: map[agreement.Key]*float64{}}
	}
	if statement := cmp.Or(t.Task, t.Query); statement != "" {
		c.addRequest(statement, t, d)
	}
	ruled := c.Domain.Ruled(t)
	if err := c.addAgent(ruled, d); err != nil {
		return err
	}
	thinking := filters.MeasureThinking(t, d)
	if thinking.IsForeign {
		return nil
	}
	if err := c.addSteps(ctx, ruled, &thinking.Graded); err != nil {
		return err
	}
	j, _, err := judges.Ask(ctx, c.Judge, ruled, &thinking.Graded, thinking.Logged)
	if err != nil {
		return err
	}
	c.grades.Scores[agreement.Key{Run: t.RunID, Problem: t.ProblemID}] = j.Score
	r := ruled.Ruling
	if r == nil || r.Score == nil || j.Score == nil {
		return nil
	}
	c.graded = append(c.graded, stats.Graded{
		Cluster: cmp.Or(t.ProblemID, t.Task, t.Query),
		Grade:   *j.Score,
		Solved:  r.Success,
	})
	return nil
}

// request is a task, as it is known by its request.
type request struct {
	// tasks are the names of the task, each of the agent that attempted it (agent) and the task's id
	// (task). The agent is empty if the traces do not name it.
	tasks    map[taskName]bool
	attempts []guard.Candidate
}

type taskName struct{ agent, task string }

func (c *Check) addRequest(statement string, t *arena.Trace, d *arena.Dialogue) {
	id := cmp.Or(t.ProblemID, statement)
	r := c.requests[statement]
	if r == nil {
		r = &request{tasks: map[taskName]bool{}}
		c.requests[statement] = r
	}
	r.tasks[taskName{filters.AgentOf(t.Agent, ""), id}] = true
	r.attempts = append(r.attempts, guard.NewCandidate(id, statement, d.Turns))
}

// isOther reports whether two requests are known to be different tasks: one agent attempted both,
// under two ids. Requests of two agents may be the same task in two wordings, as tau2-bench has those
// of tau-bench.
func (r *request) isOther(o *request) bool {
	isKnown := false
	for a := range r.tasks {
		for b := range o.tasks {
			if a == b {
				return false
			}
			isKnown = isKnown || a.agent == b.agent
		}
	}
	return isKnown
}

// addAgent adds an attempt to those of its agent, if adaptivity is measured.
func (c *Check) addAgent(t *arena.Trace, d *arena.Dialogue) error {
	if len(c.Programs) == 0 {
		return nil
	}
	if c.agents == nil {
		var err error
		if c.agents, err = newAgents(c.Domain); err != nil {
			return err
		}
	}
	c.agents.add(t, d)
	return nil
}

// Result is the figure of one instrument (judge or guard), or the reason why there is none.
type Result struct {
	Instrument string
	// Measurement is nil if the instrument could not be measured. Why is then the reason.
	Measurement *domain.Measurement
	Why         string
}

// Results returns the figures of all instruments. on is the name of the traces, date the date of
// the measurement.
func (c *Check) Results(on, date string) ([]Result, error) {
	judge, err := c.judge()
	if err != nil {
		return nil, err
	}
	rewordings, err := c.rewordings()
	if err != nil {
		return nil, err
	}
	results := []Result{
		judge,
		c.precision(),
		c.adaptivity(),
		rewordings,
	}
	for i := range results {
		if m := results[i].Measurement; m != nil {
			m.On += on
			m.Date = date
		}
	}
	return results, nil
}

func (c *Check) adaptivity() Result {
	if c.agents == nil {
		return Result{Instrument: domain.Adaptivity, Why: "attempts of known programs and of known models are needed: name the programs by --programs"}
	}
	return c.agents.adaptivity(c.Domain.Adaptivity, c.Programs)
}

// judge returns the measurement of the judge's quality. With labels by people, that is the
// agreement of its grades with them (weighted kappa). Without labels, it is how well the grades
// tell solved attempts from failed ones at the same task (AUC). If there are too few data, the
// result has a reason instead.
func (c *Check) judge() (Result, error) {
	out := Result{Instrument: domain.Judge}
	if !c.hasGrades() {
		auc, interval, pairs := stats.AUCWithin(c.graded)
		if pairs == 0 {
			out.Why = "no two tasks have both solved and failed attempts with a grade: give several attempts at a task, or --labels"
			return out, nil
		}
		out.Measurement = measurement(c.JudgeIs, "auc", auc, interval, len(c.graded))
		return out, nil
	}
	report, err := agreement.Compare([]agreement.Ratings{*c.Labels, c.grades}, agreement.DefaultOptions())
	if err != nil {
		return out, err
	}
	pair := report.Pairs[0]
	kappa := pair.WeightedKappa
	if kappa.Value == nil || kappa.CI95 == nil {
		out.Why = fmt.Sprintf("kappa is not defined for the %d attempts that labels and judge share", pair.N)
		return out, nil
	}
	out.Measurement = measurement(c.JudgeIs, "kappa", *kappa.Value, stats.Interval{Low: kappa.CI95[0], High: kappa.CI95[1]}, pair.N)
	return out, nil
}

// hasGrades reports whether the labels have a grade of an attempt.
func (c *Check) hasGrades() bool {
	if c.Labels == nil {
		return false
	}
	for key, score := range c.Labels.Scores {
		if key.Step == 0 && score != nil {
			return true
		}
	}
	return false
}

func measurement(is judges.Identity, figure string, value float64, interval stats.Interval, n int) *domain.Measurement {
	return &domain.Measurement{
		Version: is.Name,
		Figure:  figure,
		Value:   value,
		Low:     interval.Low,
		High:    interval.High,
		N:       n,
	}
}

// minRequests is the minimum number of different requests for which the guard's detector of
// reworded requests is measured. With fewer, a single request would change the result too much.
const minRequests = 20

// rewordings returns the measurement of the guard's detector of reworded requests: how many of the
// requests that were reworded for this test it finds, and which share of those without a near
// duplicate it drops, themselves or an attempt at them. If there are too few requests, the result
// has a reason instead.
func (c *Check) rewordings() (Result, error) {
	out := Result{Instrument: domain.Rewordings}
	if len(c.requests) < minRequests {
		out.Why = fmt.Sprintf("%d different requests: at least %d are needed", len(c.requests), minRequests)
		return out, nil
	}
	var bank []guard.Entry
	attempts := map[string][]guard.Candidate{}
	for _, text := range slicesx.SortedKeys(c.requests) {
		attempts[text] = c.requests[text].attempts
		bank = append(bank, guard.Entry{
			ID:       text,
			Bank:     "traces",
			Text:     text,
			Identity: c.Domain.Identity,
			Lexicon:  c.Domain.GuardLexicon(),
		})
	}
	g, err := guard.New(bank, guard.Config{})
	if errors.Is(err, guard.ErrEmptyBank) {
		out.Why = "no attempt has a request"
		return out, nil
	}
	if err != nil {
		return out, err
	}
	found, planted := g.Injection(1).Reworded()
	if planted == 0 {
		out.Why = "no request could be reworded"
		return out, nil
	}
	dropped, honest, err := g.Mistakes(attempts, func(a, b *guard.Entry) bool {
		return c.requests[a.Text].isOther(c.requests[b.Text])
	})
	if err != nil {
		return out, err
	}
	if honest < minRequests {
		out.Why = fmt.Sprintf("%d requests without a near duplicate: at least %d are needed", honest, minRequests)
		return out, nil
	}
	interval := stats.Wilson(found, planted)
	out.Measurement = &domain.Measurement{
		Version:    guard.RewordingsIn(c.Domain),
		Figure:     "recall",
		Value:      float64(found) / float64(planted),
		Low:        interval.Low,
		High:       interval.High,
		N:          planted,
		FalseDrops: float64(dropped) / float64(honest),
		Harmless:   honest,
	}
	return out, nil
}

// measuredKey matches, in the YAML file that describes a domain (kind of task), the key "measured"
// with the indented lines after it.
var measuredKey = regexp.MustCompile(`(?m)^measured:.*\n?(?:^(?:[ \t].*)?\n?)*`)

// Write returns the domain file with the figures of the results under the key "measured". It
// replaces earlier figures and keeps everything else.
func Write(file []byte, results []Result) []byte {
	var b bytes.Buffer
	rest := bytes.TrimRight(measuredKey.ReplaceAll(file, nil), "\n")
	b.Write(rest)
	b.WriteString("\n")
	isFirst := true
	for _, r := range results {
		m := r.Measurement
		if m == nil {
			continue
		}
		if isFirst {
			b.WriteString("measured:\n")
			isFirst = false
		}
		fmt.Fprintf(&b, "  %s: {version: %s, figure: %s, value: %.3f, low: %.3f, high: %.3f, n: %d, false_drops: %.3f, harmless: %d, on: %q, date: %s}\n",
			r.Instrument, m.Version, m.Figure, m.Value, m.Low, m.High, m.N, m.FalseDrops, m.Harmless, m.On, m.Date)
	}
	return b.Bytes()
}
