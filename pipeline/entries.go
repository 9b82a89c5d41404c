package pipeline

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unique"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/minhash"
	"github.com/trajectory-arena/arena/internal/inorder"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// ref is the position of an entry: the index of its input, and its index and place in
// the block.
type ref struct {
	Input int `json:"i"`
	Entry int `json:"e"`
	block.Place
}

// entrySummary is the part of an entry that the group step holds in memory, so that
// it reads each block once. A season has half a million entries.
type entrySummary struct {
	ref
	file    int32
	problem int32
	fault   *block.Fault
	// id and record are the trace ID and the hash of the record.
	id     string
	record string
	// run, agent and problemID are shared by many entries.
	run       unique.Handle[string]
	agent     unique.Handle[string]
	problemID unique.Handle[string]
	traits    unique.Handle[traits]
	// started is the start of the attempt's run in Unix milliseconds, the largest
	// number if unknown.
	started    int64
	confidence float64
	// rank is the filter's score of the trajectory; higher is better.
	rank   float64
	ruling *arena.Ruling
	score  *float64
	// passage is the text that decided the grade.
	passage string
	bytes   int64
	// completion is nil if the attempt cannot become a row.
	completion *minhash.Packed
}

// traits are the properties whose combinations recur in many entries.
type traits struct {
	axis arena.Axis
	// reasons are separated by newlines.
	reasons     string
	judged      arena.JudgeOutcome
	stepJudged  arena.JudgeOutcome
	leakTier    guard.Tier
	hasDialogue bool
	success     bool
	scored      bool
	leak        bool
}

func newEntrySummary(pos ref, x *block.Entry) *entrySummary {
	a := &x.Attempt
	e := &entrySummary{
		ref:       pos,
		file:      int32(x.File),    //nolint:gosec // a block has fewer files
		problem:   int32(x.Problem), //nolint:gosec // a run has fewer problems
		fault:     x.Fault,
		id:        a.TraceID,
		record:    a.RecordSHA256,
		run:       unique.Make(a.RunID),
		agent:     unique.Make(x.Agent),
		problemID: unique.Make(a.ProblemID),
		traits: unique.Make(traits{
			axis:        x.Structure.Axis,
			reasons:     strings.Join(x.Structure.Reasons, "\n"),
			judged:      x.Judgement.Outcome,
			stepJudged:  x.StepJudgement.Outcome,
			leakTier:    x.Leak.Tier,
			hasDialogue: a.HasDialogue,
			success:     x.Outcome.Success,
			scored:      x.Outcome.Scored(),
			leak:        x.Leak.Drop,
		}),
		started:    math.MaxInt64,
		confidence: x.Structure.Confidence,
		rank:       x.Rank,
		ruling:     x.Outcome.Ruling,
		score:      x.Score,
		passage:    x.Passage,
		bytes:      x.Body.Bytes,
	}
	if a.RunDate != nil {
		e.started = *a.RunDate
	}
	if e.bytes > 0 {
		e.completion = new(x.Body.Signature)
	}
	return e
}

// restore sets x to the entry, as far as the summary has it.
func (e *entrySummary) restore(x *block.Entry) {
	t := e.traits.Value()
	*x = block.Entry{}
	x.File = int(e.file)
	x.Fault = e.fault
	x.Agent = e.agent.Value()
	x.Problem = int(e.problem)
	x.Score = e.score
	x.Rank = e.rank
	x.Attempt = rows.Attempt{
		TraceID:      e.id,
		RecordSHA256: e.record,
		RunID:        e.run.Value(),
		HasDialogue:  t.hasDialogue,
	}
	x.Structure = arena.Structure{Axis: t.axis, Confidence: e.confidence}
	if t.reasons != "" {
		x.Structure.Reasons = strings.Split(t.reasons, "\n")
	}
	x.Outcome = arena.Outcome{Success: t.success, Ruling: e.ruling}
	if t.scored && e.ruling == nil {
		x.Outcome.Scores = &arena.Scores{}
	}
	x.Judgement.Outcome = t.judged
	x.StepJudgement.Outcome = t.stepJudged
	x.Leak.Drop = t.leak
	x.Leak.Tier = t.leakTier
	x.Body.Bytes = e.bytes
}

// eachEntry calls visit for every entry of every block, with the given parts. With one
// worker the entries come in the order of the inputs' content and of their lines;
// several workers read several inputs at once. An entry is valid only during its call.
func (s *session) eachEntry(
	ctx context.Context,
	workers int,
	parts block.Part,
	visit func(pos ref, x *block.Entry) error,
) error {
	return inorder.Each(ctx, workers, len(s.inputs), func(ctx context.Context, i int) error {
		r, err := block.Open(s.FS, s.inputs[i].dir)
		if err != nil {
			return err
		}
		defer r.Close()
		n := 0
		for x, err := range r.All(parts) {
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := visit(ref{i, n, x.Place}, x); err != nil {
				return err
			}
			n++
		}
		return nil
	})
}

// checkBlocks checks that other processes have made every block. It returns the error
// of the first input with one, for any number of workers.
func (s *session) checkBlocks(ctx context.Context) error {
	check := func(_ context.Context, in input) (any, error) {
		status, err := block.State(s.FS, in.dir, in.key)
		if err != nil {
			return nil, err
		}
		if status != block.Equal && status != block.Unfinished {
			return nil, fmt.Errorf("read block of %s: %s: run the map step on all shards first", in.title(), status)
		}
		return nil, nil
	}
	return inorder.List(ctx, s.Config.Workers, s.inputs, check, func(any) error {
		return nil
	})
}
