// Package multiplier converts reasoning scores to the factors that weight outcomes.
// The subnet has one way; a researcher may choose another. An attempt that a judge
// could not score never counts as a low grade.
package multiplier

import (
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
)

// Per is the unit whose quality weights an attempt.
type Per string

// An attempt is weighted by its own score, or by the mean of its run as the subnet
// does.
const (
	Attempt Per = "attempt"
	Run     Per = "run"
)

// Unscored is the treatment of an attempt without a score.
type Unscored string

// An attempt without a score is excluded from every sum and has no factor, or counts
// as the mean of its run.
const (
	Excluded Unscored = "excluded"
	Mean     Unscored = "mean"
)

// Frames is the treatment of the attempts of an agent whose day is flagged as one of
// frames (judges/frames).
type Frames string

// The factor of a flagged attempt is kept, halved but not below that of silence, or 0.
const (
	KeepFrames  Frames = "keep"
	HalveFrames Frames = "halve"
	VoidFrames  Frames = "void"
)

// Config is the researcher's choice.
type Config struct {
	// Per is the weight of a reward: the grade of its attempt, or the mean of its run.
	Per Per `json:"per" yaml:"per"`
	// Unscored is the treatment of attempts without a grade: excluded, or the mean of
	// their run.
	Unscored Unscored `json:"unscored" yaml:"unscored"`
	// Frames is the treatment of the factors of an agent's day whose deciding passages
	// are one frame filled again and again: keep, halve (but not below the factor
	// of an attempt that says nothing) or void.
	Frames        Frames `json:"frames" yaml:"frames"`
	outcome.Scale `yaml:",inline"`
}

// Defaults returns weights by attempt on the subnet's scale: training rows are single
// attempts, and a run's mean would reward its weakest with its strongest. A flagged
// day is halved, to no less than the factor of silence: a made comparison then earns the
// 0.5625 of an attempt that says nothing, and an honest remark never less.
func Defaults() Config {
	return Config{
		Per:      Attempt,
		Unscored: Excluded,
		Frames:   HalveFrames,
		Scale:    outcome.SubnetScale(),
	}
}

// Validate returns an error that lists every unusable value.
func (c Config) Validate() error {
	var bad wrong.List
	bad.Unless(c.Per == Attempt || c.Per == Run, "multiplier.per is %q: want attempt or run", c.Per)
	bad.Unless(c.Unscored == Excluded || c.Unscored == Mean, "multiplier.unscored is %q: want excluded or mean", c.Unscored)
	isFrames := c.Frames == KeepFrames || c.Frames == HalveFrames || c.Frames == VoidFrames
	bad.Unless(isFrames, "multiplier.frames is %q: want keep, halve or void", c.Frames)
	bad.Unless(c.Floor >= 0 && c.Floor <= 1, "multiplier.floor is %v: want 0 to 1", c.Floor)
	bad.Unless(c.Ceiling > 0 && c.Ceiling <= 1, "multiplier.ceiling is %v: want more than 0 and at most 1", c.Ceiling)
	return bad.Err()
}

// Quality sums up one run's reasoning scores. The zero value is a run without
// attempts.
type Quality struct {
	// Judged is the number of attempts with anything to judge, Scored that of those
	// with a score, Sum the sum of these scores.
	Judged int
	Scored int
	Sum    float64
}

// Add returns q with one more judgeable attempt; score is nil if it has none.
func (q Quality) Add(score *float64) Quality {
	q.Judged++
	if score != nil {
		q.Scored++
		q.Sum += *score
	}
	return q
}

// Mean returns the mean of the scores, nil if there are none.
func (q Quality) Mean() *float64 {
	if q.Scored == 0 {
		return nil
	}
	return new(q.Sum / float64(q.Scored))
}

// Coverage returns the share of judgeable attempts that have a score, 1 if there are
// none. Every mean should be reported with it.
func (q Quality) Coverage() float64 {
	if q.Judged == 0 {
		return 1
	}
	return float64(q.Scored) / float64(q.Judged)
}

// NeedsRuns reports whether a factor depends on more than the attempt's own score.
func (c Config) NeedsRuns() bool { return c.Per == Run || c.Unscored == Mean }

// Factor returns the weight of an attempt of a run; nil if it is excluded. framed
// reports whether the attempt or its agent's day is flagged.
func (c Config) Factor(score *float64, run Quality, framed bool) *float64 {
	if score == nil && c.Unscored == Excluded {
		return nil
	}
	q := score
	if score == nil || c.Per == Run {
		q = run.Mean()
	}
	if q == nil {
		return nil
	}
	m := c.Multiplier(*q)
	if framed {
		m = c.framed(m)
	}
	return &m
}

// Silent is the grade of an attempt whose thinking says nothing of the results.
const Silent = 0.3

// framed returns the payment factor of an attempt whose agent is flagged because its thinking only
// fills in a template. m is the factor without the flag. As c.Frames demands, the result is m, or
// 0, or half of m, but then not less than an attempt gets whose thinking says nothing of the
// results.
func (c Config) framed(m float64) float64 {
	switch c.Frames {
	case HalveFrames:
		return min(m, max(m/2, c.Multiplier(Silent)))
	case VoidFrames:
		return 0
	case KeepFrames:
	}
	return m
}

// Ungradable returns the weight of an attempt whose thinking no model said: that of a score
// of 0, whatever its run is worth. A program cannot gain by it, and the model's calls stay.
func (c Config) Ungradable(framed bool) *float64 {
	c.Per = Attempt
	return c.Factor(new(0.0), Quality{}, framed)
}
