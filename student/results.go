package student

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/journal"
	"github.com/trajectory-arena/arena/internal/jsonl"
	"github.com/trajectory-arena/arena/internal/stats"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/student/rollout"
)

// ProblemResult is the result of the samples of a run for one problem.
type ProblemResult struct {
	ProblemID string         `json:"problem_id"`
	Category  arena.Category `json:"category"`
	Samples   int            `json:"samples"`
	Scored    int            `json:"scored"`
	Successes int            `json:"successes"`
	// Rate is Successes / Scored or, of another harness's results, the mean reward; null where nothing
	// was scored. Wilson95 is its interval, null if a reward is neither 0 nor 1.
	Rate     *float64    `json:"rate"`
	Wilson95 *[2]float64 `json:"wilson95"`
	// Flaky is a problem that some scored samples solve and some do not.
	Flaky bool `json:"flaky"`

	// gained is the sum of the rewards. graded reports whether one of them is neither 0 nor 1.
	gained float64
	graded bool
}

func (p *ProblemResult) add(r *rollout.Result) {
	p.Samples++
	if r.Success != nil {
		p.Scored++
	}
	if r.Success != nil && *r.Success {
		p.Successes++
	}
	gain := r.Gain()
	p.gained += gain
	p.graded = p.graded || gain != 0 && gain != 1
}

// Graded reports whether a reward of the problem is neither 0 nor 1, so that its rate is no share of
// successes.
func (p *ProblemResult) Graded() bool { return p.graded }

func (p *ProblemResult) flaky() bool { return p.Successes > 0 && p.Successes < p.Scored }

// EachProblem reads the results of finished runs, pooled as by EachPooled, problem by problem, in
// order.
func EachProblem(folders []string, do func(*ProblemResult) error) error {
	var p *ProblemResult
	end := func() error {
		if p == nil {
			return nil
		}
		p.Rate = stats.FiniteOrNil(p.gained / float64(p.Scored))
		if w := stats.Wilson(p.Successes, p.Scored); !p.graded {
			p.Wilson95 = &[2]float64{w.Low, w.High}
		}
		p.Flaky = p.flaky()
		return do(p)
	}
	err := EachPooled(folders, func(r *rollout.Result) error {
		if p == nil || p.ProblemID != r.ProblemID {
			if err := end(); err != nil {
				return err
			}
			p = &ProblemResult{ProblemID: r.ProblemID, Category: r.Category}
		}
		p.add(r)
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}

// EachResult reads the results of a finished run, in order.
func EachResult(folder string, do func(*rollout.Result) error) error {
	if _, err := ReadFinished(folder); err != nil {
		return err
	}
	return wrong.Wrap("read results", jsonl.Each(filepath.Join(folder, resultsFile), func(r rollout.Result) error {
		return do(&r)
	}))
}

// Rescore computes the scores of the finished rollouts of a folder again, without the model, and rewrites
// results and summary. The judge may be another than the run's, and titles may be compared
// in another way; the folder's spec then names the new ones. Unfinished rollouts are an
// error.
func (r *Run) Rescore(ctx context.Context) (*evaluation.Summary, error) {
	old, err := ReadSpec(r.Folder)
	if err != nil {
		return nil, err
	}
	now := r.Spec
	now.Judge, now.Titles = old.Judge, old.Titles
	f, err := openFolder(r.Folder, now, nil)
	if err != nil {
		return nil, err
	}
	// Results by the old judge may be half replaced from now on, so the run is not
	// finished until its summary is written again.
	if missing := f.missing(r.Spec); len(missing) > 0 {
		err = fmt.Errorf("%w: %d rollouts are missing", ErrUnfinished, len(missing))
	} else if err = f.unfinish(); err == nil {
		err = WriteJSON(f.file(specFile), r.Spec)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("score again: %w", err), f.close())
	}
	err = r.each(ctx, f, func(key journal.Key, result *rollout.Result) error {
		before := result.Label
		if bad := r.score(ctx, &r.Problems.All[key.Problem], result); bad != nil {
			return bad
		}
		if before != nil && *before == rollout.LabelSuccess && !*result.Success {
			if result.Label = new(rollout.LabelWrongProduct); result.HallucinatedIDs > 0 {
				result.Label = new(rollout.LabelHallucinated)
			}
		}
		return f.finish(key, result)
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("score again: %w", err), f.close())
	}
	summary, err := r.finish(ctx, f)
	return summary, errors.Join(err, f.close())
}

// public returns a text without the secrets in it. JSON remains valid JSON, and numbers that are
// ids of products remain. All files of a run folder are redacted by it except the journals, from
// which a run is resumed: they have requests and replies unchanged.
func public[T string | []byte](text T) T { return T(publicBeside(redact.IDs{}, string(text))) }

// publicBeside returns a text without the secrets in it, like public. Numbers that are ids of
// products in text or in ids do not count as secrets. It adds the product ids in text to ids, since
// texts that are published later may repeat them.
func publicBeside(ids redact.IDs, text string) string {
	ids.Add(text)
	return redact.New(redact.Options{}).Sparing(ids).Text(text, redact.Counts{})
}

// withoutSecrets returns a copy of a rollout without the secrets in its result and trace, or the
// rollout itself if it has none. The trace of the copy gets the run id runID.
func withoutSecrets(r *rollout.Result, runID string) (*rollout.Result, error) {
	ids := redact.IDs{}
	written := string(r.Line)
	head := string(asjson.Bytes(r))
	line := publicBeside(ids, written)
	shown := publicBeside(ids, head)
	if line == written && shown == head {
		return r, nil
	}
	out := &rollout.Result{Line: []byte(line)}
	if err := json.Unmarshal([]byte(shown), out); err != nil {
		return nil, fmt.Errorf("read result without secrets: %w", err)
	}
	out.SetScore(out.Score)
	if arena.Raw(line).Kind() != arena.Object { // redaction has broken the JSON
		out.Line = fmt.Appendf(nil, `{"problem_id":%q,"dialogue":null}`, out.ProblemID)
	}
	return out, out.ReadTrace(runID)
}

// publicProblem returns a problem as JSON without the secrets in it, and with id as its problem_id.
func publicProblem(p *arena.Problem, id string) ([]byte, error) {
	text := public([]byte(p.Raw))
	if p.ID == id {
		return text, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	fields["problem_id"] = asjson.Bytes(id)
	return json.Marshal(fields)
}
