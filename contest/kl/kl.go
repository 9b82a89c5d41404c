// Package kl measures how far a student's next-token distributions are from a
// teacher's: KL(teacher || student) in nats, exactly where both are known over
// the whole vocabulary, as a lower bound where only the likeliest tokens are, and
// in the two truncated forms that subnet 97 scores by, with what each cannot see.
package kl

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// Token is one token's log-probability.
type Token struct {
	ID   int
	LogP float64
}

// ErrValues says that numbers are no distribution.
var ErrValues = errors.New("no distribution")

// LogSoftmax turns logits into log-probabilities in place; log-probabilities stay
// as they are. Minus infinity is a token that cannot come.
func LogSoftmax(logits []float64) error {
	most := slices.Max(logits) // NaN where one is
	if math.IsNaN(most) || math.IsInf(most, 0) {
		return fmt.Errorf("%w: the largest logit is %v", ErrValues, most)
	}
	total := 0.0
	for _, v := range logits {
		total += math.Exp(v - most)
	}
	norm := most + math.Log(total)
	for i := range logits {
		logits[i] -= norm
	}
	return nil
}

// Full is KL(teacher || student) of log-probabilities over the same vocabulary:
// infinite where the student rules out a token that the teacher does not.
func Full(teacher, student []float64) float64 {
	sum := 0.0
	for i, t := range teacher {
		sum += term(t, student[i])
	}
	return max(0, sum)
}

// term is p log(p/q) for log-probabilities.
func term(t, s float64) float64 {
	p := math.Exp(t)
	if p == 0 {
		return 0
	}
	return p * (t - s)
}

// rounding is how much probability the log-probabilities of one position are
// wrong by when servers give them in single precision.
const rounding = 1e-6

// Bound is the least that KL(teacher || student) can be, given what the rows
// name. Tokens that both name are compared one by one; the teacher's others are
// one bucket, to which the student can give no more than it left unnamed; the
// tail is another. Merging tokens never raises KL, so this is never above it.
func Bound(teacher, student *Row) float64 {
	sum, shared, sharedByStudent, alone := 0.0, 0.0, 0.0, 0.0
	for id, t := range teacher.tokens() {
		p := math.Exp(t)
		if s, ok := student.logP(id); ok {
			sum, shared, sharedByStudent = sum+term(t, s), shared+p, sharedByStudent+math.Exp(s)
		} else {
			alone += p
		}
	}
	tail := max(0, 1-shared-alone)
	rest := max(rounding, 1-sharedByStudent)
	return max(0, sum+buckets(alone, tail, rest, max(rounding, 1-mass(student))))
}

// buckets is the least of a log(a/u) + b log(b/(rest-u)) over 0 < u <= most.
func buckets(a, b, rest, most float64) float64 {
	if a == 0 {
		return part(b, rest)
	}
	u := rest * a / (a + b)
	if u <= most {
		return part(a+b, rest)
	}
	return part(a, most) + part(b, max(rounding, rest-most))
}

func part(p, q float64) float64 {
	if p <= 0 {
		return 0
	}
	return p * math.Log(p/q)
}

// Supported is KL over those of the teacher's tokens that the student names,
// both renormalised over them; NaN where there are none.
func Supported(teacher []Token, student *Row) float64 {
	var t, s []float64
	for _, token := range teacher {
		if logP, ok := student.logP(token.ID); ok {
			t, s = append(t, token.LogP), append(s, logP)
		}
	}
	switch {
	case len(t) == 0:
		return math.NaN()
	case slices.Max(s) == math.Inf(-1):
		return math.Inf(1)
	case LogSoftmax(t) != nil || LogSoftmax(s) != nil:
		return math.NaN()
	}
	return Full(t, s)
}

// Top is a row of the k likeliest tokens of r, likeliest first; of equals the
// earlier one.
func Top(r *Row, k int) *Row {
	top := make([]Token, 0, k+1)
	for id, v := range r.tokens() {
		if len(top) == k && v <= top[k-1].LogP {
			continue
		}
		at := sort.Search(len(top), func(i int) bool { return top[i].LogP < v })
		top = slices.Insert(top, at, Token{id, v})
		top = top[:min(k, len(top))]
	}
	return &Row{Top: top}
}
