package pipeline

import (
	"context"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/where"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/choose"
)

// The stages of a run in order. A record leaves at the first that takes it
// out.
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

// The reasons of a build, beside those of the reader, filter and judge.
const (
	reasonDuplicate    = "duplicate_attempt" // the same record was read before
	reasonCollision    = "id_collision"      // its id, by which rows are told apart, belongs to an attempt of other content
	reasonNoRow        = "no_row"            // no row can be made of it
	reasonProblem      = "unknown_problem"   // problems.jsonl lacks its problem
	reasonNoScore      = "no_score"          // the outcome cannot be scored
	reasonUnsuccessful = "unsuccessful"      // the outcome is no success
	reasonReward       = "below_min_reward"  // the reward is under select.min_reward
	reasonUnselected   = "not_selected"      // select.where does not select it
	reasonTop          = "beyond_top"        // better attempts fill all the places of the problem
	reasonNeverTouch   = "never_touch"       // its problem is of the pool that nobody looks at yet
	reasonHeldOut      = "held_out"          // its problem is of a cluster that held-out files name
)

func (g *grouper) fate(at ref, x *block.Entry) choose.Fate {
	if x.Fault != nil {
		return choose.Fate{Stage: stageRead, Reason: x.Fault.Reason, Failed: true}
	}
	switch stays := g.habits.CountedCopy[x.TraceID]; {
	case g.all[stays].ref == at:
	case g.all[stays].record == x.RecordSHA256:
		return choose.Fate{Stage: stageRead, Reason: reasonDuplicate}
	default:
		return choose.Fate{Stage: stageRead, Reason: reasonCollision}
	}
	s := g.revised(at, x)
	f := g.judgedFate(x, &s)
	f.Axis = s.Axis
	return f
}

// selected reads the entry of a candidate again where select.where asks for it.
func (g *grouper) selected(at ref, f choose.Fate) (bool, error) {
	if g.where == nil {
		return true, nil
	}
	in, err := block.Open(g.FS, g.inputs[at.Input].dir)
	if err != nil {
		return false, err
	}
	defer in.Close()
	x, err := in.At(at.Place, block.PartFound|block.PartStructure)
	if err != nil {
		return false, err
	}
	s := g.revised(at, x)
	line := &where.Line{Attempt: g.attemptRow(x, f), Verdict: rows.NewVerdict(&x.Attempt, &s), Outcome: outcomeRow(x), Judgement: rows.NewJudgement(&x.Attempt, &x.Judgement, g.weights.factor(x)), Leak: leak(x)}
	return g.where.Match(line.Values())
}

func (g *grouper) judgedFate(x *block.Entry, s *arena.Structure) choose.Fate {
	sel := g.Config.Select
	switch {
	case !usable(g.filter, s, x.Outcome.Success) || x.Body.Bytes == 0 && x.Problem >= 0:
		f := choose.Fate{Stage: stageFilter, Reason: reasonNoRow}
		if len(s.Reasons) > 0 {
			f.Reason = s.Reasons[0]
		}
		return f
	case x.Problem < 0:
		return choose.Fate{Stage: stageScore, Reason: reasonProblem}
	case !x.Outcome.Scored():
		return choose.Fate{Stage: stageScore, Reason: reasonNoScore}
	case !x.Outcome.Success && (sel.SuccessOnly || !s.Keep):
		return choose.Fate{Stage: stageScore, Reason: reasonUnsuccessful}
	case g.weights.factor(x) == nil:
		return choose.Fate{Stage: stageJudge, Reason: string(x.Judgement.Outcome), Failed: true}
	case g.weights.reward(x) < sel.MinReward:
		return choose.Fate{Stage: stageJudge, Reason: reasonReward}
	case x.Leak.Drop:
		return choose.Fate{Stage: stageGuard, Reason: "leak_" + string(x.Leak.Tier)}
	default:
		return choose.Fate{}
	}
}

// becomes is the candidate that an attempt is for sft, pref and kto: it stayed,
// or only its outcome or its reward keeps it out of sft. Leaking attempts are
// none.
func (g *grouper) becomes(f choose.Fate, b *brief, x *block.Entry) *candidate {
	wanted := f.Kept() || f.Reason == reasonUnsuccessful || f.Reason == reasonReward
	if !wanted || x.Body.Bytes == 0 || x.Leak.Drop || g.weights.factor(x) == nil {
		return nil
	}
	return &candidate{choose.Row{ID: x.TraceID, Score: g.weights.reward(x), Completion: b.completion}, b, f.Kept()}
}

// decide says what becomes of each record before attempts at one problem are held
// against each other.
func (g *grouper) decide(ctx context.Context) error {
	return inorder.Each(ctx, g.Config.Workers, len(g.by), func(_ context.Context, i int) error {
		x := &block.Entry{}
		for _, b := range g.by[i].briefs {
			if err := g.decideOne(&g.by[i], b, x); err != nil {
				return err
			}
		}
		return nil
	})
}

// decideOne decides on one record of an input, for which it uses x.
func (g *grouper) decideOne(in *grouped, b *brief, x *block.Entry) error {
	b.fill(x)
	f := g.fate(b.ref, x)
	if c := g.becomes(f, b, x); c != nil {
		wanted, err := g.selected(b.ref, f)
		if err != nil {
			return err
		}
		if wanted {
			in.candidates = append(in.candidates, *c)
		} else if f.Kept() {
			f = choose.Fate{Stage: stageRank, Reason: reasonUnselected, Axis: f.Axis}
		}
	}
	in.fates = append(in.fates, f)
	return nil
}
