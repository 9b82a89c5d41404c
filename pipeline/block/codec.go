package block

import (
	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters"
)

func (e *encoder) entry(x *Entry) {
	e.word(x.Source.FileSHA256)
	e.int(int64(x.Source.Line))
	e.word(string(x.Source.Shape))
	e.bool(x.Fault != nil)
	if x.Fault != nil {
		e.word(x.Fault.Reason)
		e.str(x.Fault.Detail)
		return
	}
	e.attempt(&x.Attempt)
	e.int(int64(x.Problem))
	e.sample(&x.Sample)
	e.structure(&x.Structure)
	e.float(x.Rank)
	e.outcome(&x.Outcome)
	e.judgement(&x.Judgement)
	e.list(len(x.Shifts), func(i int) {
		e.word(x.Shifts[i].Probe)
		e.optional(x.Shifts[i].By)
	})
	e.judgement(&x.StepJudgement)
	e.needs(&x.StepNeeds)
	e.leak(&x.Leak)
	e.body(&x.Body)
}

// entry reads an entry, or only its head: who made the attempt, and its sample.
func (d *decoder) entry(x *Entry, headOnly bool) {
	*x = Entry{}
	x.Source = arena.Source{FileSHA256: d.word(), Line: int(d.int()), Shape: arena.Shape(d.word())}
	if d.bool() {
		x.Fault = &Fault{Reason: d.word(), Detail: d.str()}
		return
	}
	d.attempt(&x.Attempt)
	x.Problem = int(d.int())
	d.sample(&x.Sample)
	if headOnly {
		return
	}
	d.structure(&x.Structure)
	x.Rank = d.float()
	d.outcome(&x.Outcome)
	d.judgement(&x.Judgement)
	d.list(func(n int) { x.Shifts = make([]Shift, n) }, func(i int) { x.Shifts[i] = Shift{d.word(), d.optional()} })
	d.judgement(&x.StepJudgement)
	x.StepNeeds = Needs{int(d.int()), int(d.int()), int(d.int())}
	d.leak(&x.Leak)
	d.body(&x.Body)
}

func (e *encoder) attempt(a *Attempt) {
	e.str(a.ID)
	e.word(a.RunID)
	e.word(a.ProblemID)
	e.word(a.Agent.VersionID)
	e.word(a.Agent.Hotkey)
	e.word(a.Agent.Suite)
	e.word(a.Agent.StartedAt)
	e.str(a.RecordSHA256)
	e.int(int64(a.Bytes))
	e.word(string(a.Status))
	e.word(a.ErrorType)
	e.word(a.Model)
	e.float(a.Seconds)
	e.int(int64(a.Inferences))
	e.int(int64(a.Failures))
	e.bool(a.HasDialogue)
	e.int(int64(a.Steps))
	e.int(int64(a.Calls))
	e.word(a.Query)
}

func (d *decoder) attempt(a *Attempt) {
	a.ID, a.RunID, a.ProblemID = d.str(), d.word(), d.word()
	a.Agent = arena.Agent{VersionID: d.word(), Hotkey: d.word(), Suite: d.word(), StartedAt: d.word()}
	a.RecordSHA256 = d.str()
	a.Bytes = int(d.int())
	a.Status = arena.Status(d.word())
	a.ErrorType, a.Model = d.word(), d.word()
	a.Seconds = d.float()
	a.Inferences, a.Failures = int(d.int()), int(d.int())
	a.HasDialogue = d.bool()
	a.Steps, a.Calls = int(d.int()), int(d.int())
	a.Query = d.word()
}

func (e *encoder) structure(s *arena.Structure) {
	e.bool(s.Keep)
	e.word(string(s.Axis))
	e.float(s.Confidence)
	e.list(len(s.Reasons), func(i int) { e.word(s.Reasons[i]) })
	e.list(len(s.Verdicts), func(i int) {
		v := &s.Verdicts[i]
		e.word(v.Check)
		e.uint(uint64(v.Decision))
		e.word(v.Reason)
		e.float(v.Value)
		e.float(v.Limit)
	})
	e.optional(s.RichnessV1)
	e.optional(s.RichnessV2)
	e.list(len(s.Features), func(i int) {
		e.word(s.Features[i].Name)
		e.float(s.Features[i].Value)
	})
}

func (d *decoder) structure(s *arena.Structure) {
	s.Keep = d.bool()
	s.Axis = arena.Axis(d.word())
	s.Confidence = d.float()
	d.list(func(n int) { s.Reasons = make([]string, n) }, func(i int) { s.Reasons[i] = d.word() })
	d.list(func(n int) { s.Verdicts = make([]arena.Verdict, n) }, func(i int) {
		s.Verdicts[i] = arena.Verdict{Check: d.word(), Decision: arena.Decision(d.uint()), Reason: d.word(), Value: d.float(), Limit: d.float()}
	})
	s.RichnessV1, s.RichnessV2 = d.optional(), d.optional()
	d.list(func(n int) { s.Features = make([]arena.Feature, n) }, func(i int) {
		s.Features[i] = arena.Feature{Name: d.word(), Value: d.float()}
	})
}

func (e *encoder) outcome(o *arena.Outcome) {
	e.bool(o.Success)
	e.word(o.Error)
	e.word(string(o.Titles))
	e.bool(o.Scores != nil)
	if o.Scores == nil {
		return
	}
	e.float(o.Scores.Length)
	e.float(o.Scores.Format)
	a := o.Scores.Axes
	e.bool(a != nil)
	if a == nil {
		return
	}
	for _, v := range [...]float64{a.Product, a.GT, a.Rule, a.Title, a.Price, a.Service, a.SKUAttrs} {
		e.float(v)
	}
	e.optionalInt(a.Shop)
	e.optionalInt(a.Budget)
}

func (d *decoder) outcome(o *arena.Outcome) {
	o.Success, o.Error, o.Titles = d.bool(), d.word(), arena.TitleSource(d.word())
	if !d.bool() {
		return
	}
	o.Scores = &arena.Scores{Length: d.float(), Format: d.float()}
	if !d.bool() {
		return
	}
	o.Scores.Axes = &arena.Axes{
		Product: d.float(), GT: d.float(), Rule: d.float(), Title: d.float(), Price: d.float(), Service: d.float(), SKUAttrs: d.float(),
		Shop: d.optionalInt(), Budget: d.optionalInt(),
	}
}

func (e *encoder) judgement(j *arena.Judgement) {
	e.word(j.Judge)
	e.word(string(j.Outcome))
	e.optional(j.Score)
	e.list(len(j.Gates), func(i int) { e.bool(j.Gates[i]) })
	e.list(len(j.Spans), func(i int) {
		e.int(int64(j.Spans[i].Gate))
		e.int(int64(j.Spans[i].Step))
		e.str(j.Spans[i].Quote)
	})
	e.word(j.Model)
	e.word(j.PromptSHA256)
	e.int(int64(j.PromptTokens))
	e.int(int64(j.CompletionTokens))
	e.optional(j.CostUSD)
	e.bool(j.Cached)
	e.str(j.Detail)
}

func (d *decoder) judgement(j *arena.Judgement) {
	j.Judge, j.Outcome, j.Score = d.word(), arena.JudgeOutcome(d.word()), d.optional()
	d.list(func(n int) { j.Gates = make([]bool, n) }, func(i int) { j.Gates[i] = d.bool() })
	d.list(func(n int) { j.Spans = make([]arena.Span, n) }, func(i int) {
		j.Spans[i] = arena.Span{Gate: int(d.int()), Step: int(d.int()), Quote: d.str()}
	})
	j.Model, j.PromptSHA256 = d.word(), d.word()
	j.PromptTokens, j.CompletionTokens = int(d.int()), int(d.int())
	j.CostUSD, j.Cached, j.Detail = d.optional(), d.bool(), d.str()
}

func (e *encoder) needs(n *Needs) {
	e.int(int64(n.Needed))
	e.int(int64(n.Waste))
	e.int(int64(n.Unclear))
}

func (e *encoder) leak(l *Leak) {
	e.word(l.Match)
	e.word(l.Bank)
	e.bool(l.Drop)
	e.bool(l.Same)
	e.float(l.Score)
	e.word(l.Tier)
	e.str(l.Evidence)
	e.bool(l.Beyond)
}

func (d *decoder) leak(l *Leak) {
	*l = Leak{Match: d.word(), Bank: d.word(), Drop: d.bool(), Same: d.bool(), Score: d.float(), Tier: d.word(), Evidence: d.str(), Beyond: d.bool()}
}

func (e *encoder) body(b *Body) {
	e.int(b.Bytes)
	if b.Bytes == 0 {
		return
	}
	e.int(b.Offset)
	e.int(b.Packed)
	e.uint32(b.CRC)
	e.int(int64(b.Tokens))
	for _, v := range b.Signature {
		e.uint32(v)
	}
}

func (d *decoder) body(b *Body) {
	if b.Bytes = d.int(); b.Bytes == 0 {
		return
	}
	b.Offset, b.Packed, b.CRC, b.Tokens = d.int(), d.int(), d.uint32(), int(d.int())
	for i := range b.Signature {
		b.Signature[i] = d.uint32()
	}
}

func (e *encoder) sample(s *filters.Sample) {
	e.fixed(s.Attempt)
	e.fixed(s.Query)
	e.float(s.Score)
	e.bool(s.Evidence)
	e.word(string(s.Axis))
	e.fixed(s.Episode)
	e.fixed(s.Tools)
	e.fixed(s.Asks)
	e.bool(s.Blank)
	for _, n := range counts(s) {
		e.int(int64(*n))
	}
	e.list(len(s.Thoughts), func(i int) { e.fixed(s.Thoughts[i]) })
	e.list(len(s.Taken), func(i int) { e.fixed(s.Taken[i]) })
	e.list(len(s.Unseen), func(i int) { e.fixed(s.Unseen[i]) })
	e.list(len(s.Forms), func(i int) { e.fixed(s.Forms[i]) })
}

// counts are the numbers of a sample in the order in which they are stored.
func counts(s *filters.Sample) [31]*int {
	return [...]*int{
		&s.Slots, &s.Views, &s.TopViews, &s.Picks, &s.FirstPicks, &s.Turns, &s.Cited, &s.Spoken, &s.SpokenCited,
		&s.Excerpts, &s.Searches, &s.Good, &s.GoodAgain, &s.Poor, &s.PoorAgain, &s.Better, &s.Worse, &s.Invented, &s.Prescient,
		&s.Openings, &s.Cheapest, &s.Dearest, &s.BestSold, &s.Asked, &s.Overridden,
		&s.Judged, &s.AtOnce, &s.Refused, &s.Course, &s.Begun, &s.Breadth,
	}
}

func (d *decoder) sample(s *filters.Sample) {
	*s = filters.Sample{Attempt: d.fixed(), Query: d.fixed(), Score: d.float(), Evidence: d.bool(), Axis: arena.Axis(d.word()), Episode: d.fixed(), Tools: d.fixed(), Asks: d.fixed()}
	s.Blank = d.bool()
	for _, n := range counts(s) {
		*n = int(d.int())
	}
	d.list(func(n int) { s.Thoughts = make([]uint64, n) }, func(i int) { s.Thoughts[i] = d.fixed() })
	d.list(func(n int) { s.Taken = make([]uint64, n) }, func(i int) { s.Taken[i] = d.fixed() })
	d.list(func(n int) { s.Unseen = make([]uint64, n) }, func(i int) { s.Unseen[i] = d.fixed() })
	d.list(func(n int) { s.Forms = make([]uint64, n) }, func(i int) { s.Forms[i] = d.fixed() })
}
