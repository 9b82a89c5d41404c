package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/staging"
	"github.com/trajectory-arena/arena/traces"
)

const (
	// blocksFolder is the name of the folder, in a work folder, with the blocks: the results stored
	// for each input.
	blocksFolder = "blocks"
	// findingsFolder is the name of the folder, in a work folder, with the findings of the guard
	// (which detects held-out problems), one file for the attempts of each input.
	findingsFolder = "findings"
	// segmentsFolder is the name of the folder, in a work folder, with the finished pieces of
	// unfinished blocks.
	segmentsFolder = "segments"
	// groupFolder is the name of the folder, in a work folder, with the finished pieces of an
	// unfinished group step.
	groupFolder = "group"
	// batchesFolder is the name of the folder, in a work folder, with the encoded rows of the table
	// verdicts, one folder for each batch of inputs: a process removes a folder from a bucket, but no
	// file of another process.
	batchesFolder = "batches"
	// partsFolder is the name of the folder, in a work folder, with the data files of the corpus
	// before the corpus is assembled from them.
	partsFolder = "parts"
	// planFile is the name of the file, in a work folder, with the plan: the decision on every
	// record, and the shares in which workers write the corpus.
	planFile = "plan.json"
	// lockFile is the name of the file, in a work folder, that a build locks.
	lockFile = "build.lock"
)

// unitDepths has, for each kind of content of a work folder, how many elements the path of one item
// has; the key is the first element. An item is a block (the results of an input), its findings,
// encoded rows, a folder of data files, a piece of the group step or the plan. For blocks the
// number is 2, since the path of a block is blocks/NAME.
var unitDepths = map[string]int{blocksFolder: 2, findingsFolder: 2, batchesFolder: 3, partsFolder: 3, groupFolder: 3, planFile: 1}

// SharedUnit returns the block, findings, part, piece or plan that a slash-separated path in a work
// folder belongs to. It is empty if the path is a folder of several. SharedUnit also reports
// whether the processes of one build share the content of the path.
func SharedUnit(rel string) (unit string, shared bool) {
	elements := strings.Split(rel, "/")
	depth := unitDepths[elements[0]]
	if len(elements) >= depth {
		unit = path.Join(elements[:depth]...)
	}
	return unit, depth > 0
}

// ErrNotWork reports that the work folder has files of others, which a run would mix with its own.
var ErrNotWork = errors.New("the work folder has other files")

// workFiles are names of which a work folder has at least one.
var workFiles = []string{blocksFolder, findingsFolder, segmentsFolder, groupFolder, planFile, hashesFile, staging.Folder, lockFile}

// checkWork returns ErrNotWork if the work folder has files and none of a run. Hidden files do not
// count, since systems put them into any folder, and neither do copies of standard input.
func (r *Run) checkWork() error {
	entries, err := r.FS.ReadDir(r.Work)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	hasOther := false
	for _, e := range entries {
		name := e.Name()
		if slices.Contains(workFiles, name) {
			return nil
		}
		hasOther = hasOther || name[0] != '.' && path.Ext(name) != traces.SpoolSuffix
	}
	if err == nil && hasOther {
		err = fmt.Errorf("work in %s: %w", r.Work, ErrNotWork)
	}
	return err
}

// Forget removes finished work, so that the next run starts anew. It leaves other files in
// the work folder, which the user may have named.
func (r *Run) Forget() error {
	if err := r.checkWork(); err != nil {
		return err
	}
	release, err := r.lock()
	if err != nil {
		return err
	}
	defer release()
	for _, name := range []string{blocksFolder, findingsFolder, segmentsFolder, groupFolder, batchesFolder, partsFolder, hashesFile} {
		if err := r.FS.RemoveAll(filepath.Join(r.Work, name)); err != nil {
			return err
		}
	}
	return nil
}

// removeUnused removes what a folder of the work folder has besides the used names, such as the data
// files of earlier plans. No later run would read it, and it can be as large as a corpus.
func (s *session) removeUnused(folder string, used map[string]bool) error {
	dir := filepath.Join(s.Work, folder)
	entries, err := s.FS.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !used[e.Name()] {
			err = errors.Join(err, s.FS.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// inputNames maps the path of each input file to the name of the folder with its stored results, as
// of the last map step over all inputs. It is used only for messages on which files changed.
type inputNames map[string]string

const namesFile = "names.json"

func (s *session) writeNames() error {
	names := inputNames{}
	for _, in := range s.inputs {
		for _, f := range in.files {
			names[f.Name] = in.key.Folder()
		}
	}
	return s.staging.WriteJSON(filepath.Join(s.Work, namesFile), names)
}

// daysFile is the name of the file, in a work folder, that lists the paths of the input folders
// (days), so that later commands find the traces. No step of a build depends on it.
const daysFile = "days.json"

func (s *session) writeDays() error {
	days := []string{}
	for _, day := range s.Sources.Days {
		if path, err := filepath.Abs(day); err == nil && day != traces.Stdin {
			days = append(days, path)
		}
	}
	return s.staging.WriteJSON(filepath.Join(s.Work, daysFile), days)
}

// RecordedDays returns the days that the corpus in a folder was last built from, as its work
// folder records them. It returns nil if there is no record.
func RecordedDays(folder string) []string {
	var days []string
	path := filepath.Join(filepath.Clean(folder)+WorkSuffix, daysFile)
	if err := corpus.ReadJSON(corpus.Disk{}, path, 1<<20, &days); err != nil {
		return nil
	}
	return days
}

// WorkSuffix is appended to the folder of a corpus to name its work folder, unless the user
// names one.
const WorkSuffix = ".work"

// reason returns, as text for people, why the results of an input have to be made again, for
// example because the input file changed. It returns "" if the input is new.
func (n inputNames) reason(in input, status block.Status) string {
	if status == block.Missing {
		folder, ok := n[in.files[0].Name]
		if !ok {
			return ""
		}
		if folder != in.key.Folder() {
			status = block.InputMismatch
		}
	}
	return in.title() + ": " + status.String()
}

// progress counts the finished inputs or files of a stage and reports each through the run's
// function Progress.
type progress struct {
	session *session
	stage   string
	total   int
	done    atomic.Int64
}

// report counts one finished input or file, and sends an event with its size in bytes and the
// reason why it was made again, if any.
func (p *progress) report(bytes int64, reason string) {
	done := int(p.done.Add(1))
	if p.session.Progress != nil {
		p.session.Progress(Event{
			Stage: p.stage,
			Done:  done,
			Total: p.total,
			Bytes: bytes,
			Why:   reason,
		})
	}
}
