package distil

import (
	"fmt"
	"math"
	"slices"
)

// The subnet's limits for a student: the maximum number of parameters, and the maximum KL in
// nats.
const (
	maxParameters = 5.25e9
	maxKL         = 2.0
)

// Flag is evidence that a student's run was not honest, or that the student exceeds a limit.
type Flag struct {
	Round string `json:"round"`
	Model string `json:"model"`
	UID   string `json:"uid,omitempty"`
	// Kind is forged, copy, size, vocabulary, kl or published (the validator's own status).
	Kind string `json:"kind"`
	Why  string `json:"why"`
}

// suspects returns the flags of a round: for each student with a sign of cheating, such as being a
// copy of another, what the sign is. Each student has at most one flag. Flags are based on numbers
// and on the status that the validator published, never on names. If students are equal, the first
// counts as the original.
func (e *Eval) suspects(round string) []Flag {
	var flags []Flag
	for i := range e.Students {
		if kind, reason := e.suspect(i); kind != "" {
			flags = append(flags, Flag{round, e.Students[i].Model, e.Students[i].UID, kind, reason})
		}
	}
	return flags
}

// suspect returns the kind and the reason of the flag (sign of cheating) of student i. Both are ""
// if the student has none.
func (e *Eval) suspect(i int) (kind, reason string) {
	s := &e.Students[i]
	switch {
	case isConstant(s.KLs):
		return "forged", fmt.Sprintf("%d prompts have the same KL %v: no model has no spread", len(s.KLs), s.KLs[0])
	case s.Parameters > maxParameters:
		return "size", fmt.Sprintf("%.4g parameters, at most %.4g", s.Parameters, maxParameters)
	case s.Vocabulary > 0 && e.Vocabulary > 0 && s.Vocabulary != e.Vocabulary:
		return "vocabulary", fmt.Sprintf("%d tokens, the teacher has %d", s.Vocabulary, e.Vocabulary)
	case s.Mean() > maxKL:
		return "kl", fmt.Sprintf("KL %.4g is above %g", s.Mean(), maxKL)
	}
	for k := range e.Students[:i] {
		if evidence := s.copyEvidence(&e.Students[k]); evidence != "" {
			return "copy", evidence
		}
	}
	if s.Status != "" && s.Status != "scored" && s.Status != "early_stopped" {
		return "published", fmt.Sprintf("the file says %q", s.Status)
	}
	return "", ""
}

// isConstant reports whether there are at least three KLs and all are exactly equal and finite.
func isConstant(kls []float64) bool {
	return len(kls) > 2 && kls[0] < math.Inf(1) && !slices.ContainsFunc(kls, func(v float64) bool {
		return v != kls[0]
	})
}

// copyEvidence returns a text that names what shows that the student s is a copy of an earlier one,
// or "" if nothing does. Evidence is an equal hash, equal KLs on all common prompts (at least two),
// or on a prompt of at least minPositions tokens the same minimum KL and a maximum that differs by
// less than a millionth. docs/decisions/20261123-contest.md has the rate of such coincidences.
func (s *Student) copyEvidence(earlier *Student) string {
	if s.Hash != "" && s.Hash == earlier.Hash {
		return "the hash of " + earlier.Model
	}
	n := min(len(s.KLs), len(earlier.KLs))
	if n > 1 && slices.Equal(s.KLs[:n], earlier.KLs[:n]) {
		return fmt.Sprintf("the KLs of %s on all of %d prompts", earlier.Model, n)
	}
	for i := range min(len(s.Extremes), len(earlier.Extremes)) {
		a := s.Extremes[i]
		b := earlier.Extremes[i]
		isEqual := a[0] == b[0] && math.Abs(a[1]-b[1]) < 1e-6*a[1]
		if isEqual && s.Positions[i] >= minPositions {
			return fmt.Sprintf("the least and the largest KL of %s over the %g positions of prompt %d", earlier.Model, s.Positions[i], i)
		}
	}
	return ""
}

// minPositions is the minimum number of tokens of a prompt for which equal minimum and maximum
// KLs are evidence of a copy.
const minPositions = 100

// exclusions returns, by model, why a student of a round does not count: the kind of the flag (sign
// of cheating) that it has or, without a flag, "no prompts" or "stopped early".
func (e *Eval) exclusions(flags []Flag) map[string]string {
	reasons := map[string]string{}
	for i := range e.Students {
		s := &e.Students[i]
		switch {
		case len(s.KLs) == 0 || math.IsNaN(s.Mean()):
			reasons[s.Model] = "no prompts"
		case s.Stopped:
			reasons[s.Model] = "stopped early"
		}
	}
	for _, f := range flags {
		reasons[f.Model] = f.Kind
	}
	return reasons
}
