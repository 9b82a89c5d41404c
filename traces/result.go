package traces

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/traces/formats"
	"github.com/trajectory-arena/arena/traces/results"
)

// visitFolder adds the attempts of a folder that is a trial of Harbor (an evaluation program) as
// inputs. It then returns fs.SkipDir, so that no other file of the trial is visited. For any other
// folder it records whether it is a job of Harbor or a run of SWE-agent, and the reports of
// SWE-bench in it.
func (w *walk) visitFolder(name string) error {
	attempts := results.ReadTrial(w.fsys, name)
	for i := range attempts {
		a := &attempts[i]
		if err := w.add(a.File); err != nil {
			return err
		}
		input := &w.inputs[len(w.inputs)-1]
		input.attempt = a
		input.ResultSHA256 = a.SHA256
	}
	if len(attempts) > 0 {
		return fs.SkipDir
	}
	if results.IsJob(w.fsys, name) {
		w.jobs[name] = true
		return nil
	}
	report, files := results.ReadReport(w.fsys, name)
	if report != nil {
		w.reports[name] = report
	}
	for _, file := range files {
		w.isReport[file] = true
	}
	w.isRun[name] = w.isRun[path.Dir(name)] || results.IsRun(w.fsys, name)
	return nil
}

// isEvaluators reports whether a file is no trace, since an evaluator or an agent wrote it for
// another purpose: a report of SWE-bench, a file of a job of Harbor, or a configuration, patch or
// log of a run of SWE-agent.
func (w *walk) isEvaluators(name string) bool {
	folder := path.Dir(name)
	return w.isReport[name] || w.jobs[folder] || w.isRun[folder] && results.IsRunFile(name)
}

// addReports adds the reports of SWE-bench in the folder of the file name and in those above to an
// input, the nearest first, and sets ResultSHA256 if there are any.
func (w *walk) addReports(input *Input, name string) {
	var sums []string
	for folder := path.Dir(name); ; folder = path.Dir(folder) {
		if report := w.reports[folder]; report != nil {
			input.reports = append(input.reports, report)
			sums = append(sums, report.SHA256)
		}
		if folder == "." {
			break
		}
	}
	if len(sums) > 0 {
		input.ResultSHA256 = digest.SHA256([]byte(strings.Join(sums, "\n")))
	}
}

// emitTrial emits a trace without steps for an attempt (a trial of Harbor) that has no trajectory.
func (r *reader) emitTrial() error {
	r.text = &content{stored: &countingReader{}}
	trace := formats.NewTrace(arena.Source{Shape: results.Harbor})
	return r.emitTrace(decoded{trace: &trace}, 0, r.input.SHA256)
}

// addResult adds the outcome, ids and errors that evaluators recorded on an attempt in other files
// to its trace. The run id and trial of the trace remain if it has them; the evaluators' problem,
// reward and error replace those of the trace.
func (r *reader) addResult(d *decoded) {
	t := d.trace
	result := r.input.result(t.ProblemID)
	if result == nil {
		return
	}
	if r.input.attempt != nil {
		t.Source.Shape = results.Harbor
	}
	t.RunID = cmp.Or(t.RunID, result.RunID)
	d.trial = cmp.Or(d.trial, result.Trial)
	t.ProblemID = cmp.Or(result.ProblemID, t.ProblemID)
	t.Agent.VersionID = cmp.Or(t.Agent.VersionID, result.Agent)
	t.Model = cmp.Or(t.Model, result.Model)
	t.Declared = cmp.Or(result.Reward, t.Declared)
	t.Error = cmp.Or(result.Error, t.Error)
	if result.Error != nil && result.Reward == nil {
		t.Declared = nil
	}
	for _, code := range result.Lost {
		if !slices.Contains(t.Lost, code) {
			t.Lost = append(t.Lost, code)
		}
	}
}

// result returns what evaluators recorded, in other files, on the attempt at a problem. It returns
// nil if they recorded nothing.
func (input *Input) result(problem string) *results.Result {
	if input.attempt != nil {
		return &input.attempt.Result
	}
	for _, report := range input.reports {
		if found := report.Result(problem, results.Problem(input.Name)); found != nil {
			return found
		}
	}
	return nil
}
