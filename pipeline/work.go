package pipeline

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/traces"
)

// What a run keeps in its work folder, beside names, the plan and locks.
const (
	blocksFolder = "blocks"
	partsFolder  = "parts"
	planFile     = "plan.json"
)

// depths are how many names lead to what one process makes and others read.
var depths = map[string]int{blocksFolder: 2, partsFolder: 3, planFile: 1}

// Unit is the block, part or plan that a path in a work folder belongs to, with
// forward slashes, and reports whether the processes of one build share what lies
// there; it is empty for a folder that holds several.
func Unit(rel string) (unit string, shared bool) {
	names := strings.Split(rel, "/")
	n := depths[names[0]]
	if len(names) >= n {
		unit = path.Join(names[:n]...)
	}
	return unit, n > 0
}

// Forget removes finished work, so that the next run does everything again. A
// work folder that somebody named may hold more than ours: that stays.
func (r *Run) Forget() error {
	release, err := r.lock()
	if err != nil {
		return err
	}
	defer release()
	return errors.Join(r.FS.RemoveAll(filepath.Join(r.Work, blocksFolder)), r.FS.RemoveAll(filepath.Join(r.Work, partsFolder)))
}

// forgetParts removes the parts of earlier plans, which no run would read: each
// set is as large as a corpus.
func (s *session) forgetParts(but *plan) error {
	all := filepath.Join(s.Work, partsFolder)
	entries, err := s.FS.ReadDir(all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Name() != but.folder() {
			err = errors.Join(err, s.FS.RemoveAll(filepath.Join(all, e.Name())))
		}
	}
	return err
}

// names remembers which content each input path had when one process last mapped
// all, so that a run can say that a file changed. It decides nothing.
type names map[string]string

const namesFile = "names.json"

func (s *session) writeNames() error {
	n := names{}
	for _, in := range s.inputs {
		for _, f := range in.files {
			n[f.Name] = in.key.Folder()
		}
	}
	return s.desk.put(filepath.Join(s.Work, namesFile), n)
}

// daysFile says in a work folder where the days lay. It decides nothing.
const daysFile = "days.json"

func (s *session) writeDays() error {
	days := []string{}
	for _, day := range s.Sources.Days {
		if path, err := filepath.Abs(day); err == nil && day != traces.Stdin {
			days = append(days, path)
		}
	}
	return s.desk.put(filepath.Join(s.Work, daysFile), days)
}

// DaysOf are the days that the corpus in a folder was last built from, as its
// work folder remembers them; none where that is gone.
func DaysOf(folder string) (days []string) {
	if corpus.ReadJSON(corpus.Disk{}, filepath.Join(filepath.Clean(folder)+WorkSuffix, daysFile), 1<<20, &days) != nil {
		return nil
	}
	return days
}

// WorkSuffix makes of a corpus's folder that of its finished blocks, where the
// user names none.
const WorkSuffix = ".work"

// why tells for people why a block is made; empty for an input that was never
// seen.
func (n names) why(in input, status block.Status) string {
	before, known := n[in.files[0].Name]
	switch {
	case status == block.Missing && !known:
		return ""
	case status == block.Missing && before != in.key.Folder():
		status = block.InputMismatch
	}
	return in.title() + ": " + status.String()
}

type progress struct {
	s     *session
	stage string
	total int
	done  atomic.Int64
}

func (p *progress) tell(bytes int64, why string) {
	done := int(p.done.Add(1))
	if p.s.Progress != nil {
		p.s.Progress(Event{Stage: p.stage, Done: done, Total: p.total, Bytes: bytes, Why: why})
	}
}
