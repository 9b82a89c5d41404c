// Package multiplier turns reasoning scores into the factors that outcomes are
// weighed with. The subnet has one way; a researcher may choose another. What a
// judge could not score is never a low grade.
package multiplier

import (
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/judges/outcome"
)

// Per says whose quality weighs an attempt.
type Per string

// An attempt is weighed by its own score, or by the mean of its run as the
// subnet does.
const (
	Attempt Per = "attempt"
	Run     Per = "run"
)

// Unscored says what becomes of an attempt without a score.
type Unscored string

// An attempt without a score is left out of every sum and has no factor of its
// own, or counts as the mean of its run.
const (
	Excluded Unscored = "excluded"
	Mean     Unscored = "mean"
)

// Frames says what becomes of the attempts of an agent whose day is flagged as
// one of frames (judges/frames).
type Frames string

// The factor of a flagged attempt stays, is halved, or is 0.
const (
	KeepFrames  Frames = "keep"
	HalveFrames Frames = "halve"
	VoidFrames  Frames = "void"
)

// Config is the researcher's choice.
type Config struct {
	// Per says by what a reward is weighed: the grade of its attempt, or the mean
	// of its run.
	Per Per `json:"per" yaml:"per"`
	// Unscored says what becomes of attempts without a grade: excluded, or the mean
	// of their run.
	Unscored Unscored `json:"unscored" yaml:"unscored"`
	// Frames says what becomes of the factors of an agent's day whose deciding
	// passages are one frame filled again and again: keep, halve or void.
	Frames        Frames `json:"frames" yaml:"frames"`
	outcome.Scale `yaml:",inline"`
}

// Defaults weigh each attempt by itself, on the subnet's scale: training rows
// are single attempts, and a run's mean would reward its weakest with its
// strongest. A flagged day is halved: a made comparison then earns 0.5, less than
// the 0.5625 of an attempt that the second gate stops, and a day flagged by mistake
// keeps half.
func Defaults() Config {
	return Config{Per: Attempt, Unscored: Excluded, Frames: HalveFrames, Scale: outcome.SubnetScale()}
}

// Validate names everything that cannot be used, all at once.
func (c Config) Validate() error {
	var bad wrong.List
	bad.Unless(c.Per == Attempt || c.Per == Run, "multiplier.per is %q: want attempt or run", c.Per)
	bad.Unless(c.Unscored == Excluded || c.Unscored == Mean, "multiplier.unscored is %q: want excluded or mean", c.Unscored)
	bad.Unless(c.Frames == KeepFrames || c.Frames == HalveFrames || c.Frames == VoidFrames, "multiplier.frames is %q: want keep, halve or void", c.Frames)
	bad.Unless(c.Floor >= 0 && c.Floor <= 1, "multiplier.floor is %v: want 0 to 1", c.Floor)
	bad.Unless(c.Ceiling > 0 && c.Ceiling <= 1, "multiplier.ceiling is %v: want more than 0 and at most 1", c.Ceiling)
	return bad.Err()
}

// Quality is what is known of one run's reasoning. The zero value is a run
// without attempts.
type Quality struct {
	// Judged counts attempts that left something to judge, Scored those that
	// have a score; Sum is the sum of these.
	Judged int
	Scored int
	Sum    float64
}

// Add counts one judgeable attempt; its score is nil where it has none.
func (q Quality) Add(score *float64) Quality {
	q.Judged++
	if score != nil {
		q.Scored++
		q.Sum += *score
	}
	return q
}

// Mean is over the scored attempts, nil without any.
func (q Quality) Mean() *float64 {
	if q.Scored == 0 {
		return nil
	}
	return new(q.Sum / float64(q.Scored))
}

// Coverage is the share of judgeable attempts that have a score, 1 where there
// was nothing to judge. It belongs beside every mean.
func (q Quality) Coverage() float64 {
	if q.Judged == 0 {
		return 1
	}
	return float64(q.Scored) / float64(q.Judged)
}

// NeedsRuns reports whether a factor depends on more than the attempt's own score.
func (c Config) NeedsRuns() bool { return c.Per == Run || c.Unscored == Mean }

// NeedsDay reports whether a factor depends on more than the attempt itself.
func (c Config) NeedsDay() bool { return c.NeedsRuns() || c.Frames != KeepFrames }

// Factor is what an attempt of a run is weighed with; nil where it is left out.
// framed says that its agent's day is flagged.
func (c Config) Factor(score *float64, run Quality, framed bool) *float64 {
	q := score
	switch {
	case score == nil && c.Unscored == Excluded:
		return nil
	case score == nil, c.Per == Run:
		q = run.Mean()
	}
	if q == nil {
		return nil
	}
	m := c.Multiplier(*q)
	if framed {
		m *= map[Frames]float64{KeepFrames: 1, HalveFrames: 0.5}[c.Frames]
	}
	return &m
}
