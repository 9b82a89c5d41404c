package pipeline

import (
	"context"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

// The names of the stages of a build, in order. A dropped record is counted at the first stage that
// drops it.
const (
	stageRead   = "read"
	stageFilter = "filter"
	stageScore  = "score"
	stageJudge  = "judge"
	stageGuard  = "guard"
	stageRank   = "rank"
	stageSplit  = "split"
)

var stages = []string{stageRead, stageFilter, stageScore, stageJudge, stageGuard, stageRank, stageSplit}

// The codes of the reasons for which a build drops a record, in addition to those of the reader, the
// filter and the judge.
const (
	reasonDuplicate    = "duplicate_attempt" // the same record was read before
	reasonCollision    = "id_collision"      // another attempt with other content has its ID
	reasonNoRow        = "no_row"            // no row can be made from it
	reasonProblem      = "unknown_problem"   // problems.jsonl lacks its problem
	reasonNoScore      = "no_score"          // the outcome cannot be scored
	reasonUnsuccessful = "unsuccessful"      // the outcome is no success
	reasonReward       = "below_min_reward"  // the reward is under select.min_reward
	reasonUnselected   = "not_selected"      // select.where does not select it
	reasonTop          = "beyond_top"        // the problem already has select.top better attempts
	reasonNeverTouch   = "never_touch"       // its problem is in the pool that is neither trained on nor evaluated on
	reasonHeldOut      = "held_out"          // its problem is in a cluster with a problem of a held-out file
)

// decision returns the decision on one record, without regard to other attempts at its problem. e
// is the summary of the record's stored results, x the results themselves with more fields. The
// decision's field Stage is empty if the record is kept.
func (g *grouper) decision(e *entrySummary, x *block.Entry) choose.Decision {
	if x.Fault != nil {
		return choose.Decision{Stage: stageRead, Reason: x.Fault.Reason, Failed: true}
	}
	if e.original != nil {
		if e.original.record == e.record {
			return choose.Decision{Stage: stageRead, Reason: reasonDuplicate}
		}
		return choose.Decision{Stage: stageRead, Reason: reasonCollision}
	}
	s := g.revised(e.ref, x)
	d := g.stageDecision(x, &s)
	d.Axis = s.Axis
	d.Stripped = s.ThinkingStripped
	return d
}

// isSelected reports whether the expression select.where of the configuration selects the attempt
// at pos, with d as the decision on it. It is true if there is no expression. Otherwise isSelected
// reads the attempt's stored results again.
func (g *grouper) isSelected(pos ref, d choose.Decision) (bool, error) {
	s := g.session
	if s.where == nil {
		return true, nil
	}
	r, err := s.openBlock(pos.Input)
	if err != nil {
		return false, err
	}
	defer r.Close()
	x, err := r.Entry(pos.Place, block.PartFound|block.PartStructure)
	if err != nil {
		return false, err
	}
	r.complete(x, pos.Entry)
	structure := g.revised(pos, x)
	line := &where.Line{
		Attempt: s.attemptRow(x, d),
		Verdict: rows.NewVerdict(&x.Attempt, &structure),
		Outcome: rows.NewOutcome(&x.Attempt, &x.Outcome),
		Judgement: rows.NewJudgement(
			&x.Attempt,
			&x.Judgement,
			g.weights.factor(x),
		),
		Leak:     finish.LeakRow(x.TraceID, x.Query, &x.Leak),
		Declared: s.declaredRow(x),
	}
	return s.where.Match(line.Values())
}

// stageDecision returns the decision on an attempt by the stages filter, score, judge and guard, in
// this order: the first stage that drops the attempt is named with its reason. If none does, the
// field Stage is empty. s is the filter's final result, which takes all attempts of the agent into
// account.
func (g *grouper) stageDecision(x *block.Entry, s *arena.Structure) choose.Decision {
	sel := g.session.Config.Select
	isUsable := usable(g.session.filter, s, x.Outcome.Success)
	isUnrendered := x.Body.Bytes == 0 && x.Problem >= 0
	switch {
	case !isUsable || isUnrendered:
		d := choose.Decision{Stage: stageFilter, Reason: reasonNoRow}
		if len(s.Reasons) > 0 {
			d.Reason = s.Reasons[0]
		}
		return d
	case x.Problem < 0:
		return choose.Decision{Stage: stageScore, Reason: reasonProblem}
	case !x.Outcome.Scored():
		return choose.Decision{Stage: stageScore, Reason: reasonNoScore}
	case !x.Outcome.Success && (sel.SuccessOnly || !s.Keep):
		return choose.Decision{Stage: stageScore, Reason: reasonUnsuccessful}
	case g.weights.factor(x) == nil:
		return choose.Decision{
			Stage:  stageJudge,
			Reason: string(x.Judgement.Outcome),
			Failed: true,
		}
	case g.weights.reward(x) < sel.MinReward:
		return choose.Decision{Stage: stageJudge, Reason: reasonReward}
	case x.Leak.Drop:
		return choose.Decision{
			Stage:  stageGuard,
			Reason: "leak_" + string(x.Leak.Tier),
		}
	default:
		return choose.Decision{}
	}
}

// newCandidate returns an attempt as a candidate for rows of the configs sft, pref and kto, or nil
// if it cannot become a row. An attempt that d drops only because it failed or has a low reward is
// still a candidate, since pref and kto need such attempts. It has no row if the guard drops it, if
// it has no rendered text, or if the judge's grade is required and missing.
func (g *grouper) newCandidate(
	d choose.Decision,
	e *entrySummary,
	x *block.Entry,
) *candidate {
	isWanted := d.IsKept() || d.Reason == reasonUnsuccessful || d.Reason == reasonReward
	if !isWanted || x.Body.Bytes == 0 || x.Leak.Drop || g.weights.factor(x) == nil {
		return nil
	}
	return &candidate{entry: e, score: g.weights.reward(x), isKept: d.IsKept()}
}

// decide calls decideEntry for every record of every input. Each worker processes one input at a
// time.
func (g *grouper) decide(ctx context.Context) error {
	return inorder.Each(ctx, g.session.Config.Workers, len(g.inputs), func(_ context.Context, i int) error {
		x := &block.Entry{}
		in := &g.inputs[i]
		in.decisions = make([]choose.Decision, 0, len(in.entries))
		for _, e := range in.entries {
			if err := g.decideEntry(in, e, x); err != nil {
				return err
			}
		}
		return nil
	})
}

// decideEntry appends the decision on one record to in.decisions. If the record may become a
// training row and the user's expression select.where selects it, decideEntry also appends it to
// in.candidates, from which rows are selected later. x is a buffer that is overwritten.
func (g *grouper) decideEntry(
	in *groupedInput,
	e *entrySummary,
	x *block.Entry,
) error {
	e.restore(x)
	d := g.decision(e, x)
	if c := g.newCandidate(d, e, x); c != nil {
		selected, err := g.isSelected(e.ref, d)
		if err != nil {
			return err
		}
		if selected {
			in.candidates = append(in.candidates, *c)
		} else if d.IsKept() {
			d = choose.Decision{
				Stage:    stageRank,
				Reason:   reasonUnselected,
				Axis:     d.Axis,
				Stripped: d.Stripped,
			}
		}
	}
	in.decisions = append(in.decisions, d)
	return nil
}
