package pipeline

import (
	"cmp"
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

// ref points at an entry: the position of its input, and its own in the block.
type ref struct {
	Input int `json:"i"`
	Entry int `json:"e"`
	block.Place
}

// brief is what the group step keeps of one entry, so that each block is read once: a
// season has half a million.
type brief struct {
	ref
	file, problem int32
	fault         *block.Fault
	// id and record are the attempt's name and its record's hash; run, agent and asked name
	// its run, its agent and its problem.
	id, record        string
	run, agent, asked unique.Handle[string]
	standing          unique.Handle[standing]
	// started is when its run began, in Unix milliseconds, the largest where unknown.
	started    int64
	confidence float64
	// rank is what the filter makes of the trajectory, higher is better.
	rank   float64
	ruling *arena.Ruling
	score  *float64
	// passage is what decided the grade.
	passage string
	bytes   int64
	// completion is nil where the attempt cannot become a row.
	completion *minhash.Packed
}

// standing is what few attempts have for themselves alone.
type standing struct {
	axis arena.Axis
	// reasons are one a line.
	reasons                            string
	judged, stepped                    arena.JudgeOutcome
	tier                               guard.Tier
	hasDialogue, success, scored, leak bool
}

func briefOf(at ref, x *block.Entry) *brief {
	a := &x.Attempt
	b := &brief{
		ref: at, file: int32(x.File), problem: int32(x.Problem), fault: x.Fault, //nolint:gosec // a block has fewer files, a run fewer problems
		id: a.TraceID, record: a.RecordSHA256, run: unique.Make(a.RunID), agent: unique.Make(x.Agent), asked: unique.Make(a.ProblemID),
		standing: unique.Make(standing{
			x.Structure.Axis, strings.Join(x.Structure.Reasons, "\n"), x.Judgement.Outcome, x.StepJudgement.Outcome,
			x.Leak.Tier, a.HasDialogue, x.Outcome.Success, x.Outcome.Scored(), x.Leak.Drop,
		}),
		started: math.MaxInt64, confidence: x.Structure.Confidence, rank: x.Rank, ruling: x.Outcome.Ruling, score: x.Score, passage: x.Passage, bytes: x.Body.Bytes,
	}
	if a.RunDate != nil {
		b.started = *a.RunDate
	}
	if b.bytes > 0 {
		b.completion = new(x.Body.Signature)
	}
	return b
}

// fill puts what is kept of the entry in its places of x.
func (b *brief) fill(x *block.Entry) {
	s := b.standing.Value()
	*x = block.Entry{}
	x.File, x.Fault, x.Agent, x.Problem, x.Score, x.Rank = int(b.file), b.fault, b.agent.Value(), int(b.problem), b.score, b.rank
	x.Attempt = rows.Attempt{TraceID: b.id, RecordSHA256: b.record, RunID: b.run.Value(), HasDialogue: s.hasDialogue}
	x.Structure = arena.Structure{Axis: s.axis, Confidence: b.confidence}
	if s.reasons != "" {
		x.Structure.Reasons = strings.Split(s.reasons, "\n")
	}
	x.Outcome = arena.Outcome{Success: s.success, Ruling: b.ruling}
	if s.scored && b.ruling == nil {
		x.Outcome.Scores = &arena.Scores{}
	}
	x.Judgement.Outcome, x.StepJudgement.Outcome = s.judged, s.stepped
	x.Leak.Drop, x.Leak.Tier, x.Body.Bytes = s.leak, s.tier, b.bytes
}

// entries calls f for every entry of every block, with these parts: in the order of the
// inputs' content, which no path decides, and of their lines, or several inputs at once.
// An entry is valid only within its call.
func (s *session) entries(ctx context.Context, workers int, parts block.Part, f func(at ref, x *block.Entry) error) error {
	return inorder.Each(ctx, workers, len(s.inputs), func(ctx context.Context, i int) error {
		in, err := block.Open(s.FS, s.inputs[i].dir)
		if err != nil {
			return err
		}
		defer in.Close()
		n := 0
		for x, failed := range in.All(parts) {
			if failed = cmp.Or(failed, ctx.Err()); failed == nil {
				failed = f(ref{i, n, x.Place}, x)
			}
			if failed != nil {
				return failed
			}
			n++
		}
		return nil
	})
}

// ready checks that other processes have made every block. Of several errors it gives that
// of the first input, however many workers there are.
func (s *session) ready(ctx context.Context) error {
	return inorder.List(ctx, s.Config.Workers, s.inputs, func(_ context.Context, in input) (any, error) {
		status, err := block.State(s.FS, in.dir, in.key)
		if err == nil && status != block.Equal && status != block.Unfinished {
			err = fmt.Errorf("read block of %s: %s: run the map step on all shards first", in.title(), status)
		}
		return nil, err
	}, func(any) error { return nil })
}
