package traces

import (
	"cmp"
	"hash/maphash"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena"
)

// setIDs sets the run, problem and agent of a trace, and its id, which is RUN/PROBLEM or, if the
// problem is unknown, the record's checksum. The run is the first that is known from: the record,
// run.json, the path, the recorded session, the options, and the file's checksum. The path is used
// for the problem only if the file has a single attempt. If the run is only known as the file,
// further attempts at a problem are runs of their own, as in RUN-attempt-2/PROBLEM.
func (r *reader) setIDs(d decoded) {
	t := d.trace
	meta := &r.input.Meta
	pathRun, pathProblem := r.input.pathIDs()
	t.RunID = cmp.Or(
		t.RunID,
		meta.RunID,
		pathRun,
		d.session,
		r.opt.RunID,
	)
	isNamed := t.RunID != ""
	t.RunID = cmp.Or(t.RunID, r.input.fileRunID())
	if d.trial != "" {
		t.RunID += "-trial-" + d.trial
	}
	if d.isOnlyRecord {
		t.ProblemID = cmp.Or(t.ProblemID, pathProblem)
		r.input.checkContentName(t)
	}
	t.Agent = arena.Agent{
		VersionID: cmp.Or(t.Agent.VersionID, meta.Agent.VersionID),
		Hotkey:    cmp.Or(t.Agent.Hotkey, meta.Agent.Hotkey),
		Suite:     cmp.Or(t.Agent.Suite, meta.Agent.Suite),
		StartedAt: cmp.Or(t.Agent.StartedAt, meta.Agent.StartedAt),
	}
	// These outlive the trace in tables and groups and must not keep the memory of its
	// record.
	t.RunID = strings.Clone(t.RunID)
	t.ProblemID = strings.Clone(t.ProblemID)
	t.Query = strings.Clone(t.Query)

	t.ID = t.RecordSHA256
	if t.ProblemID != "" {
		t.ID = t.RunID + "/" + t.ProblemID
	}
	if isNamed || t.ProblemID == "" {
		return
	}
	if n := r.repeats.number(t); n > 1 {
		t.RunID += "-attempt-" + strconv.Itoa(n)
		t.ID = t.RunID + "/" + t.ProblemID
	}
}

// repeats numbers the different attempts of a file that have one id. The zero value is ready for
// use.
type repeats struct {
	ids Collisions
	// numbers has the number of the latest attempt with an id, by the id's hash, if there are several.
	numbers map[uint64]int
	// known has the numbers of attempts after the first one with their id, by the hashes of id and
	// checksum.
	known map[[2]uint64]int
}

// number returns 1 for the first attempt with its id and for copies of it, and the next number for
// an attempt with other content.
func (r *repeats) number(t *arena.Trace) int {
	if !r.ids.Add(t.ID, t.RecordSHA256) {
		return 1
	}
	id := maphash.String(collisionSeed, t.ID)
	key := [2]uint64{id, maphash.String(collisionSeed, t.RecordSHA256)}
	n := r.known[key]
	if n > 0 {
		return n
	}
	if r.known == nil {
		r.known = map[[2]uint64]int{}
		r.numbers = map[uint64]int{}
	}
	n = max(r.numbers[id], 1) + 1
	r.numbers[id] = n
	r.known[key] = n
	return n
}

// vetoContent is the veto (reason not to train) for an episode whose file is named after a SHA-256,
// if its content has another SHA-256.
const vetoContent = "content_mismatch" // the file is not the content that its name is the sha256 of

// checkContentName adds vetoContent to a trace if a verifier determined its outcome and its file is
// named after a SHA-256 that differs from that of the record.
func (input *Input) checkContentName(t *arena.Trace) {
	stem := strings.TrimSuffix(path.Base(input.Name), ".json")
	if t.Ruling != nil && sha256Name.MatchString(stem) && stem != t.RecordSHA256 {
		t.Veto(vetoContent)
	}
}

var sha256Name = regexp.MustCompile(`^[0-9a-f]{64}$`)

// PathIDs returns the run and the problem that the path supplies for records without ids. The
// run is "stdin" for standard input, and "" if run.json has it or the path has none. Inputs with
// the same content may differ in these ids.
func (input *Input) PathIDs() (run, problem string) {
	run, problem = input.pathIDs()
	switch {
	case input.Meta.RunID != "":
		run = ""
	case input.Name == Stdin:
		run = stdinRun
	}
	return run, problem
}

// pathIDs returns the ids in a path of the form run=RUN/PROBLEM.json, which may be compressed. An
// id that the path lacks is "". In a folder with a run.json, the file's name is the problem
// whatever the folder's name.
func (input *Input) pathIDs() (run, problem string) {
	run, isRunFolder := strings.CutPrefix(path.Base(path.Dir(input.Name)), "run=")
	if !isRunFolder {
		run = ""
	}
	name := strings.TrimSuffix(path.Base(input.Name), ".gz")
	name = strings.TrimSuffix(name, ".zst")
	stem, isJSON := strings.CutSuffix(name, ".json")
	if isJSON && (isRunFolder || input.MetaSHA256 != "") {
		problem = stem
	}
	return run, problem
}

// stdinRun is the run id of records from standard input that have neither a run id nor a recorded
// session, if Options sets no RunID.
const stdinRun = "stdin"

// runDigits is the number of hex digits of a file's checksum in a run id that is made from it (see
// fileRunID). These are 64 bits, enough to distinguish the files of one input folder.
const runDigits = 16

// fileRunID returns the run id for records whose run is unknown: "file-" and the first digits of
// the file's checksum, so that the id does not depend on the path. For standard input it is
// "stdin".
func (input *Input) fileRunID() string {
	if input.Name == Stdin {
		return stdinRun
	}
	return "file-" + input.SHA256[:runDigits]
}

// Collisions finds attempts with the same id and different content, because two runs have the
// same name, or one run has a problem twice. The zero value is ready for use. It must not be
// used by several goroutines at once.
type Collisions struct {
	// first maps the hash of each attempt's id to the hash of the checksum that was added first.
	first map[uint64]uint64
}

var collisionSeed = maphash.MakeSeed()

// Add records an attempt by its id and the checksum of its record. It reports whether the
// first attempt with the id has another checksum.
func (c *Collisions) Add(id, sha256 string) bool {
	if c.first == nil {
		c.first = map[uint64]uint64{}
	}
	key := maphash.String(collisionSeed, id)
	content := maphash.String(collisionSeed, sha256)
	first, ok := c.first[key]
	if !ok {
		c.first[key] = content
		return false
	}
	return first != content
}
