package survey

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/agreement"
)

// Check measures instruments on the attempts of a domain.
type Check struct {
	Domain *domain.Domain
	// Judge is the judge that is measured.
	Judge   judges.Judge
	JudgeIs judges.Identity
	// Labels are grades that people gave; nil if there are none. The judge is then measured by
	// how well its grades tell solved attempts from failed ones.
	Labels *agreement.Ratings

	attempts       int
	grades         agreement.Ratings
	solved, failed []float64
	requests       map[string]string
}

// Add grades an attempt.
func (c *Check) Add(ctx context.Context, t *arena.Trace, d *arena.Dialogue) error {
	if c.requests == nil {
		c.requests = map[string]string{}
		c.grades = agreement.Ratings{Name: c.JudgeIs.Name, Scores: map[agreement.Key]*float64{}}
	}
	c.attempts++
	if statement := cmp.Or(t.Task, t.Query); statement != "" {
		c.requests[statement] = cmp.Or(t.ProblemID, statement)
	}
	ruled := c.Domain.Ruled(t)
	j, err := c.Judge.Judge(ctx, ruled, d)
	if err != nil {
		return err
	}
	c.grades.Scores[agreement.Key{Run: t.RunID, Problem: t.ProblemID}] = j.Score
	r := ruled.Ruling
	if r == nil || r.Score == nil || j.Score == nil {
		return nil
	}
	if r.Success {
		c.solved = append(c.solved, *j.Score)
	} else {
		c.failed = append(c.failed, *j.Score)
	}
	return nil
}

// Result is the figure of one instrument, or the reason why there is none.
type Result struct {
	Instrument string
	// Measurement is nil if the instrument could not be measured, and Why then says why.
	Measurement *domain.Measurement
	Why         string
}

// Results returns the figures of all instruments. on names the traces, and date is the day.
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
		{Instrument: domain.Steps, Why: "labels of steps are needed, which nobody gave"},
		{Instrument: domain.Adaptivity, Why: "attempts of known programs and of known models are needed"},
		rewordings,
	}
	for i := range results {
		if m := results[i].Measurement; m != nil {
			m.On = on
			m.Date = date
		}
	}
	return results, nil
}

// judge measures the judge by the labels or, if there are none, by the outcomes.
func (c *Check) judge() (Result, error) {
	out := Result{Instrument: domain.Judge}
	if c.Labels == nil {
		if len(c.solved) == 0 || len(c.failed) == 0 {
			out.Why = fmt.Sprintf("%d solved and %d failed attempts have a grade: both are needed, or --labels", len(c.solved), len(c.failed))
			return out, nil
		}
		auc, interval := areaUnderCurve(c.solved, c.failed)
		out.Measurement = c.measurement("auc", auc, interval, len(c.solved)+len(c.failed))
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
	out.Measurement = c.measurement("kappa", *kappa.Value, stats.Interval{Low: kappa.CI95[0], High: kappa.CI95[1]}, pair.N)
	return out, nil
}

func (c *Check) measurement(figure string, value float64, interval stats.Interval, n int) *domain.Measurement {
	return &domain.Measurement{
		Version: c.JudgeIs.Name,
		Figure:  figure,
		Value:   value,
		Low:     interval.Low,
		High:    interval.High,
		N:       n,
	}
}

// areaUnderCurve returns the probability that a grade of a solved attempt is above that of a failed
// one, equal grades counting half, with the 95 % interval by Hanley and McNeil (1982). The interval
// treats attempts as independent.
func areaUnderCurve(solved, failed []float64) (auc float64, interval stats.Interval) {
	wins := 0.0
	for _, s := range solved {
		for _, f := range failed {
			switch {
			case s > f:
				wins++
			case s == f:
				wins += 0.5
			}
		}
	}
	n := float64(len(solved))
	m := float64(len(failed))
	auc = wins / float64(n*m)
	square := float64(auc * auc)
	q1 := auc/(2-auc) - square
	q2 := float64(2*square)/(1+auc) - square
	variance := (float64(auc*(1-auc)) + float64((n-1)*q1) + float64((m-1)*q2)) / float64(n*m)
	margin := float64(1.96 * math.Sqrt(max(variance, 0)))
	return auc, stats.Interval{Low: max(auc-margin, 0), High: min(auc+margin, 1)}
}

// minRequests is the number of different requests from which the guard is measured: with fewer, one
// request more or less would decide.
const minRequests = 20

// rewordings measures the guard's detector of reworded requests: its recall on requests that it
// reworded itself, and the share of requests that it would drop for another one.
func (c *Check) rewordings() (Result, error) {
	out := Result{Instrument: domain.Rewordings}
	if len(c.requests) < minRequests {
		out.Why = fmt.Sprintf("%d different requests: at least %d are needed", len(c.requests), minRequests)
		return out, nil
	}
	var bank []guard.Entry
	for _, request := range slices.Sorted(maps.Keys(c.requests)) {
		bank = append(bank, guard.Entry{ID: c.requests[request], Bank: "traces", Text: request})
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
	interval := stats.Wilson(found, planted)
	out.Measurement = &domain.Measurement{
		Version:    guard.RewordingsVersion,
		Figure:     "recall",
		Value:      float64(found) / float64(planted),
		Low:        interval.Low,
		High:       interval.High,
		N:          planted,
		FalseDrops: g.FalseDrops().Share,
	}
	return out, nil
}

// measuredKey matches the key measured of a domain's file, with the lines that belong to it.
var measuredKey = regexp.MustCompile(`(?m)^measured:.*\n?(?:^(?:[ \t].*)?\n?)*`)

// Write returns the file of a domain with the figures of the results under the key measured. It
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
		fmt.Fprintf(&b, "  %s: {version: %s, figure: %s, value: %.3f, low: %.3f, high: %.3f, n: %d, false_drops: %.3f, on: %q, date: %s}\n",
			r.Instrument, m.Version, m.Figure, m.Value, m.Low, m.High, m.N, m.FalseDrops, m.On, m.Date)
	}
	return b.Bytes()
}
