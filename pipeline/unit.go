package pipeline

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

type unitWriter struct {
	*session
	plan    *plan
	unit    unit
	part    *corpus.Part
	dir     string
	weights weights
	// reports are made beside the ledger.
	reports *reports.Set
}

func (w *unitWriter) write(ctx context.Context) error {
	switch {
	case w.unit.Stream.Table == finish.TableVerdicts:
		return w.verdicts(ctx)
	case w.unit.Stream.Table != "":
		return w.tables(ctx)
	case w.unit.Stream.Config == configRL:
		return w.rl()
	case w.unit.Stream.Config == configSFT:
		return w.sft(ctx)
	case w.unit.Stream.Config == configSteps:
		return w.steps(ctx)
	default:
		return w.compared(ctx)
	}
}

func (w *unitWriter) row(at ref, x *block.Entry, d *block.Draft) *rows.SFT {
	row := &rows.SFT{Messages: d.Messages, Tools: w.tools(d), Metadata: d.Metadata, Goal: d.Goal, Scalars: d.Scalars, Origin: w.origin(x.Problem)}
	row.Reward, row.JudgeMultiplier, row.Split = w.weights.reward(x), w.weights.factor(x), w.unit.Stream.Split
	row.IsAgentic = w.plan.Fates[at.Input][at.Entry].Axis == arena.AxisAgentic
	if x.Leak.Match != "" {
		row.LeakMaxScore = &x.Leak.Score
	}
	return row
}

func (w *unitWriter) tools(d *block.Draft) []string {
	if len(d.Tools) > 0 {
		return d.Tools
	}
	return chat.Tools(w.Harness)
}

func (w *unitWriter) origin(problem int) rows.Origin {
	return rows.Origin{ProblemID: w.day.Problems.Name(problem), Cluster: w.protect.Clusters[problem]}
}

func (w *unitWriter) facts(problem int) *rows.Facts {
	return &rows.Facts{
		Harness: w.Harness, Category: w.day.Problems.All[problem].Category, Split: w.unit.Stream.Split,
		Origin: w.origin(problem), PipelineVersion: w.Version, Counter: rows.Bytes4{},
	}
}

// mostOpen is how many blocks a unit keeps open.
const mostOpen = 32

// eachRow visits the attempts that the unit's rows point at, with their drafts, and then
// ends what was written of them.
func (w *unitWriter) eachRow(ctx context.Context, end func() error, visit func(at ref, x *block.Entry, d *block.Draft) error) error {
	blocks := map[int]*block.Reader{}
	closeAll := func() {
		for _, b := range blocks {
			b.Close()
		}
		clear(blocks)
	}
	defer closeAll()
	for _, at := range w.unit.Rows {
		in, err := blocks[at.Input], ctx.Err()
		if err == nil && in == nil {
			if len(blocks) == mostOpen {
				closeAll()
			}
			in, err = block.Open(w.FS, w.inputs[at.Input].dir)
		}
		if err != nil {
			return err
		}
		blocks[at.Input] = in
		x, d, err := in.Draft(at.Place)
		if errors.Is(err, block.ErrDamaged) { // the next run makes it again
			err = errors.Join(err, w.FS.RemoveAll(w.inputs[at.Input].dir))
		}
		if err == nil {
			err = visit(at, x, d)
		}
		if err != nil {
			return err
		}
	}
	return end()
}

func (w *unitWriter) sft(ctx context.Context) error {
	out := corpus.NewShards[rows.SFT](w.part, w.unit.Stream)
	return w.eachRow(ctx, out.Close, func(at ref, x *block.Entry, d *block.Draft) error { return out.Add(w.row(at, x, d)) })
}

func (w *unitWriter) candidate(x *block.Entry, d *block.Draft) (rows.Candidate, error) {
	ms, err := chat.Decode(d.Messages)
	c := rows.Candidate{SessionID: x.TraceID, Success: x.Outcome.Success, Judge: w.weights.quality(x), NeverChosen: !x.Structure.Keep, Tokens: d.NTokens}
	c.Prompt, c.Completion = rows.SplitCompletion(ms, w.tools(d))
	return c, err
}

// compared writes what attempts at one problem are made into when they are held
// against each other: a row of kto each, and pairs of pref.
func (w *unitWriter) compared(ctx context.Context) error {
	out := comparison{
		kto:  corpus.NewShards[rows.KTO](w.part, w.unit.Stream),
		pref: corpus.NewShards[rows.Pref](w.part, stream(configPref, w.unit.Stream.Split)),
		rule: rows.PairRule{PerProblem: w.Config.Select.Pairs, MinMargin: w.Config.Select.Margin, MaxLengthRatio: w.Config.Select.LengthRatio},
	}
	var group []rows.Candidate
	problem := -1
	add := func() error {
		if len(group) == 0 {
			return nil
		}
		return out.add(group, w.facts(problem))
	}
	save := func() error { return corpus.WriteJSON(w.FS, filepath.Join(w.dir, pairsName), &out.pairs) }
	end := func() error { return finish.InTurn(add, out.kto.Close, out.pref.Close, save) }
	return w.eachRow(ctx, end, func(_ ref, x *block.Entry, d *block.Draft) error {
		c, err := w.candidate(x, d)
		if err == nil && x.Problem != problem {
			err, group = add(), group[:0]
		}
		group, problem = append(group, c), x.Problem
		return err
	})
}

type comparison struct {
	kto   *corpus.Shards[rows.KTO]
	pref  *corpus.Shards[rows.Pref]
	rule  rows.PairRule
	pairs corpus.PairSummary
}

func (c *comparison) add(group []rows.Candidate, f *rows.Facts) error {
	for i := range group {
		row := rows.NewKTO(&group[i], f)
		if err := c.kto.Add(&row); err != nil {
			return err
		}
	}
	for _, row := range c.rule.Pairs(group, f) {
		if err := c.pref.Add(&row); err != nil {
			return err
		}
		c.pairs.Add(&row)
	}
	return nil
}

func (w *unitWriter) rl() error {
	out := corpus.NewShards[rows.RL](w.part, w.unit.Stream)
	for i, problem := range w.unit.Problems {
		row := rows.NewRL(&w.day.Problems.All[problem], w.facts(problem), w.plan.Tallies[problem], int64(i))
		if err := out.Add(&row); err != nil {
			return err
		}
	}
	return out.Close()
}

// steps writes the labelled turns of the attempts of config sft. One without
// an answer of the step judge, or with none before the first message that is
// unclear to it, is no row.
func (w *unitWriter) steps(ctx context.Context) error {
	out := corpus.NewShards[rows.Steps](w.part, w.unit.Stream)
	return w.eachRow(ctx, out.Close, func(at ref, x *block.Entry, d *block.Draft) error {
		if len(d.Verdicts) == 0 {
			return nil
		}
		ms, err := chat.Decode(d.Messages)
		if err != nil {
			return err
		}
		row, err := rows.NewSteps(w.row(at, x, d), ms, d.Verdicts, w.facts(x.Problem))
		if err != nil || len(row.Labels) == 0 {
			return err
		}
		row.Rule = x.StepJudgement.Judge
		return out.Add(&row)
	})
}
