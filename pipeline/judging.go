package pipeline

import (
	"context"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/judges/shop/probe"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// judge stores the judge's answer on an attempt in rec. The judge is not asked if it was not
// measured on the domain (kind of task), or if no model wrote the thinking. Of the attempts that
// cannot become rows, it is asked about a sample, one in N. drawnFrom is N for an attempt of this
// sample, and 0 for all others and if N is 1.
func (m *mapper) judge(
	ctx context.Context,
	d *runDomain,
	rec *arena.Record,
	mayBeRow bool,
) (drawnFrom int, err error) {
	s := m.session
	name := d.judgeName
	every := s.Config.Judge.DroppedEvery
	switch {
	case !rec.Trace.HasDialogue:
		return 0, nil
	case !d.on[domain.Judge]:
		rec.Judgement = judges.NotMeasured(name)
		return 0, nil
	case rec.Structure.ThinkingStripped:
		rec.Judgement = judges.Unsaid(name, *rec.Structure.ThinkingUnsaid)
		return 0, nil
	case !mayBeRow && !probe.IsSampled(rec.Trace.ID, every):
		rec.Judgement = judges.NotAsked(name)
		return 0, nil
	}
	rec.Judgement, rec.Low, err = judges.Ask(ctx, d.judge, rec.Trace, &rec.Graded, rec.Logged)
	if mayBeRow || every == 1 {
		every = 0
	}
	return every, err
}

// probe computes, for a sample of attempts, how much the judge's grade changes after edits that
// should not matter, such as added empty words. It returns nil if the attempt is not in the sample
// or has no answer of the judge.
func (m *mapper) probe(ctx context.Context, d *runDomain, rec *arena.Record) ([]probe.Shift, error) {
	s := m.session
	if !rec.Judgement.Outcome.IsAsked() || !probe.IsSampled(rec.Trace.ID, s.Config.Judge.ProbeEvery) {
		return nil, nil
	}
	return probe.MeasureFrom(ctx, d.judge.Judge, &rec.Judgement, rec.Trace, &rec.Graded)
}

// judgeSteps returns the step judge's verdicts on an attempt, one for each message of the model,
// and stores the judge's answer in entry. It returns nil without an answer, or if the judge is not
// asked: config steps is off, the step judge is off for this kind of task, no model wrote the
// thinking, or the judge is a model and the guard drops the attempt, which would be sent to its
// server in vain.
func (m *mapper) judgeSteps(
	ctx context.Context,
	rec *arena.Record,
	entry *block.Entry,
) ([]arena.StepVerdict, error) {
	s := m.session
	d := s.domains[entry.Domain]
	isWithheld := entry.Leak.Drop && s.asksModelForSteps()
	isUnasked := rec.Structure.ThinkingStripped || !d.on[domain.Steps] || isWithheld
	if !s.Config.Steps || d.steps == nil || isUnasked {
		return nil, nil
	}
	j, err := d.steps.Steps(ctx, rec.Trace, &rec.Graded)
	if err != nil {
		return nil, err
	}
	for _, v := range j.Steps {
		entry.StepNeeds.Add(v.Need)
		if v.Quote != "" {
			j.Spans = append(j.Spans, arena.Span{
				Step:  v.Step,
				Quote: v.Quote,
			})
		}
	}
	entry.StepJudgement = j.Judgement
	if j.Outcome != arena.JudgeScored {
		return nil, nil
	}
	return perMessage(j.Steps, &rec.Dialogue), nil
}

// perMessage converts verdicts on the turns of the model to verdicts on messages of the training
// row, in which chat.Render joins a turn without a call to the next one. A message is needed if one
// of its turns is. Otherwise it is unclear if one of them is, and else waste.
func perMessage(verdicts []arena.StepVerdict, d *arena.Dialogue) []arena.StepVerdict {
	out := make([]arena.StepVerdict, 0, len(verdicts))
	joins := false // the next turn of the model belongs to the last message
	for i := range d.Turns {
		if d.Turns[i].User != "" {
			joins = false
			continue
		}
		v := verdicts[0]
		verdicts = verdicts[1:]
		if !joins {
			out = append(out, v)
		} else if last := &out[len(out)-1]; precedence(v.Need) > precedence(last.Need) {
			*last = v
		}
		joins = len(d.Turns[i].Calls) == 0
	}
	return out
}

// precedence returns the order of a verdict on a turn: 0 for waste, 1 for unclear, 2 for needed. If
// several turns form one message, the message gets the verdict with the highest rank.
func precedence(n arena.Need) int {
	switch n {
	case arena.StepNeeded:
		return 2
	case arena.StepUnclear:
		return 1
	case arena.StepWaste:
	}
	return 0
}
