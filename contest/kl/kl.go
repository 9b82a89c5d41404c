// Package kl measures the divergence of a student's next-token distributions from a
// teacher's: KL(teacher || student) in nats, exactly if both are known over the
// whole vocabulary, as a lower bound if only the likeliest tokens are, and in the
// two truncated forms that subnet 97 scores by, each with what it ignores.
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

// ErrValues is returned, wrapped, for numbers that are no distribution.
var ErrValues = errors.New("no distribution")

// LogSoftmax converts logits to log-probabilities in place. Log-probabilities are
// unchanged. Minus infinity is an impossible token.
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

// Full returns KL(teacher || student) of log-probabilities over the same
// vocabulary. It is infinite if a token of the teacher is impossible for the
// student.
func Full(teacher, student []float64) float64 {
	sum := 0.0
	for i, t := range teacher {
		sum += term(t, student[i])
	}
	return max(0, sum)
}

// term returns the term of one token in a KL, p log(p/q), given the logarithms t = log p and s
// = log q. It is 0 if p is 0.
func term(t, s float64) float64 {
	p := math.Exp(t)
	if p == 0 {
		return 0
	}
	return p * (t - s)
}

// rounding is the maximum error of the total probability of one position if servers report
// log-probabilities in single precision.
const rounding = 1e-6

// Bound computes the lowest value that KL(teacher || student) can have if only the tokens in
// the rows are known. Tokens in both rows are compared one by one. The teacher's other tokens
// are treated as one, for which the student has at most the probability that its row leaves;
// all remaining tokens are treated as another. Merging tokens never raises KL, so the bound is
// never above the true value.
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

// minBuckets returns the minimum of a log(a/u) + b log(b/(total-u)) over 0 < u <= limit: the
// least KL of two groups of tokens with the teacher's probabilities a and b, if the student
// divides total between them and gives the first at most limit.
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

// bucket returns the term of a group of tokens in a KL, p log(p/q), for the probabilities p of
// the teacher and q of the student. It is 0 if p is 0.
func bucket(p, q float64) float64 {
	if p <= 0 {
		return 0
	}
	return p * math.Log(p/q)
}

// Supported computes KL over those of the teacher's tokens that are in the student's row, after
// both are normalised to total probability 1 over these tokens. It is NaN if there are none.
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

// Top returns a row of the k likeliest tokens of r, the likeliest first. Equally likely ones
// are in the order of r.
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
