// Package kl measures the divergence of a student's next-token distributions from a teacher's:
// KL(teacher || student) in nats. It is exact if both are known over the whole vocabulary, and a
// lower bound if only the likeliest tokens are known. Two truncated forms are those that subnet
// 97 scores by, each with what it ignores.
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

// ErrValues is wrapped by the errors for numbers that are not a probability distribution.
var ErrValues = errors.New("no distribution")

// LogSoftmax converts logits to log-probabilities in place. Log-probabilities are left
// unchanged. Minus infinity means an impossible token.
func LogSoftmax(logits []float64) error {
	maximum := slices.Max(logits) // NaN if any is
	if math.IsNaN(maximum) || math.IsInf(maximum, 0) {
		return fmt.Errorf("%w: the largest logit is %v", ErrValues, maximum)
	}
	total := 0.0
	for _, v := range logits {
		total += math.Exp(v - maximum)
	}
	norm := maximum + math.Log(total)
	for i := range logits {
		logits[i] -= norm
	}
	return nil
}

// Full returns KL(teacher || student) for log-probabilities over the same vocabulary. It is
// infinite if a token that the teacher can generate is impossible for the student.
func Full(teacher, student []float64) float64 {
	sum := 0.0
	for i, t := range teacher {
		sum += term(t, student[i])
	}
	return max(0, sum)
}

// term returns p log(p/q), what one token adds to the KL if the teacher gives it the probability p
// and the student q. The arguments are the logarithms t = log p and s = log q. It returns 0 if p is
// 0.
func term(t, s float64) float64 {
	p := math.Exp(t)
	if p == 0 {
		return 0
	}
	return p * (t - s)
}

// rounding is the maximum error of the total probability of a position if a server reports
// log-probabilities in single precision.
const rounding = 1e-6

// Bound computes the lowest value that KL(teacher || student) can have if only the tokens in the
// rows are known. Tokens in both rows are compared one by one. The teacher's other tokens are
// merged into one, for which the student has at most the probability that its row does not
// assign. All remaining tokens are merged into another. Merging tokens never raises KL, so the
// bound is never above the true value.
func Bound(teacher, student *Row) float64 {
	sum := 0.0
	shared := 0.0          // the teacher's probability of the tokens in both rows
	sharedByStudent := 0.0 // the student's probability of these tokens
	teacherOnly := 0.0
	for id, t := range teacher.tokens() {
		p := math.Exp(t)
		if s, ok := student.logP(id); ok {
			sum += term(t, s)
			shared += p
			sharedByStudent += math.Exp(s)
		} else {
			teacherOnly += p
		}
	}
	tail := max(0, 1-shared-teacherOnly)
	remaining := max(rounding, 1-sharedByStudent)
	return max(0, sum+minBuckets(
		teacherOnly,
		tail,
		remaining,
		max(rounding, 1-totalProbability(student)),
	))
}

// minBuckets returns the minimum of a log(a/u) + b log(b/(total-u)) over 0 < u <= limit. This is
// the lowest KL of two groups of tokens to which the teacher gives the probabilities a and b,
// and the student u and total-u.
func minBuckets(a, b, total, limit float64) float64 {
	if a == 0 {
		return bucket(b, total)
	}
	u := total * a / (a + b)
	if u <= limit {
		return bucket(a+b, total)
	}
	return bucket(a, limit) + bucket(b, max(rounding, total-limit))
}

// bucket returns p log(p/q), what a group of tokens adds to the KL if the teacher gives the group
// the total probability p and the student q. It returns 0 if p is 0.
func bucket(p, q float64) float64 {
	if p <= 0 {
		return 0
	}
	return p * math.Log(p/q)
}

// Supported computes KL over those of the teacher's tokens that are in the student's row. Both
// distributions are first normalised to total probability 1 over these tokens. It returns NaN if
// there are none.
func Supported(teacher []Token, student *Row) float64 {
	var t, s []float64
	for _, token := range teacher {
		if logP, ok := student.logP(token.ID); ok {
			t = append(t, token.LogP)
			s = append(s, logP)
		}
	}
	if len(t) == 0 {
		return math.NaN()
	}
	if slices.Max(s) == math.Inf(-1) {
		return math.Inf(1)
	}
	if LogSoftmax(t) != nil || LogSoftmax(s) != nil {
		return math.NaN()
	}
	return Full(t, s)
}

// Top returns a row of the k likeliest tokens of r, the likeliest first. Equally likely tokens
// keep the order of r.
func Top(r *Row, k int) *Row {
	top := make([]Token, 0, k+1)
	for id, v := range r.tokens() {
		if len(top) == k && v <= top[k-1].LogP {
			continue
		}
		pos := sort.Search(len(top), func(i int) bool {
			return top[i].LogP < v
		})
		top = slices.Insert(top, pos, Token{id, v})
		top = top[:min(k, len(top))]
	}
	return &Row{Top: top}
}
