package pipeline

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/judges/repeats"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/reports"
)

// unitWriter writes one unit (a share of the corpus for one worker) into a folder of its own.
type unitWriter struct {
	session *session
	plan    *plan
	lines   *planReader
	unit    unit
	part    *corpus.Part
	dir     string
	weights *weights
	// reports is set when the unit with the ledger's tables was written, since both need all
	// records; otherwise it is nil.
	reports *reports.Set
}

func (w *unitWriter) write(ctx context.Context) error {
	switch {
	case w.unit.Stream.Table == finish.TableVerdicts:
		return w.writeVerdicts(ctx)
	case w.unit.Stream.Table != "":
		return w.writeTables(ctx)
	case w.unit.Stream.Config == configRL:
		return w.writeRL()
	case w.unit.Stream.Config == configSFT:
		return w.writeSFT(ctx)
	case w.unit.Stream.Config == configSteps:
		return w.writeSteps(ctx)
	default:
		return w.writeComparisons(ctx)
	}
}

// sftRow returns the training row of the attempt c. It takes the texts from d, the draft that
// the map step stored, and adds what was decided later: the origin, the reward, the judge's factor,
// the split, whether a model decided the calls, and the guard's score.
func (w *unitWriter) sftRow(
	c chosen,
	x *block.Entry,
	d *block.Draft,
) *rows.SFT {
	row := &rows.SFT{
		Messages: d.Messages,
		Tools:    w.tools(d),
		Metadata: d.Metadata,
		Goal:     d.Goal,
		Scalars:  d.Scalars,
		Origin:   w.origin(x.Problem),
	}
	row.JudgeScore = x.Score
	row.Reward = w.weights.reward(x)
	row.Split = w.unit.Stream.Split
	row.IsAgentic = c.IsAgentic
	if w.session.Config.Recorded {
		row.ProblemID = cmp.Or(x.ProblemID, row.ProblemID)
	} else {
		row.JudgeMultiplier = w.weights.factor(x)
	}
	if x.Leak.Match != "" {
		row.LeakMaxScore = &x.Leak.Score
	}
	return row
}

// tools returns the tool definitions for a row: those of the run's harness (a system prompt with
// tools), or of the attempt's source if the row has its system prompt. The latter may be none.
func (w *unitWriter) tools(d *block.Draft) []string {
	harness := w.session.Harness
	if d.Harness == harness.Name {
		return chat.Tools(harness)
	}
	return d.Tools
}

func (w *unitWriter) origin(problem int) rows.Origin {
	return rows.Origin{
		ProblemID: w.session.day.Problems.Name(problem),
		Cluster:   w.session.protection.Clusters[problem],
	}
}

func (w *unitWriter) facts(problem int) *rows.Facts {
	s := w.session
	return &rows.Facts{
		Harness:         s.Harness,
		Category:        s.day.Problems.All[problem].Category,
		Split:           w.unit.Stream.Split,
		Origin:          w.origin(problem),
		PipelineVersion: s.Version,
	}
}

// maxOpenBlocks is the maximum number of blocks (folders of stored results) that one worker has
// open for reading.
const maxOpenBlocks = 32

// eachDraft calls visit for each attempt of the unit (the share of the corpus that w writes), with
// its entry (the results of all stages) and its draft (the rendered training row). If a folder of
// stored results is damaged, it removes the folder, so that the next run makes it again, and
// returns block.ErrDamaged.
func (w *unitWriter) eachDraft(ctx context.Context, visit func(c chosen, x *block.Entry, d *block.Draft) error) error {
	blocks := map[int]*blockReader{}
	closeAll := func() {
		for _, b := range blocks {
			b.Close()
		}
		clear(blocks)
	}
	defer closeAll()
	s := w.session
	for _, pos := range w.unit.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		dir := s.inputs[pos.Input].dir
		r := blocks[pos.Input]
		if r == nil {
			if len(blocks) == maxOpenBlocks {
				closeAll()
			}
			var err error
			if r, err = s.openBlock(pos.Input); err != nil {
				return err
			}
			blocks[pos.Input] = r
		}
		x, d, err := r.Draft(pos.Place)
		if errors.Is(err, block.ErrDamaged) { // the next run makes the block again
			return errors.Join(err, s.FS.RemoveAll(dir))
		}
		if err != nil {
			return err
		}
		r.complete(x, pos.Entry)
		if err := visit(pos, x, d); err != nil {
			return err
		}
	}
	return nil
}

func (w *unitWriter) writeSFT(ctx context.Context) error {
	out := corpus.NewShards[rows.SFT](w.part, w.unit.Stream)
	err := w.eachDraft(ctx, func(c chosen, x *block.Entry, d *block.Draft) error {
		return out.Add(w.sftRow(c, x, d))
	})
	if err != nil {
		return err
	}
	return out.Close()
}

func (w *unitWriter) candidate(x *block.Entry, d *block.Draft) (rows.Candidate, error) {
	messages, err := chat.Decode(d.Messages)
	c := rows.Candidate{
		SessionID:   x.TraceID,
		Success:     x.Outcome.Success,
		Judge:       w.weights.quality(x),
		NeverChosen: !x.Structure.Keep,
		Tokens:      d.NTokens,
		Harness:     d.Harness,
	}
	c.Prompt, c.Completion = rows.SplitCompletion(messages, w.tools(d))
	return c, err
}

// writeComparisons writes, for the attempts at each problem, the rows of the configs that compare
// them: a kto row for each attempt and pref rows for pairs of attempts. It also writes a summary of
// the pairs.
func (w *unitWriter) writeComparisons(ctx context.Context) error {
	s := w.session
	sel := s.Config.Select
	out := comparison{
		kto:  corpus.NewShards[rows.KTO](w.part, w.unit.Stream),
		pref: corpus.NewShards[rows.Pref](w.part, newStream(configPref, w.unit.Stream.Split)),
		rule: rows.PairRule{
			PerProblem:     sel.Pairs,
			MinMargin:      sel.Margin,
			MaxLengthRatio: sel.LengthRatio,
		},
	}
	var group []rows.Candidate
	problem := -1
	flush := func() error {
		if len(group) == 0 {
			return nil
		}
		return out.add(group, w.facts(problem))
	}
	err := w.eachDraft(ctx, func(_ chosen, x *block.Entry, d *block.Draft) error {
		c, err := w.candidate(x, d)
		if err != nil {
			return err
		}
		if x.Problem != problem {
			if err := flush(); err != nil {
				return err
			}
			group = group[:0]
			problem = x.Problem
		}
		group = append(group, c)
		return nil
	})
	if err != nil {
		return err
	}
	if err := finish.FirstError(flush, out.kto.Close, out.pref.Close); err != nil {
		return err
	}
	return corpus.WriteJSON(s.FS, filepath.Join(w.dir, pairsName), &out.pairs)
}

type comparison struct {
	kto   *corpus.Shards[rows.KTO]
	pref  *corpus.Shards[rows.Pref]
	rule  rows.PairRule
	pairs corpus.PairSummary
}

// add writes the kto rows and the pref rows of group, which has all attempts at one problem.
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

func (w *unitWriter) writeRL() error {
	out := corpus.NewShards[rows.RL](w.part, w.unit.Stream)
	problems := w.session.day.Problems.All
	for i, problem := range w.unit.Problems {
		row := rows.NewRL(
			&problems[problem],
			w.facts(problem),
			w.plan.Tallies[problem],
			int64(i),
		)
		if err := out.Add(&row); err != nil {
			return err
		}
	}
	return out.Close()
}

// writeSteps writes the rows of config steps: the attempts of config sft with a label for each
// message of the model, up to the first message whose verdict is unclear. It leaves out attempts
// without labels, for example because the step judge gave no answer or the rule repeats_v1 found no
// waste.
func (w *unitWriter) writeSteps(ctx context.Context) error {
	out := corpus.NewShards[rows.Steps](w.part, w.unit.Stream)
	err := w.eachDraft(ctx, func(c chosen, x *block.Entry, d *block.Draft) error {
		labels := d.Verdicts
		if x.StepJudgement.Judge == repeats.Name {
			labels = repeats.Labels(labels)
		}
		if len(labels) == 0 {
			return nil
		}
		messages, err := chat.Decode(d.Messages)
		if err != nil {
			return err
		}
		row, err := rows.NewSteps(
			w.sftRow(c, x, d),
			messages,
			labels,
			w.facts(x.Problem),
		)
		if err != nil || len(row.Labels) == 0 {
			return err
		}
		row.Rule = x.StepJudgement.Judge
		return out.Add(&row)
	})
	if err != nil {
		return err
	}
	return out.Close()
}
