// Package evolai checks the rounds of subnet 47 from a validator's log: that models are locked,
// a seed is published and models are evaluated in this order; the two tests that each model
// must pass (gates); the moving averages; the arithmetic of side quests. Numbers that the log
// lacks are reported, not guessed.
package evolai

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// The parameters of the subnet: improvement and consistency are the limits of the two gates,
// emaAlpha is the weight of a new value in moving averages, flowRounds the minimum number of
// rounds of a flow.
const (
	improvement = 0.98 // of the previous revision's KL on the same rows, at most
	consistency = 1.20 // of the average on the current set, the average on the next set at most
	emaAlpha    = 0.1
	flowRounds  = 10
)

// The rounding errors of the log, which prints KLs with four decimals and ratios with three:
// half of the last decimal. digits is the error of decimals in binary.
const (
	halfKL    = 0.5e-4
	halfRatio = 0.5e-3
	digits    = 1e-9
)

// Line is one line of a validator's log that has the decision about a model.
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
	// Reason is the log's reason for the result of the improvement gate.
	Reason     string   `json:"improve_reason"`
	Consistent *bool    `json:"consistency_ok"`
	Gate       string   `json:"gate"`
	Flow       *float64 `json:"flow"`
	Score      *float64 `json:"score_printed"`
	// Revision and PreviousRevision are the revisions of the model that are locked now and in
	// the round before. If the log has none, equal KLs on the same rows mean the same revision.
	Revision         string `json:"revision"`
	PreviousRevision string `json:"previous_revision"`
}

// Gate is the recomputed decision of one line: whether the model passes both gates, improvement
// and consistency.
type Gate struct {
	Epoch int64  `json:"epoch" parquet:"epoch"`
	Track string `json:"track" parquet:"track"`
	UID   int64  `json:"uid" parquet:"uid"`
	// Improve is the result of the improvement gate: improved, or the reason why not.
	Improve string `json:"improve" parquet:"improve"`
	// Change is the change of KL from the previous revision on the same rows, as a share: -0.02
	// or less passes.
	Change     *float64 `json:"change" parquet:"change,optional"`
	Ratio      *float64 `json:"consistency_ratio" parquet:"consistency_ratio,optional"`
	Consistent bool     `json:"consistent" parquet:"consistent"`
	Gate       string   `json:"gate" parquet:"gate"`
	// Differs lists what the log prints differently. Open lists what the log has too few digits
	// for, or lacks.
	Differs []string `json:"differs,omitempty" parquet:"differs,list"`
	Open    []string `json:"open,omitempty" parquet:"open,list"`
}

// Decide recomputes the decision of a line and compares it with the printed one.
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
	if l.Gate != "" && l.Gate != g.Gate && len(g.Open) == 0 {
		g.Differs = append(g.Differs, fmt.Sprintf("gate: the log has %s", l.Gate))
	}
	g.checkScore(l)
	return g
}

// addImprovement decides the improvement gate, that the KL is at most 0.98 of the previous
// revision's on the same rows, and reports whether the line passes. A line without the previous
// KL fails.
func (g *Gate) addImprovement(l *Line) bool {
	g.Improve = improveReason(l)
	if l.Previous != nil {
		required := float64(improvement * *l.Previous)
		if l.Requirement != nil && math.Abs(required-*l.Requirement) > (1+improvement)*halfKL+digits {
			g.Differs = append(g.Differs, fmt.Sprintf("requirement: %.4f, the log has %g", required, *l.Requirement))
		}
		if l.KLCurrent != nil {
			change := *l.KLCurrent / *l.Previous - 1
			g.Change = &change
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

// failureReasons are the reasons of failed lines in published logs. Other reasons
// are not compared, since their meaning is unknown.
var failureReasons = map[string]bool{"same_revision": true, "too_small": true}

// addConsistency decides the consistency gate: that the average KL on the next set is at most
// 1.20 times that on the current set, or the limit that the line has. It compares the result
// with the printed one.
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

// checkScore checks that a failed line has score 0. How a passed line's score follows from its
// KL is not published, so it is listed as open.
func (g *Gate) checkScore(l *Line) {
	switch {
	case l.Score == nil:
	case g.Gate == "PASS":
		g.Open = append(g.Open, "the score's mapping of KL, which is not published")
	case *l.Score != 0:
		g.Differs = append(g.Differs, fmt.Sprintf("score: the gate fails, the log has %g", *l.Score))
	}
}

// Flow computes how steadily an average falls, 0 to 1: the mean of its steps down divided by
// their standard deviation, through tanh. It returns NaN for fewer than ten rounds.
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

// Average computes the exponential moving average after a new value, which has weight 0.1.
func Average(previous, value float64) float64 {
	return float64(emaAlpha*value) + float64((1-emaAlpha)*previous)
}
