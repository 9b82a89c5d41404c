package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// ref is the position of an entry (the stored result of one record): the index of its input, the
// index of the entry within the input, and its byte range in the index file.
type ref struct {
	Input int `json:"i"`
	Entry int `json:"e"`
	block.Place
}

// entrySummary is the part of an entry (the stored result of one record) that the group step, which
// decides on all records, keeps in memory. With it, the stored files need not be read again for
// each decision. A season has half a million entries.
type entrySummary struct {
	ref
	file    int32
	problem int32
	fault   *block.Fault
	// id and record are the trace ID and the hash of the record.
	id     string
	record record
	// original is the summary that counts among several attempts with the same trace ID, nil if
	// this one does.
	original *entrySummary
	// run, agent and problemID are shared by many entries.
	run       unique.Handle[string]
	agent     unique.Handle[string]
	problemID unique.Handle[string]
	traits    unique.Handle[traits]
	// started is the start of the attempt's run in Unix milliseconds. It is the largest int64 if
	// the start is unknown.
	started    int64
	confidence float64
	// rank is the filter's score of the trajectory; higher is better.
	rank   float64
	ruling *arena.Ruling
	score  *float64
	// passage is the passage of the attempt that decided the judge's grade.
	passage string
	bytes   int64
	// completion is the MinHash signature of the texts that the model wrote. It is nil if the
	// attempt cannot become a row.
	completion *minhash.Packed
}

// record is the SHA-256 of a record in binary form, which takes a third of the memory of its
// hexadecimal text.
type record [sha256.Size]byte

// newRecord parses the SHA-256 of a record from hexadecimal. If text is not a hexadecimal SHA-256,
// it returns the SHA-256 of text.
func newRecord(text string) (r record) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(r) {
		return sha256.Sum256([]byte(text))
	}
	return record(b)
}

// traits are those properties of a record's results that have few possible values, such as its
// domain. Many records have the same combination, so each combination is stored once.
type traits struct {
	axis arena.Axis
	// reasons are separated by newlines.
	reasons     string
	judged      arena.JudgeOutcome
	stepJudged  arena.JudgeOutcome
	isDrawn     bool
	leakTier    guard.Tier
	domain      string
	logged      bool
	hasDialogue bool
	success     bool
	scored      bool
	leak        bool
	stripped    bool
}

func newEntrySummary(pos ref, x *block.Entry) *entrySummary {
	a := &x.Attempt
	e := &entrySummary{
		ref:       pos,
		file:      int32(x.File),    //nolint:gosec // a block has fewer files
		problem:   int32(x.Problem), //nolint:gosec // a run has fewer problems
		fault:     x.Fault,
		id:        a.TraceID,
		record:    newRecord(a.RecordSHA256),
		run:       unique.Make(a.RunID),
		agent:     unique.Make(x.Agent),
		problemID: unique.Make(a.ProblemID),
		traits: unique.Make(traits{
			axis:        x.Structure.Axis,
			reasons:     strings.Join(x.Structure.Reasons, "\n"),
			judged:      x.Judgement.Outcome,
			stepJudged:  x.StepJudgement.Outcome,
			isDrawn:     x.OneIn > 0,
			leakTier:    x.Leak.Tier,
			domain:      x.Domain,
			logged:      x.Logged,
			hasDialogue: a.HasDialogue,
			success:     x.Outcome.Success,
			scored:      x.Outcome.Scored(),
			leak:        x.Leak.Drop,
			stripped:    x.Structure.ThinkingStripped,
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

// restore sets x to the stored results that e summarises; fields that the summary lacks are zero.
// For an attempt that was scored by the task's own rules, and not by a verifier or its source, it
// sets Outcome.Scores to an empty value that is not nil, so that the attempt still counts as
// scored.
func (e *entrySummary) restore(x *block.Entry) {
	t := e.traits.Value()
	*x = block.Entry{}
	x.File = int(e.file)
	x.Fault = e.fault
	x.Agent = e.agent.Value()
	x.Domain = t.domain
	x.Logged = t.logged
	x.Problem = int(e.problem)
	x.Score = e.score
	x.Rank = e.rank
	x.Attempt = rows.Attempt{
		TraceID:     e.id,
		RunID:       e.run.Value(),
		HasDialogue: t.hasDialogue,
	}
	x.Structure = arena.Structure{
		Axis:             t.axis,
		Confidence:       e.confidence,
		ThinkingStripped: t.stripped,
	}
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

// eachEntry calls visit for every entry (the stored result of one record) of all inputs. Only the
// given parts of an entry are read. One worker visits the inputs in order and the entries of each
// in order; several workers read several inputs at once. An entry is valid only during its call.
func (s *session) eachEntry(
	ctx context.Context,
	workers int,
	parts block.Part,
	visit func(pos ref, x *block.Entry) error,
) error {
	return inorder.Each(ctx, workers, len(s.inputs), func(ctx context.Context, i int) error {
		r, err := s.openBlock(i)
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
			r.complete(x, n)
			if err := visit(ref{i, n, x.Place}, x); err != nil {
				return err
			}
			n++
		}
		return nil
	})
}

// checkBlocks returns an error unless every input has a block (its results, stored by the map step)
// that this run can use. A block that lacks only some answers of a judge is usable. The error is
// that of the first unusable input, for any number of workers.
func (s *session) checkBlocks(ctx context.Context) error {
	check := func(_ context.Context, in input) (any, error) {
		status, err := s.blockState(in)
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
