package results

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
)

// Report has the outcomes that a report of SWE-bench states, by problem.
type Report struct {
	outcomes map[string]outcome
	// SHA256 is the hash of the files.
	SHA256 string
}

// outcome is what a report of SWE-bench states about a problem, such as solved. The values are
// ordered: if a report states several about one problem, the largest counts.
type outcome uint8

const (
	unstated    outcome = iota
	unfinished          // the problem was not evaluated
	failed              // the patch does not solve the problem, or there is none
	unevaluated         // the evaluation failed
	solved
	disputed // two reports differ
)

// lists has the keys of the lists of problems in a report, each with what the list states about its
// problems. If a problem is in several lists, the largest outcome counts. The harness of SWE-bench
// writes the lists whose keys end in _ids, and the evaluation of earlier versions of SWE-agent the
// others.
var lists = []struct {
	name string
	is   outcome
}{
	{"incomplete_ids", unfinished},
	{"submitted_ids", unfinished},
	{"applied", failed},
	{"generated", failed},
	{"no_generation", failed},
	{"no_apply", failed},
	{"unresolved_ids", failed},
	{"empty_patch_ids", failed},
	{"error_ids", unevaluated},
	{"infra_failure_ids", unevaluated},
	{"install_fail", unevaluated},
	{"reset_failed", unevaluated},
	{"no_logs", unevaluated},
	{"test_errored", unevaluated},
	{"test_timeout", unevaluated},
	{"resolved", solved},
	{"resolved_ids", solved},
}

// headBytes is the number of bytes at the start of a file that are searched for a key of a report.
const headBytes = 4 << 10

// reportsName is the name of the file in which SWE-agent stores a report.
const reportsName = "results.json"

// ReadReport returns what the reports in a folder state together, or nil if there is none. It also
// returns the names of their files.
func ReadReport(fsys fs.FS, folder string) (report *Report, files []string) {
	entries, _ := fs.ReadDir(fsys, folder)
	var texts [][]byte
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		if !e.Type().IsRegular() || path.Ext(name) != ".json" || !hasReportHead(fsys, name) {
			continue
		}
		doc, text := readObject(fsys, name)
		outcomes := readOutcomes(doc)
		if outcomes == nil {
			continue
		}
		if report == nil {
			report = &Report{outcomes: map[string]outcome{}}
		}
		report.add(outcomes)
		files = append(files, name)
		texts = append(texts, text)
	}
	if report != nil {
		report.SHA256 = digest.SHA256(bytes.Join(texts, []byte("\n")))
	}
	return report, files
}

func hasReportHead(fsys fs.FS, name string) bool {
	if path.Base(name) == reportsName {
		return true
	}
	f, err := fsys.Open(name)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it was only read
	head, _ := io.ReadAll(io.LimitReader(f, headBytes))
	return bytes.Contains(head, []byte(`"resolved_instances"`)) || bytes.Contains(head, []byte(`"resolved_ids"`))
}

// readOutcomes returns the outcome that a report of SWE-bench states for each problem, by problem
// id. It returns nil if doc is no such report.
func readOutcomes(doc gjson.Result) map[string]outcome {
	if !doc.Get("resolved_ids").IsArray() && !doc.Get("resolved").IsArray() {
		return nil
	}
	outcomes := map[string]outcome{}
	for _, list := range lists {
		for _, id := range doc.Get(list.name).Array() {
			if id.Str == "" { // no id: an attempt without a problem must not get its outcome
				continue
			}
			if list.is > outcomes[id.Str] {
				outcomes[id.Str] = list.is
			}
		}
	}
	return outcomes
}

// add adds the outcomes of another report. A problem for which the reports state different outcomes
// becomes disputed. A report in which it is unfinished says nothing of its outcome: the harness
// lists every problem of the dataset that one run did not evaluate.
func (r *Report) add(outcomes map[string]outcome) {
	for id, o := range outcomes {
		known := r.outcomes[id]
		if known != o && min(known, o) > unfinished {
			o = disputed
		}
		r.outcomes[id] = max(known, o)
	}
}

// Result returns what the report states of a problem, which is the first of the ids that it knows.
// It returns nil if it states nothing.
func (r *Report) Result(ids ...string) *Result {
	for _, id := range ids {
		switch r.outcomes[id] {
		case solved:
			return &Result{ProblemID: id, Reward: new(1.0)}
		case failed:
			return &Result{ProblemID: id, Reward: new(0.0)}
		case unfinished:
			return &Result{ProblemID: id}
		case unevaluated:
			return &Result{ProblemID: id, Error: &arena.AttemptError{Type: "evaluation_error"}}
		case disputed:
			return &Result{ProblemID: id, Error: &arena.AttemptError{Type: "reports_differ"}}
		case unstated:
		}
	}
	return nil
}

// runFiles are patterns of path.Match for the base names of files that a run of SWE-agent or
// mini-swe-agent writes and that are no traces: configurations, patches and logs.
var runFiles = []string{"*.yaml", "*.yml", "*.log", "*.patch", "*.pred", "preds.json", "all_preds.jsonl"}

// IsRunFile reports whether a file of a run of SWE-agent is no trace, by its name.
func IsRunFile(name string) bool {
	return slices.ContainsFunc(runFiles, func(pattern string) bool {
		ok, _ := path.Match(pattern, path.Base(name))
		return ok
	})
}

// IsRun reports whether a folder, or one in it, has trajectories of SWE-agent or mini-swe-agent.
func IsRun(fsys fs.FS, folder string) bool {
	hasTrajectory := func(folder string) bool {
		entries, _ := fs.ReadDir(fsys, folder)
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			return strings.HasSuffix(e.Name(), ".traj") || strings.HasSuffix(e.Name(), ".traj.json")
		})
	}
	entries, _ := fs.ReadDir(fsys, folder)
	return hasTrajectory(folder) || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.IsDir() && hasTrajectory(path.Join(folder, e.Name()))
	})
}

// Problem returns the id of the problem that the name of a trace's file has: SWE-agent writes
// ID.traj, and mini-swe-agent ID.traj.json.
func Problem(file string) string {
	stem, _, _ := strings.Cut(path.Base(file), ".traj")
	return stem
}
