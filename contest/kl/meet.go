package kl

import (
	"fmt"
	"iter"
	"math"
	"slices"
)

// side is one of the two files that are read together.
type side struct {
	name string
	pull func() (*Row, error, bool)
	stop func()
	// row is nil at the end.
	row *Row
	err error
}

func newSide(name string, rows iter.Seq2[*Row, error]) *side {
	s := &side{name: name}
	s.pull, s.stop = iter.Pull2(rows)
	return s
}

func (s *side) next() {
	if s.row, s.err, _ = s.pull(); s.err != nil {
		s.row, s.err = nil, fmt.Errorf("read %s: %w", s.name, s.err)
	}
}

// rollout numbers the row's from 1; the end comes last.
func (s *side) rollout() int64 {
	if s.row == nil {
		return math.MaxInt64
	}
	return s.row.Of.Rollout + 1
}

// meet moves on in two runs to the next position at which both models had read the
// same. Files of other kinds have the same positions by themselves.
func (r *Report) meet(a, b *side) {
	for a.err == nil && b.err == nil && a.sampled() && b.sampled() && (a.row != nil || b.row != nil) {
		at, of := a.rollout(), b.rollout()
		switch {
		case at < of || at <= r.left:
			a.next()
		case of < at || of <= r.left:
			b.next()
		case a.row.Position != b.row.Position || otherwise(a.row.Of.Given, b.row.Of.Given):
			r.left = at
			continue
		default:
			if a.row.Of.Drawn != b.row.Of.Drawn {
				r.left = at
			}
			return
		}
		r.Apart++
	}
}

// otherwise reports whether two models were given other tokens, as far as is known.
func otherwise(a, b []int32) bool { return len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) }

func (s *side) sampled() bool { return s.row == nil || s.row.Of != nil }
