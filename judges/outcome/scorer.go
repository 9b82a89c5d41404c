// Package outcome scores attempts by the subnet's own rules: format and
// length of the dialogue, and the recommended products against what was asked
// for. The rules are the subnet's to the last oddity, so that a score here is
// the score that was paid; docs/outcome.md lists them.
package outcome

import (
	"context"
	"errors"
	"fmt"

	"github.com/trajectory-arena/arena"
)

// Products is the catalogue that recommended ids are looked up in.
type Products interface {
	// Document returns a product as the catalogue has it, a JSON object.
	Document(id string) (arena.Raw, bool)
}

// Scorer gives outcome scores. It may be used by several goroutines at once
// if its Products and Titles may.
type Scorer struct {
	products *documents
	problems specs
	titles   Titles
}

// New returns a scorer over a catalogue. Without titles (nil), titles are left
// out of every rule but that of the gold product itself.
func New(products Products, titles Titles) *Scorer {
	return &Scorer{products: &documents{from: products, read: map[string]*document{}}, titles: titles}
}

// Score scores the trace t against its problem p, nil where none is known. An
// attempt with a ruling has that for its outcome, whatever the rules would say; one that the rules cannot score has an outcome that says why; an error
// means that the run cannot go on.
func (s *Scorer) Score(ctx context.Context, t *arena.Trace, p *arena.Problem) (arena.Outcome, error) {
	if r := t.Ruling; r != nil {
		return arena.Outcome{Success: r.Success, Error: r.Void, Titles: arena.TitlesNone, Ruling: r}, nil
	}
	a := attempt{products: s.products, titles: s.titles, problem: p}
	fault := a.score(ctx, t, &s.problems)
	var stop *stopError
	if errors.As(fault, &stop) {
		return arena.Outcome{}, fmt.Errorf("score %s: %w", t.ID, stop.cause)
	}
	out := arena.Outcome{Titles: a.source(), Error: words(fault)}
	if fault == nil {
		out.Scores, out.Success = &a.scores, succeeds(p.Category, a.scores.Axes)
	}
	return out, nil
}

// stopError ends the run; any other error only leaves its attempt without a
// score.
type stopError struct{ cause error }

func (e *stopError) Error() string { return e.cause.Error() }

func words(fault error) string {
	if fault == nil {
		return ""
	}
	return fault.Error()
}

// succeeds needs every product's rule fulfilled, and the shop or the budget
// where the task has one.
func succeeds(c arena.Category, a *arena.Axes) bool {
	if a == nil || a.Rule < 1 {
		return false
	}
	switch c {
	case arena.CategoryShop:
		return a.Shop != nil && *a.Shop == 1
	case arena.CategoryVoucher:
		return a.Budget != nil && *a.Budget == 1
	case arena.CategoryProduct:
	}
	return true
}
