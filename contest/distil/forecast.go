package distil

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/stats"
)

// Forecast is the estimated chance of a challenger to become king.
type Forecast struct {
	Model string `json:"model"`
	// Better is the probability that the challenger's true KL is below the king's by the rule's
	// margin, computed with Student's t from the differences of the prompts. It is NaN for one
	// prompt.
	Better contest.Number `json:"p_better_by_margin"`
	// Crown is the share of simulated rounds in which the rule makes the challenger king. A
	// simulated round has as many prompts as the measured one, sampled from its prompts. The
	// interval is computed by resampling the measured prompts.
	Crown contest.Figure `json:"p_crown"`
}

// WhatIf is the share of simulated rounds in which a challenger becomes king with another margin
// or number of prompts.
type WhatIf struct {
	Model   string         `json:"model"`
	Margin  float64        `json:"margin"`
	Prompts int            `json:"prompts"`
	Crown   contest.Number `json:"p_crown"`
}

// Decision is the decision of a rule in one round, with forecasts.
type Decision struct {
	Winner   string    `json:"winner"`
	Crowned  bool      `json:"crowned"`
	Verdicts []Verdict `json:"verdicts"`
	// Holds is the share of Draws simulated rounds in which the rule has the same winner.
	Holds     contest.Number `json:"holds"`
	Forecasts []Forecast     `json:"forecasts"`
	WhatIfs   []WhatIf       `json:"what_if"`
}

// Draws is the number of simulated rounds for a rate, whose error is then at most 0.01.
const Draws = 10_000

// An interval is from outerDraws times innerDraws simulated rounds.
const (
	outerDraws = 200
	innerDraws = 200
)

// The margins and numbers of prompts that are tried as what-ifs.
var (
	whatIfMargins = []float64{0, 0.01, 0.03, 0.05}
	whatIfPrompts = []int{40, 100, 300}
)

// WithMargin returns a copy of the rule with another margin.
func (r *Rule) WithMargin(margin float64) Rule {
	changed := *r
	if r.Kind == Relative {
		changed.Epsilon = margin
	} else {
		changed.Margin = margin
	}
	return changed
}

// margin returns the share by which a challenger must be better than the king (the best model so
// far) to replace it, such as 0.01 for 1 %.
func (r *Rule) margin() float64 {
	if r.Kind == Relative {
		return r.Epsilon
	}
	return r.Margin
}

// Decide decides a round and simulates further rounds of the same models. Every student must
// have a KL on each prompt. king is the index of the king in students.
func (r *Rule) Decide(king int, students []Student) Decision {
	k := &students[king]
	winner := r.decide(k, students, nil)
	d := Decision{Winner: winner.Model, Crowned: winner != k}
	draws := newDraws(k, students)
	rates := draws.crowns(r, nil, len(k.KLs), Draws)
	d.Holds = contest.Number(rates[winner.Model])
	intervals := draws.intervals(r)
	for i := range students {
		c := &students[i]
		if i == king {
			continue
		}
		d.Verdicts = append(d.Verdicts, r.verdict(k, c, ""))
		d.Forecasts = append(d.Forecasts, Forecast{
			Model:  c.Model,
			Better: contest.Number(1 - stats.PairedT(leads(k, c, r.margin()))),
			Crown:  contest.NewFigure(rates[c.Model], intervals[c.Model], len(k.KLs)),
		})
	}
	d.WhatIfs = draws.whatIfs(r)
	return d
}

// draws is a simulator of contest rounds. It samples the prompts of each simulated round at random
// from the prompts of one measured round.
type draws struct {
	king     *Student
	students []Student
	random   *rand.Rand //nolint:forbidigo // seeded: the same numbers every time
}

func newDraws(king *Student, students []Student) *draws {
	return &draws{king, students, rand.New(rand.NewPCG(4, uint64(len(king.KLs))))} //nolint:forbidigo // as above
}

// crowns simulates rounds and returns, by model, the share of rounds after which the model is king
// by rule r, only for models that are king at least once. Each round has the given number of
// prompts, sampled from base, which has indexes of measured prompts. A nil base means all of them.
// times is the number of rounds.
func (d *draws) crowns(r *Rule, base []int, prompts, times int) map[string]float64 {
	if base == nil {
		base = make([]int, len(d.king.KLs))
		for i := range base {
			base[i] = i
		}
	}
	won := map[string]int{}
	order := make([]int, prompts)
	sample := make([]Student, len(d.students))
	for range times {
		for i := range order {
			order[i] = base[d.random.IntN(len(base))]
		}
		king := d.king.resample(order)
		for i := range d.students {
			sample[i] = d.students[i].resample(order)
		}
		won[r.decide(&king, sample, nil).Model]++
	}
	shares := map[string]float64{}
	for name, n := range won {
		shares[name] = float64(n) / float64(times)
	}
	return shares
}

// intervals returns, by model, the 95 % interval of the share of simulated rounds after which the
// rule makes the model king (the best so far). It is computed by resampling the measured prompts.
func (d *draws) intervals(r *Rule) map[string]stats.Interval {
	n := len(d.king.KLs)
	shares := map[string][]float64{}
	base := make([]int, n)
	for range outerDraws {
		for i := range base {
			base[i] = d.random.IntN(n)
		}
		won := d.crowns(r, base, n, innerDraws)
		for i := range d.students {
			name := d.students[i].Model
			shares[name] = append(shares[name], won[name])
		}
	}
	out := map[string]stats.Interval{}
	for name, s := range shares {
		slices.Sort(s)
		cut := int(math.Round(0.025 * outerDraws))
		out[name] = stats.Interval{Low: s[cut], High: s[outerDraws-1-cut]}
	}
	return out
}

func (d *draws) whatIfs(r *Rule) []WhatIf {
	var out []WhatIf
	for _, margin := range whatIfMargins {
		changed := r.WithMargin(margin)
		for _, n := range whatIfPrompts {
			won := d.crowns(&changed, nil, n, Draws)
			for i := range d.students {
				if c := &d.students[i]; c.Model != d.king.Model {
					out = append(out, WhatIf{c.Model, margin, n, contest.Number(won[c.Model])})
				}
			}
		}
	}
	return out
}
