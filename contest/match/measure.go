package match

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/contest/kl"
)

// Measured is the KL of one student in all forms.
type Measured struct {
	Student string `json:"student"`
	// KL is the mean over prompts in the form of KL that decides.
	KL contest.Figure `json:"kl"`
	// Hidden has, for each form of KL, the share of the KL that the form ignores.
	Hidden  []Hidden    `json:"hidden"`
	Forms   []kl.Form   `json:"forms"`
	Prompts []kl.Prompt `json:"prompts"`

	report *kl.Report
}

// Hidden is the share of a KL that one form ignores. If Bound is true, only a lower bound of the
// KL is known, so the true share is at least this.
type Hidden struct {
	Form  string         `json:"form"`
	Share contest.Number `json:"share"`
	Bound bool           `json:"bound,omitempty"`
}

// rows yields a model's probabilities of the next token at each position of the teacher's
// continuations in rows, in order. scoreAll has asked the model's server for them before, in
// parallel.
func (a *asker) rows(ctx context.Context, m *Model, rows []row) iter.Seq2[*kl.Row, error] {
	return func(yield func(*kl.Row, error) bool) {
		for i := range rows {
			got, err := a.score(ctx, m, &rows[i])
			if err != nil {
				yield(nil, err)
				return
			}
			for position, top := range got.Top {
				row, err := kl.NewRow(rows[i].name, position, top)
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// measure compares a student model with the teacher and returns the KL in each form. form names the
// form (way to compute the KL) that decides the round; it is an error if that form has no value.
func measure(name, form string, teacher, student iter.Seq2[*kl.Row, error]) (Measured, error) {
	r, err := kl.Compare(teacher, student, 0)
	if err != nil {
		return Measured{}, fmt.Errorf("student %q: %w", name, err)
	}
	m := Measured{
		Student: name,
		Forms:   r.Forms,
		Prompts: r.ByPrompt(form),
		report:  r,
	}
	for _, f := range r.Forms {
		if f.Name == form {
			m.KL = f.PerPrompt
		}
	}
	if m.KL.N == 0 {
		return m, fmt.Errorf("student %q: form %s has no value: full and top128 need dumps of the whole vocabulary", name, form)
	}
	m.addHidden()
	return m, nil
}

// addHidden sets, for each form of KL (such as one over the likeliest tokens only), the share of
// the true KL that the form misses, from 0 to 1. The true KL is that over the full vocabulary or,
// if unknown, its lower bound.
func (m *Measured) addHidden() {
	best := m.Forms[0] // full before bound
	for _, f := range m.Forms[1:] {
		if f.Name == kl.FormBound {
			continue
		}
		share := math.NaN()
		if best.PerPosition > 0 {
			share = max(0, 1-float64(f.PerPosition/best.PerPosition))
		}
		m.Hidden = append(m.Hidden, Hidden{f.Name, contest.Number(share), best.Name == kl.FormBound})
	}
}
