package student

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"
	"golang.org/x/sync/errgroup"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/journal"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/student/inspectlog"
	"github.com/trajectory-arena/arena/student/rollout"
)

// finish writes all output files of the run from its rollouts (attempts at a problem), in the order
// of problems and samples, and returns the summary, which it writes last. It waits for each rollout
// that is still running, so that it can run at the same time as the rollouts.
func (r *Run) finish(ctx context.Context, f *folder) (*evaluation.Summary, error) {
	w, err := newOutputs(f, r)
	if err != nil {
		return nil, err
	}
	groups, err := r.Problems.Groups(ctx)
	if err != nil {
		return nil, errors.Join(err, w.drop())
	}
	t := newTally(r.Contaminated, r.Spec.Dialect.SendsTools(), groups)
	t.toolsUnseen = toolsUnseen(f.path)
	err = r.each(ctx, f, func(key journal.Key, result *rollout.Result) error {
		result, bad := withoutSecrets(result, r.runID(key.Sample))
		if bad != nil {
			return bad
		}
		t.add(result)
		result.Cached = 0
		if int(key.Sample) == r.Spec.Samples-1 {
			t.endProblem()
		}
		if bad := w.add(&r.Problems.All[key.Problem], result); bad != nil {
			return bad
		}
		return w.addTokens(f, key, result)
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write results: %w", err), w.drop())
	}
	s := t.summary()
	if err = w.close(s); err != nil {
		return nil, fmt.Errorf("write results: %w", err)
	}
	if err := r.writeProblems(f.file(problemsFile)); err != nil {
		return nil, err
	}
	return s, WriteJSON(f.file(SummaryFile), s)
}

// toolsUnseen reports whether a server of the run did not pass the tool definitions on to the
// model. The file on servers in the run's folder records this.
func toolsUnseen(folder string) bool {
	b, err := os.ReadFile(filepath.Join(folder, ServersFile))
	return err == nil && gjson.GetBytes(b, "#(tools_unseen==true)").Exists()
}

func (r *Run) each(
	ctx context.Context,
	f *folder,
	do func(journal.Key, *rollout.Result) error,
) error {
	for key := range r.Spec.rollouts {
		result, err := f.finished(ctx, key, r.runID(key.Sample))
		if err == nil {
			err = do(key, result)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeProblems writes the problems to path, one JSON line each, without secrets and with the ids
// that the traces use, so that a build can read the run folder as an input.
func (r *Run) writeProblems(path string) error {
	var b bytes.Buffer
	for i := range r.Problems.All {
		line, err := publicProblem(&r.Problems.All[i], r.Problems.IDs[i])
		if err == nil {
			err = json.Compact(&b, line)
		}
		if err != nil {
			return fmt.Errorf("write problems: %w", err)
		}
		b.WriteByte('\n')
	}
	return atomicfile.WriteFile(path, b.Bytes())
}

// outputs are the files of results and traces of a run while they are written. They replace those
// of an earlier run only when they are complete.
type outputs struct {
	run *Run
	// files are all open files, so that they can be removed after an error.
	files []*atomicfile.File
	lines *sink
	table *table
	// tokens is nil if the run stores no tokens.
	tokens  *table
	inspect *inspectlog.Log
	// traces has, by sample number, the writer of the trace file of that sample of all problems.
	traces []*sink
}

func newOutputs(f *folder, r *Run) (o *outputs, err error) {
	o = &outputs{run: r}
	begin := func(path string) (file *atomicfile.File) {
		file, bad := atomicfile.CreateIn(f.path, path)
		if bad != nil {
			err = errors.Join(err, fmt.Errorf("create %s: %w", path, bad))
			return nil
		}
		o.files = append(o.files, file)
		return file
	}
	o.lines = newSink(begin(f.file(resultsFile)), &packer{}, 1)
	o.table = newTable(begin(f.file(parquetFile)), row{})
	if r.Spec.Keep.Tokens {
		o.tokens = newTable(begin(f.file(evaluation.TokensFile)), evaluation.TokensRow{})
	}
	p := newPacker()
	for sample := range r.Spec.Samples {
		o.traces = append(o.traces, newSink(
			begin(filepath.Join(o.traceDir(sample), "output.jsonl.zst")),
			p,
			r.Spec.Samples,
		))
	}
	if log := begin(f.file(inspectFile)); err == nil {
		o.inspect, err = inspectlog.New(log, inspectlog.Run{
			ID:         r.runID(0),
			Task:       "shopping_" + r.Spec.Harness,
			Model:      r.Spec.Model,
			ProblemIDs: r.Problems.IDs,
			Samples:    r.Spec.Samples,
			System:     r.Spec.System,
			MaxSteps:   r.Spec.MaxSteps,
			Sampling:   r.Spec.Sampling,
			Spec:       r.Spec,
		})
	}
	if err != nil {
		return nil, errors.Join(err, o.drop())
	}
	return o, nil
}

// newPacker returns a packer, which joins lines to zstd blocks, for the trace files of all sample
// numbers.
func newPacker() *packer {
	encoder, _ := zstd.NewWriter(
		nil,
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(blockSize),
		zstd.WithLowerEncoderMem(true),
	) // only invalid options fail
	return &packer{encoder: encoder}
}

// traceDir returns the folder for the traces of one sample number: traces/run=ID in the run folder,
// where ID is the run id that is derived from the sample number.
func (o *outputs) traceDir(sample int) string {
	return filepath.Join(
		o.run.Folder,
		tracesFolder,
		"run="+o.run.runID(uint32(sample)),
	)
}

func (o *outputs) add(p *arena.Problem, r *rollout.Result) error {
	line, err := newRow(r)
	if err != nil {
		return err
	}
	shown := *p
	shown.Query = public(p.Query)
	if err := o.lines.line(asjson.Bytes(r)); err != nil {
		return err
	}
	if err := o.table.add(&line); err != nil {
		return err
	}
	if err := o.traces[r.Sample].line(r.Line); err != nil {
		return err
	}
	return o.inspect.Add(&shown, r)
}

// addTokens adds the tokens of a rollout's replies to the table of tokens, if the run stores
// tokens. It reads the replies from the journal (the file with all replies of the run), since they
// are not kept in memory.
func (o *outputs) addTokens(
	f *folder,
	key journal.Key,
	r *rollout.Result,
) error {
	if o.tokens == nil {
		return nil
	}
	turns, err := f.past(key)
	for i, turn := range turns {
		t := model.ReadTokens(turn.Reply)
		err = errors.Join(err, o.tokens.add(&evaluation.TokensRow{
			ProblemID:   r.ProblemID,
			Sample:      int32(key.Sample),
			Rollout:     int64(key.Problem)*int64(o.run.Spec.Samples) + int64(key.Sample),
			Turn:        int32(i),
			Prompt:      t.Prompt,
			IDs:         t.IDs,
			LogProbs:    t.LogProbs,
			Top:         int32(t.Top),
			TopIDs:      t.TopIDs,
			TopLogProbs: t.TopLogProbs,
		}))
	}
	return err
}

func (o *outputs) close(s *evaluation.Summary) error {
	var err error
	for _, t := range o.traces { // one by one: they share what packs them
		err = errors.Join(err, t.flush())
	}
	var g errgroup.Group
	g.SetLimit(syncsAtOnce)
	g.Go(o.lines.close)
	g.Go(o.table.close)
	if o.tokens != nil {
		g.Go(o.tokens.close)
	}
	g.Go(func() error {
		return o.inspect.Close(inspectScores(s))
	})
	for sample, t := range o.traces {
		g.Go(func() error { return o.closeTraces(t, sample) })
	}
	return errors.Join(err, g.Wait())
}

// syncsAtOnce is the maximum number of output files that are flushed to disk at the same time. A
// disk flushes many files about as fast as one.
const syncsAtOnce = 16

// closeTraces closes the trace file of a sample number in its folder, and writes a run.json next
// to it with the ids of run, agent and suite, which a build reads.
func (o *outputs) closeTraces(t *sink, sample int) error {
	dir := o.traceDir(sample)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return t.file.End(fmt.Errorf("write traces: %w", err))
	}
	if err := t.close(); err != nil {
		return err
	}
	return WriteJSON(filepath.Join(dir, "run.json"), map[string]string{
		"eval_run_id":      o.run.runID(uint32(sample)),
		"agent_version_id": o.run.Spec.Model,
		"suite_version":    "eval",
	})
}

func (o *outputs) drop() (err error) {
	for _, f := range o.files {
		err = errors.Join(err, f.Drop())
	}
	return err
}

// sink writes lines to a file that gets its final name only when it is complete. Lines are
// collected into blocks, each of which is written as plain text or as a zstd frame.
type sink struct {
	file *atomicfile.File
	// lines are the lines of the current block and size their length in bytes. The block is written
	// when size reaches maxBytes.
	lines    [][]byte
	size     int
	maxBytes int
	pack     *packer
}

// packer joins lines into a block, compressed by zstd if it has an encoder. It reuses its memory
// for each block, so several sinks can share a packer if one goroutine writes them.
type packer struct {
	encoder       *zstd.Encoder
	block, packed []byte
}

func (p *packer) join(lines [][]byte) []byte {
	p.block = p.block[:0]
	for _, line := range lines {
		p.block = append(append(p.block, line...), '\n')
	}
	if p.encoder == nil {
		return p.block
	}
	p.packed = p.encoder.EncodeAll(p.block, p.packed[:0])
	return p.packed
}

// Sizes of the blocks of lines in bytes, which are compressed and written at once. A block has at
// most blockSize bytes. The open blocks of all samples together have about blocksSize bytes, but
// each has at least smallestSize, since smaller ones compress badly.
const (
	blockSize    = 256 << 10
	smallestSize = 32 << 10
	blocksSize   = 2 << 20
)

// newSink returns a sink that writes to file. open is the number of sinks in use at the same time:
// the more there are, the smaller the blocks. p may be shared by the sinks of one goroutine.
func newSink(file *atomicfile.File, p *packer, open int) *sink {
	return &sink{
		file:     file,
		maxBytes: min(blockSize, max(smallestSize, blocksSize/open)),
		pack:     p,
	}
}

// line adds a line to the current block, and writes the block if it is full. The caller must not
// change the line before the block is written.
func (s *sink) line(b []byte) error {
	s.lines = append(s.lines, b)
	if s.size += len(b) + 1; s.size < s.maxBytes {
		return nil
	}
	return s.flush()
}

func (s *sink) flush() error {
	if s.size == 0 {
		return nil
	}
	_, err := s.file.Write(s.pack.join(s.lines))
	clear(s.lines)
	s.lines, s.size = s.lines[:0], 0
	return err
}

func (s *sink) close() error { return s.file.End(s.flush()) }
