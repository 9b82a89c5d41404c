// Package evolai checks the rounds of subnet 47: the order lock, seed, evaluate;
// the gates of each model, from the numbers that a validator's log prints; the
// state that it keeps as moving averages; the arithmetic of its side quests. What
// the log leaves out is said, not guessed.
package evolai

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// The parameters of the subnet.
const (
	improvement = 0.98 // of the locked revision before, on the same rows
	consistency = 1.20 // of the average on the next set over that on the current
	emaAlpha    = 0.1
	flowRounds  = 10
)

// The log prints KLs with four decimals and ratios with three; a half of the last
// is what a printed number may be off.
const (
	halfKL    = 0.5e-4
	halfRatio = 0.5e-3
	digits    = 1e-9 // what decimals may be off as binary fractions
)

// Line is one gate line of a validator's log.
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
	// Reason is the log's word for the improve gate.
	Reason     string   `json:"improve_reason"`
	Consistent *bool    `json:"consistency_ok"`
	Gate       string   `json:"gate"`
	Flow       *float64 `json:"flow"`
	Score      *float64 `json:"score_printed"`
	// Revision and PreviousRevision are those locked now and before; where the
	// log has none, equal KLs on the same rows tell the same revision.
	Revision         string `json:"revision"`
	PreviousRevision string `json:"previous_revision"`
}

// Gate is one line, decided again.
type Gate struct {
	Epoch int64  `json:"epoch" parquet:"epoch"`
	Track string `json:"track" parquet:"track"`
	UID   int64  `json:"uid" parquet:"uid"`
	// Improve is the reason of the improve gate: improved, or why not.
	Improve string `json:"improve" parquet:"improve"`
	// Change is KL on the rows of before, against the revision before, as a
	// share: -0.02 and less passes.
	Change     *float64 `json:"change" parquet:"change,optional"`
	Ratio      *float64 `json:"consistency_ratio" parquet:"consistency_ratio,optional"`
	Consistent bool     `json:"consistent" parquet:"consistent"`
	Gate       string   `json:"gate" parquet:"gate"`
	// Differs names what the log prints otherwise; Open what its digits are too
	// few for, or what it leaves out.
	Differs []string `json:"differs,omitempty" parquet:"differs,list"`
	Open    []string `json:"open,omitempty" parquet:"open,list"`
}

// Decide decides a line again and holds it against what it prints.
func Decide(l *Line) Gate {
	g := Gate{Epoch: l.Epoch, Track: l.Track, UID: l.UID}
	improved := g.improve(l)
	g.consistency(l)
	g.Gate = "FAIL"
	if improved && g.Consistent {
		g.Gate = "PASS"
	}
	if l.Gate != "" && l.Gate != g.Gate && len(g.Open) == 0 {
		g.Differs = append(g.Differs, fmt.Sprintf("gate: the log has %s", l.Gate))
	}
	g.score(l)
	return g
}

// improve is the first gate. Whoever has no reference fails it.
func (g *Gate) improve(l *Line) bool {
	switch {
	case l.Previous == nil || l.KLCurrent == nil:
		g.Improve = "no_reference"
	case l.Revision != "" && l.Revision == l.PreviousRevision, l.Revision == "" && *l.KLCurrent == *l.Previous:
		g.Improve = "same_revision"
	case *l.KLCurrent <= float64(improvement**l.Previous)+digits:
		g.Improve = "improved"
	default:
		g.Improve = "too_small"
	}
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
	if failing[l.Reason] && l.Reason != g.Improve && len(g.Open) == 0 {
		g.Differs = append(g.Differs, fmt.Sprintf("improve: the log has %q", l.Reason))
	}
	return g.Improve == "improved"
}

// failing are the log's words for not passing, as far as published lines have them:
// what other words mean, the gate says.
var failing = map[string]bool{"same_revision": true, "too_small": true}

func (g *Gate) consistency(l *Line) {
	if l.EMACurrent == nil || l.EMANext == nil || !(*l.EMACurrent > 0) {
		g.Open = append(g.Open, "averages of both sets")
		return
	}
	limit, ratio := consistency, *l.EMANext / *l.EMACurrent
	if l.Limit != nil {
		limit = *l.Limit
	}
	g.Ratio, g.Consistent = &ratio, ratio <= limit+digits
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

// score checks a failed gate's 0. What passes is scored by a mapping of KL that is
// not published.
func (g *Gate) score(l *Line) {
	switch {
	case l.Score == nil:
	case g.Gate == "PASS":
		g.Open = append(g.Open, "the score's mapping of KL, which is not published")
	case *l.Score != 0:
		g.Differs = append(g.Differs, fmt.Sprintf("score: the gate fails, the log has %g", *l.Score))
	}
}

// Flow is how steadily an average falls: the mean of its steps down over their
// standard deviation, squashed to 0 to 1. NaN for fewer than ten rounds.
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

// Average moves an average by a new value.
func Average(before, value float64) float64 {
	return float64(emaAlpha*value) + float64((1-emaAlpha)*before)
}
