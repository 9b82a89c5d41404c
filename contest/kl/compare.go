package kl

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/stats"
)

// FormFull is exact: both files hold the whole vocabulary. FormBound is a lower
// bound; the two others are subnet 97's, over the teacher's 128 likeliest tokens,
// later over those among the 20 likeliest of both.
const (
	FormFull   = "full"
	FormBound  = "bound"
	FormTop128 = "top128"
	FormTop20  = "top20"
)

var forms = []struct {
	name, blind string
	of, unseen  func(*Position) float64
}{
	{FormFull, "nothing", func(p *Position) float64 { return p.KL }, func(*Position) float64 { return 0 }},
	{FormBound, "how either divides what it does not name; the true KL is this or more",
		func(p *Position) float64 { return p.Bound }, func(*Position) float64 { return math.NaN() }},
	{FormTop128, "what the student gives to tokens that are not among the teacher's 128",
		func(p *Position) float64 { return p.Top128 }, func(p *Position) float64 { return p.Unseen128 }},
	{FormTop20, "everything but the tokens that both name; where they share none the subnet skips the position",
		func(p *Position) float64 { return p.Top20 }, func(p *Position) float64 { return p.Unseen20 }},
}

// Report is one student against one teacher.
type Report struct {
	Network    string `json:"network,omitempty"`
	Vocabulary int    `json:"vocabulary,omitempty"`
	Positions  int    `json:"positions"`
	// Apart are the positions of two runs that cannot be compared: behind the first
	// token that the models drew differently, or of a rollout that one run lacks.
	Apart   int      `json:"positions_apart,omitempty"`
	Forms   []Form   `json:"forms"`
	Prompts []Prompt `json:"prompts"`
	// Each has the KL of every position in the first form, for tables.
	Each []Position `json:"-"`

	// left is the last rollout of two runs that has no more positions to compare,
	// counted from 1.
	left int64
}

// Form is KL in one form over all prompts.
type Form struct {
	Name string `json:"form"`
	// PerPrompt is the mean of the prompts' means, as subnet 97 scores.
	PerPrompt contest.Figure `json:"per_prompt"`
	// PerPosition weighs each position alike.
	PerPosition contest.Number `json:"per_position"`
	Measured    int            `json:"measured"`
	// Infinite are the positions in which the student rules out what the teacher
	// does not; Skipped those in which this form says nothing.
	Infinite int `json:"infinite"`
	Skipped  int `json:"skipped"`
	// Unseen is the student's probability, on average, of the tokens that this
	// form does not look at.
	Unseen contest.Number `json:"unseen"`
	Blind  string         `json:"blind_to"`
}

// Prompt is KL over the positions of one prompt, in the first form.
type Prompt struct {
	Prompt    string         `json:"prompt" parquet:"prompt"`
	Positions int            `json:"positions" parquet:"positions"`
	Mean      contest.Number `json:"mean" parquet:"mean"`
	SD        contest.Number `json:"sd" parquet:"sd"`
	Min       contest.Number `json:"min" parquet:"min"`
	Max       contest.Number `json:"max" parquet:"max"`
}

// Position is one position in every form; NaN where a form says nothing.
type Position struct {
	Prompt   string  `parquet:"prompt"`
	Position int     `parquet:"position"`
	KL       float64 `parquet:"kl"`
	Bound    float64 `parquet:"bound"`
	Top128   float64 `parquet:"top128"`
	Top20    float64 `parquet:"top20"`
	// Unseen128 and Unseen20 are the student's probability of the tokens that
	// the form does not look at.
	Unseen128 float64 `parquet:"unseen128"`
	Unseen20  float64 `parquet:"unseen20"`
}

// ErrApart says that two files are not of the same positions.
var ErrApart = errors.New("teacher and student do not match")

// Compare measures a student against a teacher whose positions come in the same
// order. vocabulary is the tokenizer's size, beyond which no token id lies; 0
// where only the files say.
func Compare(teacher, student iter.Seq2[*Row, error], vocabulary int) (*Report, error) {
	a, b := newSide("teacher", teacher), newSide("student", student)
	defer a.stop()
	defer b.stop()
	r := &Report{Vocabulary: vocabulary}
	for {
		a.next()
		b.next()
		r.meet(a, b)
		switch t, s := a.row, b.row; {
		case a.err != nil || b.err != nil:
			return nil, errors.Join(a.err, b.err)
		case t == nil && s == nil:
			return r, r.finish()
		case t == nil:
			return nil, fmt.Errorf("%w: the teacher ends before prompt %q, position %d", ErrApart, s.Prompt, s.Position)
		case s == nil:
			return nil, fmt.Errorf("%w: the student ends before prompt %q, position %d", ErrApart, t.Prompt, t.Position)
		default:
			if err := r.add(t, s); err != nil {
				return nil, fmt.Errorf("prompt %q, position %d: %w", t.Prompt, t.Position, err)
			}
		}
	}
}

func (r *Report) add(t, s *Row) error {
	switch {
	case t.Prompt != s.Prompt || t.Position != s.Position:
		return fmt.Errorf("%w: the student has prompt %q, position %d", ErrApart, s.Prompt, s.Position)
	case t.Network != s.Network:
		return fmt.Errorf("%w: networks %q and %q", ErrApart, t.Network, s.Network)
	case t.Full != nil && s.Full != nil && len(t.Full) != len(s.Full):
		return fmt.Errorf("%w: vocabularies of %d and %d tokens", ErrApart, len(t.Full), len(s.Full))
	}
	r.Network = t.Network
	for _, row := range []*Row{t, s} {
		if err := r.within(row); err != nil {
			return err
		}
	}
	r.Each = append(r.Each, measure(t, s))
	return nil
}

func measure(t, s *Row) Position {
	p := Position{Prompt: t.Prompt, Position: t.Position, KL: math.NaN(), Top128: math.NaN(), Unseen128: math.NaN()}
	t20, s20 := Top(t, 20), Top(s, 20)
	p.Bound = Bound(t, s)
	if t.Full != nil && s.Full != nil {
		p.KL, p.Bound = Full(t.Full, s.Full), Bound(t20, s20)
	}
	if s.Full != nil {
		t128 := Top(t, 128)
		p.Top128, p.Unseen128 = Supported(t128.Top, s), unseen(s, t128.Top)
	}
	p.Top20, p.Unseen20 = Supported(t20.Top, s20), unseen(s20, t20.Top)
	return p
}

// unseen is the probability that a row leaves to tokens outside a support.
func unseen(r *Row, support []Token) float64 {
	left := 1.0
	for _, t := range support {
		if logP, ok := r.logP(t.ID); ok {
			left -= math.Exp(logP)
		}
	}
	return max(0, left)
}

func (r *Report) within(row *Row) error {
	if row.Full != nil {
		r.Vocabulary = cmp.Or(r.Vocabulary, len(row.Full))
	}
	size := r.Vocabulary
	if row.Full != nil && len(row.Full) != size {
		return fmt.Errorf("%w: %d tokens in a vocabulary of %d", ErrApart, len(row.Full), size)
	}
	for _, t := range row.Top {
		if t.ID < 0 || size > 0 && t.ID >= size {
			return fmt.Errorf("%w: token id %d in a vocabulary of %d", ErrApart, t.ID, size)
		}
	}
	return nil
}

func (r *Report) finish() error {
	r.Positions = len(r.Each)
	if r.Positions == 0 {
		return fmt.Errorf("%w: neither has a position", ErrApart)
	}
	for _, f := range forms {
		prompts := r.prompts(f.of)
		form := Form{Name: f.name, Blind: f.blind}
		if form.take(r, prompts, f.of, f.unseen); form.Measured == 0 {
			continue // this form cannot be had from these files
		}
		if len(r.Forms) == 0 {
			r.Prompts = prompts
		}
		r.Forms = append(r.Forms, form)
	}
	return nil
}

func (r *Report) prompts(of func(*Position) float64) (all []Prompt) {
	var values []float64
	for i := range r.Each {
		p := &r.Each[i]
		if v := of(p); !math.IsNaN(v) {
			values = append(values, v)
		}
		if last := i == len(r.Each)-1; last || r.Each[i+1].Prompt != p.Prompt {
			all = append(all, summary(p.Prompt, values))
			values = nil
		}
	}
	return all
}

func summary(name string, values []float64) Prompt {
	p := Prompt{Prompt: name, Positions: len(values), Mean: contest.Number(stats.Mean(values)),
		SD: contest.Number(stats.ClusteredSE(values) * math.Sqrt(float64(len(values)))), Min: contest.Number(math.Inf(1))}
	for _, v := range values {
		p.Min, p.Max = min(p.Min, contest.Number(v)), max(p.Max, contest.Number(v))
	}
	return p
}

func (f *Form) take(r *Report, prompts []Prompt, of, unseen func(*Position) float64) {
	var means []float64
	for _, p := range prompts {
		if p.Positions > 0 {
			means = append(means, float64(p.Mean))
		}
	}
	f.PerPrompt = contest.MeanOf(means)
	sum, dark := 0.0, 0.0
	for i := range r.Each {
		dark += unseen(&r.Each[i])
		v := of(&r.Each[i])
		if math.IsNaN(v) {
			f.Skipped++
			continue
		}
		f.Measured, sum = f.Measured+1, sum+v
		if math.IsInf(v, 1) {
			f.Infinite++
		}
	}
	f.PerPosition, f.Unseen = contest.Number(sum/float64(f.Measured)), contest.Number(dark/float64(r.Positions))
}
