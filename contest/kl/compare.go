package kl

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/stats"
)

// The forms in which KL is computed. FormFull is exact and needs the whole vocabulary in both
// files. FormBound is a lower bound. The two others are those of subnet 97: over the teacher's
// 128 likeliest tokens and, in later rounds, over the tokens that are among the 20 likeliest of
// both.
const (
	FormFull   = "full"
	FormBound  = "bound"
	FormTop128 = "top128"
	FormTop20  = "top20"
)

// form is one way to compute the KL between teacher and student, such as over the full vocabulary
// or over the likeliest tokens only. blind describes what the form ignores. kl returns the KL at a
// position, and unseen the student's probability of the ignored tokens; both return NaN if it is
// unknown.
type form struct {
	name, blind string
	kl, unseen  func(*Position) float64
}

// forms is the list of all ways to compute the KL, in the order in which a report prints them.
var forms = []form{
	{
		FormFull, "nothing",
		func(p *Position) float64 { return p.KL },
		func(*Position) float64 { return 0 },
	},
	{
		FormBound, "how either divides what it does not name; the true KL is this or more",
		func(p *Position) float64 { return p.Bound },
		func(*Position) float64 { return math.NaN() },
	},
	{
		FormTop128, "what the student gives to tokens that are not among the teacher's 128",
		func(p *Position) float64 { return p.Top128 },
		func(p *Position) float64 { return p.Unseen128 },
	},
	{
		FormTop20, "everything but the tokens that both name; where they share none the subnet skips the position",
		func(p *Position) float64 { return p.Top20 },
		func(p *Position) float64 { return p.Unseen20 },
	},
}

// Report compares one student with one teacher.
type Report struct {
	Network    string `json:"network,omitempty"`
	Vocabulary int    `json:"vocabulary,omitempty"`
	Positions  int    `json:"positions"`
	// Uncomparable counts the skipped positions of two runs: those after the first token that
	// the models sampled differently, and those of a rollout that one run lacks.
	Uncomparable int      `json:"positions_apart,omitempty"`
	Forms        []Form   `json:"forms"`
	Prompts      []Prompt `json:"prompts"`
	// ByPosition has the KL at each position in each form. It is written to tables.
	ByPosition []Position `json:"-"`
	// finished is the number, counted from 1, of the last rollout whose remaining positions
	// cannot be compared because the two models sampled differently.
	finished int64
}

// Form is the KL in one form over all prompts.
type Form struct {
	Name string `json:"form"`
	// PerPrompt is the mean of the prompts' mean KLs, which is the score of subnet 97.
	PerPrompt contest.Figure `json:"per_prompt"`
	// PerPosition is the mean over all positions.
	PerPosition contest.Number `json:"per_position"`
	Measured    int            `json:"measured"`
	// Infinite counts the positions at which the student gives a token of the teacher the
	// probability 0. Skipped counts the positions without a value.
	Infinite int `json:"infinite"`
	Skipped  int `json:"skipped"`
	// Unseen is the student's mean probability of the tokens that the form ignores.
	Unseen contest.Number `json:"unseen"`
	Blind  string         `json:"blind_to"`
}

// Prompt is the KL over the positions of one prompt, in the first form of the report. Positions
// counts those with a value; without any, the other figures are NaN.
type Prompt struct {
	Prompt    string         `json:"prompt" parquet:"prompt"`
	Positions int            `json:"positions" parquet:"positions"`
	Mean      contest.Number `json:"mean" parquet:"mean"`
	SD        contest.Number `json:"sd" parquet:"sd"`
	Min       contest.Number `json:"min" parquet:"min"`
	Max       contest.Number `json:"max" parquet:"max"`
}

// Position is the KL at one position in every form, NaN if a form has no value.
type Position struct {
	Prompt   string  `parquet:"prompt"`
	Position int     `parquet:"position"`
	KL       float64 `parquet:"kl"`
	Bound    float64 `parquet:"bound"`
	Top128   float64 `parquet:"top128"`
	Top20    float64 `parquet:"top20"`
	// Unseen128 and Unseen20 are the student's probability of the tokens that the forms Top128
	// and Top20 ignore.
	Unseen128 float64 `parquet:"unseen128"`
	Unseen20  float64 `parquet:"unseen20"`
	// Overlap20 is the share of the teacher's 20 likeliest tokens that are among the student's.
	Overlap20 float64 `parquet:"overlap20"`
}

// Forms returns the names of all forms.
func Forms() []string {
	return slicesx.Map(forms, func(f form) string {
		return f.name
	})
}

// ByPrompt returns the KL of each prompt in one form.
func (r *Report) ByPrompt(name string) []Prompt {
	for _, f := range forms {
		if f.name == name {
			return r.prompts(f.kl)
		}
	}
	return nil
}

// ErrMismatch is wrapped by the errors for two files that do not have the same positions.
var ErrMismatch = errors.New("teacher and student do not match")

// Compare computes the KL of a student from a teacher. Both must have the same positions in the
// same order, those of a prompt one after another. vocabulary is the size of the tokenizer, which
// limits token ids. The value 0 means the size that the files have.
func Compare(teacher, student iter.Seq2[*Row, error], vocabulary int) (*Report, error) {
	a := newStream("teacher", teacher)
	defer a.stop()
	b := newStream("student", student)
	defer b.stop()
	r := &Report{Vocabulary: vocabulary}
	for {
		a.next()
		b.next()
		r.align(a, b)
		if a.err != nil || b.err != nil {
			return nil, errors.Join(a.err, b.err)
		}
		t := a.row
		s := b.row
		switch {
		case t == nil && s == nil:
			return r, r.summarise()
		case t == nil:
			return nil, fmt.Errorf("%w: the teacher ends before prompt %q, position %d", ErrMismatch, s.Prompt, s.Position)
		case s == nil:
			return nil, fmt.Errorf("%w: the student ends before prompt %q, position %d", ErrMismatch, t.Prompt, t.Position)
		}
		if err := r.add(t, s); err != nil {
			return nil, fmt.Errorf("prompt %q, position %d: %w", t.Prompt, t.Position, err)
		}
	}
}

// add compares the probabilities of teacher and student for the next token at one position, and
// adds the result to the report. It returns an error if the two rows differ in prompt, position,
// network (the main one or a test network) or vocabulary.
func (r *Report) add(t, s *Row) error {
	switch {
	case t.Prompt != s.Prompt || t.Position != s.Position:
		return fmt.Errorf("%w: the student has prompt %q, position %d", ErrMismatch, s.Prompt, s.Position)
	case t.Network != s.Network:
		return fmt.Errorf("%w: networks %q and %q", ErrMismatch, t.Network, s.Network)
	case t.Full != nil && s.Full != nil && len(t.Full) != len(s.Full):
		return fmt.Errorf("%w: vocabularies of %d and %d tokens", ErrMismatch, len(t.Full), len(s.Full))
	}
	r.Network = t.Network
	if err := r.checkVocabulary(t); err != nil {
		return err
	}
	if err := r.checkVocabulary(s); err != nil {
		return err
	}
	r.ByPosition = append(r.ByPosition, comparePosition(t, s))
	return nil
}

// comparePosition computes the KL at one position in every form. t is the teacher's row, s the
// student's.
func comparePosition(t, s *Row) Position {
	p := Position{
		Prompt:    t.Prompt,
		Position:  t.Position,
		KL:        math.NaN(),
		Top128:    math.NaN(),
		Unseen128: math.NaN(),
	}
	t20 := Top(t, 20)
	s20 := Top(s, 20)
	if t.Full != nil && s.Full != nil {
		p.KL = Full(t.Full, s.Full)
		p.Bound = Bound(t20, s20)
	} else {
		p.Bound = Bound(t, s)
	}
	if s.Full != nil {
		t128 := Top(t, 128)
		p.Top128 = Supported(t128.Top, s)
		p.Unseen128 = unseen(s, t128.Top)
	}
	p.Top20 = Supported(t20.Top, s20)
	p.Unseen20 = unseen(s20, t20.Top)
	p.Overlap20 = overlap(t20.Top, s20)
	return p
}

// overlap returns the share of the given tokens for which row r has a probability, from 0 to 1.
func overlap(tokens []Token, r *Row) float64 {
	both := 0
	for _, t := range tokens {
		if _, ok := r.logP(t.ID); ok {
			both++
		}
	}
	return float64(both) / float64(len(tokens))
}

// unseen returns the student's probability, by row r, of all tokens that are not in support: 1
// minus the probabilities of those in support.
func unseen(r *Row, support []Token) float64 {
	p := 1.0
	for _, t := range support {
		if logP, ok := r.logP(t.ID); ok {
			p -= math.Exp(logP)
		}
	}
	return max(0, p)
}

// checkVocabulary returns an error if a row does not fit the vocabulary: it has a token id outside
// of it, or probabilities for all tokens but of another number. If the size of the vocabulary is
// unknown, the first row with all tokens sets it.
func (r *Report) checkVocabulary(row *Row) error {
	if row.Full != nil {
		r.Vocabulary = cmp.Or(r.Vocabulary, len(row.Full))
	}
	size := r.Vocabulary
	if row.Full != nil && len(row.Full) != size {
		return fmt.Errorf("%w: %d tokens in a vocabulary of %d", ErrMismatch, len(row.Full), size)
	}
	for _, t := range row.Top {
		if t.ID < 0 || size > 0 && t.ID >= size {
			return fmt.Errorf("%w: token id %d in a vocabulary of %d", ErrMismatch, t.ID, size)
		}
	}
	return nil
}

// summarise sets the statistics of the report from its positions. Forms without a value at any
// position are omitted. It returns an error if a prompt comes again after another, since it would
// count as several.
func (r *Report) summarise() error {
	r.Positions = len(r.ByPosition)
	if r.Positions == 0 {
		return fmt.Errorf("%w: neither has a position", ErrMismatch)
	}
	for _, f := range forms {
		prompts := r.prompts(f.kl)
		names := slicesx.Map(prompts, func(p Prompt) string { return p.Prompt })
		if n := len(slicesx.Set(names)); n < len(names) {
			return fmt.Errorf("the rows of %d prompts are in %d places: those of a prompt must be together", n, len(names))
		}
		form := Form{
			Name:      f.name,
			Blind:     f.blind,
			PerPrompt: meanOfPrompts(prompts),
		}
		form.addPositions(r.ByPosition, f.kl, f.unseen)
		if form.Measured == 0 {
			continue
		}
		if len(r.Forms) == 0 {
			r.Prompts = prompts
		}
		r.Forms = append(r.Forms, form)
	}
	return nil
}

// prompts computes the statistics of each prompt over its positions. kl returns the KL at a
// position in the form (way to compute it) that is summarised.
func (r *Report) prompts(kl func(*Position) float64) []Prompt {
	var prompts []Prompt
	var values []float64
	for i := range r.ByPosition {
		p := &r.ByPosition[i]
		if v := kl(p); !math.IsNaN(v) {
			values = append(values, v)
		}
		isLast := i == len(r.ByPosition)-1
		if isLast || r.ByPosition[i+1].Prompt != p.Prompt {
			prompts = append(prompts, newPrompt(p.Prompt, values))
			values = nil
		}
	}
	return prompts
}

func newPrompt(name string, values []float64) Prompt {
	none := contest.Number(math.NaN())
	p := Prompt{
		Prompt:    name,
		Positions: len(values),
		Mean:      contest.Number(stats.Mean(values)),
		SD:        contest.Number(stats.ClusteredSE(values) * math.Sqrt(float64(len(values)))),
		Min:       none,
		Max:       none,
	}
	if len(values) > 0 {
		p.Min = contest.Number(slices.Min(values))
		p.Max = contest.Number(slices.Max(values))
	}
	return p
}

func meanOfPrompts(prompts []Prompt) contest.Figure {
	var means []float64
	for _, p := range prompts {
		if p.Positions > 0 {
			means = append(means, float64(p.Mean))
		}
	}
	return contest.Mean(means)
}

// addPositions sets the statistics of the form over all positions. kl returns the value at a
// position, and unseen the probability that the form ignores there.
func (f *Form) addPositions(positions []Position, kl, unseen func(*Position) float64) {
	sum := 0.0
	sumUnseen := 0.0
	for i := range positions {
		sumUnseen += unseen(&positions[i])
		v := kl(&positions[i])
		if math.IsNaN(v) {
			f.Skipped++
			continue
		}
		f.Measured++
		sum += v
		if math.IsInf(v, 1) {
			f.Infinite++
		}
	}
	f.PerPosition = contest.Number(sum / float64(f.Measured))
	f.Unseen = contest.Number(sumUnseen / float64(len(positions)))
}
