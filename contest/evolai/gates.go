// Package evolai checks the rounds of subnet 47 from a validator's log. It checks that models
// are locked, a seed is published and models are evaluated in this order; the two tests that
// each model must pass (gates); the moving averages; and the arithmetic of side quests. Numbers
// that the log lacks are reported as missing.
package evolai

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/trajectory-arena/arena/internal/stats"
)

// The parameters of the subnet. improvement and consistency are the limits of the two gates.
// emaAlpha is the weight of a new value in a moving average. flowRounds is the minimum number of
// rounds for a flow (see Flow).
const (
	improvement = 0.98 // maximum ratio of the KL to the previous revision's on the same rows
	consistency = 1.20 // maximum ratio of the average on the next set to that on the current set
	emaAlpha    = 0.1
	flowRounds  = 10
)

// The rounding errors of the log, half of the last printed decimal: KLs have four decimals and
// ratios three. digits is the error of representing decimals in binary.
const (
	halfKL    = 0.5e-4
	halfRatio = 0.5e-3
	digits    = 1e-9
)

// Line is one line of a validator's log: the decision about one model.
type Line struct {
	Epoch       int64    `json:"epoch"`
	Track       string   `json:"track"`
	UID         int64    `json:"uid"`
	KLCurrent   *float64 `json:"kl_current"`
	KLNext      *float64 `json:"kl_next"`
	Previous    *float64 `json:"previous_kl_on_the_same_rows"`
	Requirement *float64 `json:"requirement_printed"`
	EMACurrent  *float64 `json:"ema_current"`
	EMANext     *float64 `json:"ema_next"`
	Ratio       *float64 `json:"consistency_ratio_printed"`
	Limit       *float64 `json:"consistency_limit"`
	// Reason is the reason that the log has for the result of the improvement gate.
	Reason     string   `json:"improve_reason"`
	Consistent *bool    `json:"consistency_ok"`
	Gate       string   `json:"gate"`
	Flow       *float64 `json:"flow"`
	Score      *float64 `json:"score_printed"`
	// Revision is the revision of the model that is locked now. PreviousRevision is the one that
	// was locked in the previous round. If the log has neither, equal KLs on the same rows mean
	// the same revision.
	Revision         string `json:"revision"`
	PreviousRevision string `json:"previous_revision"`
}

// Gate is the recomputed decision of one log line: whether the model passes both gates,
// improvement and consistency.
type Gate struct {
	Epoch int64  `json:"epoch" parquet:"epoch"`
	Track string `json:"track" parquet:"track"`
	UID   int64  `json:"uid" parquet:"uid"`
	// Improve is the result of the improvement gate: improved, or the reason why not.
	Improve string `json:"improve" parquet:"improve"`
	// Change is the change of KL from the previous revision on the same rows, as a share, nil if
	// that KL is unknown or 0. The gate requires -0.02 or less.
	Change     *float64 `json:"change" parquet:"change,optional"`
	Ratio      *float64 `json:"consistency_ratio" parquet:"consistency_ratio,optional"`
	Consistent bool     `json:"consistent" parquet:"consistent"`
	Gate       string   `json:"gate" parquet:"gate"`
	// Differs lists the values that the log prints differently. Open lists what cannot be
	// checked because the log lacks it or has too few digits.
	Differs []string `json:"differs,omitempty" parquet:"differs,list"`
	Open    []string `json:"open,omitempty" parquet:"open,list"`
}

// Decide recomputes the decision of a log line and compares it with the printed one.
func Decide(l *Line) Gate {
	g := Gate{
		Epoch: l.Epoch,
		Track: l.Track,
		UID:   l.UID,
	}
	improved := g.addImprovement(l)
	g.addConsistency(l)
	g.Gate = "FAIL"
	if improved && g.Consistent {
		g.Gate = "PASS"
	}
	if len(g.Open) > 0 { // the gate is not certain
		return g
	}
	if l.Gate != "" && l.Gate != g.Gate {
		g.Differs = append(g.Differs, "gate: the log has "+l.Gate)
	}
	g.checkScore(l)
	return g
}

// addImprovement decides whether the model of a log line passes the improvement gate: its KL from
// the teacher must be at most 0.98 of that of its previous revision on the same rows. Without one
// of the two KLs, or with an unchanged revision, it fails. The result is also stored in g.Improve
// and g.Change. g.Differs gets what the log has differently, and g.Open what cannot be checked.
func (g *Gate) addImprovement(l *Line) bool {
	g.Improve = improveReason(l)
	if l.Previous != nil {
		required := float64(improvement * *l.Previous)
		if l.Requirement != nil && math.Abs(required-*l.Requirement) > (1+improvement)*halfKL+digits {
			g.Differs = append(g.Differs, fmt.Sprintf("requirement: %.4f, the log has %g", required, *l.Requirement))
		}
		if l.KLCurrent != nil {
			g.Change = stats.FiniteOrNil(*l.KLCurrent / *l.Previous - 1)
			if g.Improve != "same_revision" && math.Abs(*l.KLCurrent-required) < (1+improvement)*halfKL-digits {
				g.Open = append(g.Open, "improve: KL and requirement are equal but for what printing rounds")
			}
		}
	}
	if failureReasons[l.Reason] && l.Reason != g.Improve && len(g.Open) == 0 {
		g.Differs = append(g.Differs, fmt.Sprintf("improve: the log has %q", l.Reason))
	}
	return g.Improve == "improved"
}

func improveReason(l *Line) string {
	if l.Previous == nil || l.KLCurrent == nil {
		return "no_reference"
	}
	isSame := l.Revision == l.PreviousRevision
	if l.Revision == "" {
		isSame = *l.KLCurrent == *l.Previous
	}
	switch {
	case isSame:
		return "same_revision"
	case *l.KLCurrent <= float64(improvement**l.Previous)+digits:
		return "improved"
	default:
		return "too_small"
	}
}

// failureReasons are the reasons of failed lines in published logs that are compared with the
// computed ones. Other reasons are not compared, since their meaning is unknown.
var failureReasons = map[string]bool{"same_revision": true, "too_small": true}

// addConsistency decides whether the model of a log line passes the consistency gate, and compares
// that with the log. The model's average KL on the next set of rows must be at most 1.20 times (or
// the limit in the line) that on the current set. It sets g.Ratio and g.Consistent. g.Differs gets
// what the log has differently, and g.Open what cannot be checked.
func (g *Gate) addConsistency(l *Line) {
	if l.EMACurrent == nil || l.EMANext == nil || !(*l.EMACurrent > 0) {
		g.Open = append(g.Open, "averages of both sets")
		return
	}
	ratio := *l.EMANext / *l.EMACurrent
	limit := consistency
	if l.Limit != nil {
		limit = *l.Limit
	}
	g.Ratio = &ratio
	g.Consistent = ratio <= limit+digits
	slack := float64(ratio * (halfKL / *l.EMACurrent + halfKL / *l.EMANext))
	if math.Abs(ratio-limit) < slack {
		g.Open = append(g.Open, "consistency: ratio and limit are equal but for what printing rounds")
	}
	if l.Ratio != nil && math.Abs(ratio-*l.Ratio) > slack+halfRatio+digits {
		g.Differs = append(g.Differs, fmt.Sprintf("consistency ratio: %.3f, the log has %g", ratio, *l.Ratio))
	}
	if l.Consistent != nil && *l.Consistent != g.Consistent && len(g.Open) == 0 {
		g.Differs = append(g.Differs, fmt.Sprintf("consistency: the log has %v", *l.Consistent))
	}
}

// checkScore checks the score of a log line: a model that fails a gate (a required test) must have
// score 0. How the score of a passing model is computed from its KL is not published, so that
// g.Open lists it as unchecked.
func (g *Gate) checkScore(l *Line) {
	switch {
	case l.Score == nil:
	case g.Gate == "PASS":
		g.Open = append(g.Open, "the score's mapping of KL, which is not published")
	case *l.Score != 0:
		g.Differs = append(g.Differs, fmt.Sprintf("score: the gate fails, the log has %g", *l.Score))
	}
}

// Flow returns how steadily an average falls, from 0 to 1: the tanh of the mean downward step
// divided by the standard deviation of the steps. It returns NaN for fewer than ten rounds.
func Flow(averages []float64) float64 {
	if len(averages) < flowRounds {
		return math.NaN()
	}
	steps := make([]float64, len(averages)-1)
	for i := range steps {
		steps[i] = averages[i] - averages[i+1]
	}
	mean, sd := stat.PopMeanStdDev(steps, nil)
	return max(0, math.Tanh(mean/(sd+1e-4)))
}

// Average returns the exponential moving average after a new value, whose weight is 0.1.
func Average(previous, value float64) float64 {
	return float64(emaAlpha*value) + float64((1-emaAlpha)*previous)
}
