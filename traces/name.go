package traces

import (
	"cmp"
	"path"
	"strings"

	"github.com/trajectory-arena/arena"
)

// name gives a trace its ids: the record's own first, then those of run.json
// beside the file, of the file's path, of the recording's session, then the run
// that the options name, and last the file as a run of its own. Only a file of
// one attempt has its problem in its path.
func (r *reader) name(f found) {
	t := f.trace
	run, problem := r.in.pathIDs()
	t.RunID = cmp.Or(t.RunID, r.in.Meta.RunID, run, f.session, r.opt.RunID, r.in.ownRun())
	if f.trial != "" {
		t.RunID += "-trial-" + f.trial
	}
	if f.lone {
		t.ProblemID = cmp.Or(t.ProblemID, problem)
	}
	t.Agent = arena.Agent{
		VersionID: cmp.Or(t.Agent.VersionID, r.in.Meta.Agent.VersionID),
		Hotkey:    cmp.Or(t.Agent.Hotkey, r.in.Meta.Agent.Hotkey),
		Suite:     cmp.Or(t.Agent.Suite, r.in.Meta.Agent.Suite),
		StartedAt: cmp.Or(t.Agent.StartedAt, r.in.Meta.Agent.StartedAt),
	}
	// What outlives its trace in tables and groups must not keep the whole
	// record in memory.
	t.RunID, t.ProblemID, t.Query = strings.Clone(t.RunID), strings.Clone(t.ProblemID), strings.Clone(t.Query)
	t.ID = t.RecordSHA256
	if t.ProblemID != "" {
		t.ID = t.RunID + "/" + t.ProblemID
	}
}

// PathIDs are the run and the problem that the attempts of the input get from
// its path, or from coming by standard input, where they name none: content alone
// does not tell two such inputs apart. Each is empty where the path, or run.json,
// leaves nothing to it.
func (in *Input) PathIDs() (run, problem string) {
	run, problem = in.pathIDs()
	switch {
	case in.Meta.RunID != "":
		run = ""
	case in.Name == Stdin:
		run = stdinRun
	}
	return run, problem
}

// pathIDs are what the rule run=<id>/<problem_id>.json says; each is empty
// where the path does not follow it. A run.json beside the file stands in for
// the folder's name.
func (in *Input) pathIDs() (run, problem string) {
	run, ok := strings.CutPrefix(path.Base(path.Dir(in.Name)), "run=")
	if !ok {
		run = ""
	}
	name := strings.TrimSuffix(strings.TrimSuffix(path.Base(in.Name), ".gz"), ".zst")
	stem, isJSON := strings.CutSuffix(name, ".json")
	if isJSON && (ok || in.MetaSHA256 != "") {
		problem = stem
	}
	return run, problem
}
