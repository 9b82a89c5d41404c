package student

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/student/inspectlog"
	"github.com/trajectory-arena/arena/student/rollout"
	"github.com/trajectory-arena/arena/student/runlog"
)

// finish writes everything that follows from the finished rollouts, in the
// order of problems and samples, and the summary last.
func (r *Run) finish(f *folder) (*Summary, error) {
	w, err := newOutputs(f, r)
	if err != nil {
		return nil, err
	}
	t := newTally(r.Spec.Samples, r.Contaminated)
	err = f.each(r.Spec, func(key runlog.Key, result *rollout.Result) error {
		t.add(result)
		if int(key.Sample) == r.Spec.Samples-1 {
			t.endProblem()
		}
		return w.add(&r.Problems.All[key.Problem], result)
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
	return s, writeJSON(f.file(summaryFile), s)
}

// each reads every finished rollout in order.
func (f *folder) each(spec Spec, do func(runlog.Key, *rollout.Result) error) error {
	for p := range spec.Problems {
		for s := range spec.Samples {
			key := runlog.Key{Problem: uint32(p), Sample: uint32(s)}
			result, err := f.finished(key)
			if err != nil {
				return err
			}
			if err := do(key, result); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeProblems keeps the problems beside their traces, with the ids that the
// traces name, so that the folder is a day that a build can read.
func (r *Run) writeProblems(path string) error {
	var b bytes.Buffer
	for i, p := range r.Problems.All {
		raw := strings.TrimSpace(string(p.Raw))
		if p.ID == "" {
			id, err := json.Marshal(r.Problems.IDs[i])
			if err != nil {
				return fmt.Errorf("write problems: %w", err)
			}
			raw = `{"problem_id":` + string(id) + "," + strings.TrimPrefix(raw, "{")
		}
		if err := json.Compact(&b, []byte(raw)); err != nil {
			return fmt.Errorf("write problems: %w", err)
		}
		b.WriteByte('\n')
	}
	return writeFile(path, b.Bytes())
}

// outputs are the files of results and traces under way: new ones beside the
// old until all are whole.
type outputs struct {
	lines   *sink
	table   *table
	inspect *inspectlog.Log
	traces  []*sink
}

func newOutputs(f *folder, r *Run) (*outputs, error) {
	o := &outputs{}
	var err error
	if o.lines, err = newSink(f.file(resultsFile), nil); err != nil {
		return nil, err
	}
	if o.table, err = newTable(f.file(parquetFile)); err != nil {
		return nil, errors.Join(err, o.lines.drop())
	}
	if o.inspect, err = inspectlog.New(f.file(inspectFile), r.inspectRun()); err != nil {
		return nil, errors.Join(err, o.lines.drop(), o.table.drop())
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(blockSize), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write traces: %w", err), o.drop())
	}
	for s := range r.Spec.Samples {
		dir := filepath.Join(f.path, tracesFolder, "run="+r.runID(uint32(s)))
		err = errors.Join(os.MkdirAll(dir, 0o755), r.writeRunFile(dir, s))
		if err == nil {
			var t *sink
			if t, err = newSink(filepath.Join(dir, "output.jsonl.zst"), encoder); err == nil {
				o.traces = append(o.traces, t)
			}
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("write traces: %w", err), o.drop())
		}
	}
	return o, nil
}

// writeRunFile says whose the traces of a folder are.
func (r *Run) writeRunFile(dir string, sample int) error {
	return writeJSON(filepath.Join(dir, "run.json"), map[string]string{
		"eval_run_id": r.runID(uint32(sample)), "agent_version_id": r.Spec.Model, "suite_version": "eval",
	})
}

func (o *outputs) add(p *arena.Problem, r *rollout.Result) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return errors.Join(o.lines.line(b), o.table.add(r), o.traces[r.Sample].line(r.Line), o.inspect.Add(inspectlog.Sample{Problem: p, Result: r}))
}

func (o *outputs) close(s *Summary) error {
	errs := []error{o.lines.close(), o.table.close(), o.inspect.Close(inspectScores(s))}
	for _, t := range o.traces {
		errs = append(errs, t.close())
	}
	return errors.Join(errs...)
}

func (o *outputs) drop() error {
	errs := []error{o.lines.drop(), o.table.drop(), o.inspect.Drop()}
	for _, t := range o.traces {
		errs = append(errs, t.drop())
	}
	return errors.Join(errs...)
}

// sink writes lines to a file that appears when it is whole, plain or as zstd
// frames of about a block each.
type sink struct {
	path    string
	tmp     *os.File
	block   []byte
	encoder *zstd.Encoder
}

// blockSize is how much is compressed at a time: enough for a good ratio, and
// little enough to hold one per sample.
const blockSize = 256 << 10

// newSink makes a sink; encoder is nil for plain text and may be shared by
// sinks that one goroutine writes.
func newSink(path string, encoder *zstd.Encoder) (*sink, error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	return &sink{path: path, tmp: tmp, encoder: encoder}, nil
}

func (s *sink) line(b []byte) error {
	s.block = append(append(s.block, b...), '\n')
	if len(s.block) < blockSize {
		return nil
	}
	return s.flush()
}

func (s *sink) flush() error {
	b := s.block
	if s.encoder != nil && len(b) > 0 {
		b = s.encoder.EncodeAll(b, nil)
	}
	s.block = s.block[:0]
	_, err := s.tmp.Write(b)
	return err
}

func (s *sink) close() error {
	if err := errors.Join(s.flush(), s.tmp.Chmod(0o644), s.tmp.Sync(), s.tmp.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", s.path, err), os.Remove(s.tmp.Name()))
	}
	return os.Rename(s.tmp.Name(), s.path)
}

func (s *sink) drop() error { return errors.Join(s.tmp.Close(), os.Remove(s.tmp.Name())) }
