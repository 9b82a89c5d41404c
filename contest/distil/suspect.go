package distil

import (
	"fmt"
	"math"
	"slices"
)

// The limits of the subnet.
const (
	maxParameters = 5.25e9
	maxKL         = 2.0
)

// Flag says what a student did that no honest run does, or what bars it.
type Flag struct {
	Round string `json:"round"`
	Model string `json:"model"`
	UID   string `json:"uid,omitempty"`
	// Kind is forged, copy, size, vocabulary, kl or published.
	Kind string `json:"kind"`
	Why  string `json:"why"`
}

// suspects looks at the numbers alone: names and published reasons play no part,
// but for a status that the validator itself gave. The first of those that are
// equal is taken for the original.
func (e *Eval) suspects(round string) (flags []Flag) {
	for i := range e.Students {
		if kind, why := e.suspect(i); kind != "" {
			flags = append(flags, Flag{round, e.Students[i].Model, e.Students[i].UID, kind, why})
		}
	}
	return flags
}

func (e *Eval) suspect(i int) (kind, why string) {
	s := &e.Students[i]
	switch {
	case spreadless(s.KLs):
		return "forged", fmt.Sprintf("%d prompts have the same KL %v: no model has no spread", len(s.KLs), s.KLs[0])
	case s.Parameters > maxParameters:
		return "size", fmt.Sprintf("%.4g parameters, at most %.4g", s.Parameters, maxParameters)
	case s.Vocabulary > 0 && e.Vocabulary > 0 && s.Vocabulary != e.Vocabulary:
		return "vocabulary", fmt.Sprintf("%d tokens, the teacher has %d", s.Vocabulary, e.Vocabulary)
	case s.Mean() > maxKL:
		return "kl", fmt.Sprintf("KL %.4g is above %g", s.Mean(), maxKL)
	}
	for k := range e.Students[:i] {
		if why := s.copies(&e.Students[k]); why != "" {
			return "copy", why
		}
	}
	if s.Status != "" && s.Status != "scored" && s.Status != "early_stopped" {
		return "published", fmt.Sprintf("the file says %q", s.Status)
	}
	return "", ""
}

// spreadless reports whether three prompts or more have one KL to the last digit.
func spreadless(kls []float64) bool {
	return len(kls) > 2 && !slices.ContainsFunc(kls, func(v float64) bool { return v != kls[0] })
}

// copies says how a student equals an earlier one; empty where it does not: by its
// hash, by the KLs of two prompts or more, or by the least and largest KL of one
// prompt's positions. How often different students meet on one prompt is in
// docs/decisions/20261123-contest.md.
func (s *Student) copies(earlier *Student) string {
	if s.Hash != "" && s.Hash == earlier.Hash {
		return "the hash of " + earlier.Model
	}
	n := min(len(s.KLs), len(earlier.KLs))
	if n > 1 && slices.Equal(s.KLs[:n], earlier.KLs[:n]) {
		return fmt.Sprintf("the KLs of %s on all of %d prompts", earlier.Model, n)
	}
	for i := range min(len(s.Extremes), len(earlier.Extremes)) {
		a, b := s.Extremes[i], earlier.Extremes[i]
		if s.Positions[i] >= leastPositions && a[0] == b[0] && math.Abs(a[1]-b[1]) < 1e-6*a[1] {
			return fmt.Sprintf("the least and the largest KL of %s over the %g positions of prompt %d", earlier.Model, s.Positions[i], i)
		}
	}
	return ""
}

// leastPositions is over how many positions extremes tell models apart.
const leastPositions = 100

func (e *Eval) out(flags []Flag) map[string]string {
	out := map[string]string{}
	for i := range e.Students {
		s := &e.Students[i]
		switch {
		case len(s.KLs) == 0 || math.IsNaN(s.Mean()):
			out[s.Model] = "no prompts"
		case s.Stopped:
			out[s.Model] = "stopped early"
		}
	}
	for _, f := range flags {
		out[f.Model] = f.Kind
	}
	return out
}
