package traces

import (
	"cmp"
	"hash/maphash"
	"path"
	"regexp"
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
		r.in.named(t)
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

// vetoContent is the word for an episode that is not what its name says.
const vetoContent = "content_mismatch" // the file is not the content that its name is the sha256 of

// named holds an episode whose file is named by its content against that name.
func (in *Input) named(t *arena.Trace) {
	stem := strings.TrimSuffix(path.Base(in.Name), ".json")
	if t.Ruling != nil && sha256Name.MatchString(stem) && stem != t.RecordSHA256 {
		t.Veto(vetoContent)
	}
}

var sha256Name = regexp.MustCompile(`^[0-9a-f]{64}$`)

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

// stdinRun is the run of records from standard input that name none.
const stdinRun = "stdin"

// runDigits is how many digits of a file's sha256 name the run that it is: 64
// bits tell more files apart than a day can have.
const runDigits = 16

// ownRun is the run of the input's records where nothing names one: the file
// itself, by its content, so that neither its path nor its name decides.
func (in *Input) ownRun() string {
	if in.Name == Stdin {
		return stdinRun
	}
	return "file-" + in.SHA256[:runDigits]
}

// Collisions finds attempts of other content under an id that is taken: two runs
// bear one name, or one run tried a problem twice. Copies do not collide. The zero
// value is ready; it is not safe for use by several goroutines.
type Collisions struct {
	seen map[uint64]uint64
}

var collisionSeed = maphash.MakeSeed()

// Add takes in the attempt of that id and record hash, and reports whether it
// collides with the first of its id.
func (c *Collisions) Add(id, record string) bool {
	if c.seen == nil {
		c.seen = map[uint64]uint64{}
	}
	key, content := maphash.String(collisionSeed, id), maphash.String(collisionSeed, record)
	first, taken := c.seen[key]
	if !taken {
		c.seen[key] = content
	}
	return taken && first != content
}
