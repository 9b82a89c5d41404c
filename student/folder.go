package student

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena/internal/atomicfile"
	"github.com/trajectory-arena/arena/internal/journal"
	"github.com/trajectory-arena/arena/student/rollout"
)

// The files of a run folder.
const (
	specFile     = "spec.json"
	lockFile     = "lock"
	turnsFile    = "turns.journal"
	rolloutsFile = "rollouts.journal"
	problemsFile = "problems.jsonl"
	resultsFile  = "results.jsonl"
	parquetFile  = "results.parquet"
	inspectFile  = "inspect.eval"
	tracesFolder = "traces"
)

// Files that others write into a run folder.
const (
	// ServerLog is the log of the model server that a run started. TelemetrySeries has one JSON
	// line with measurements of the machine for each point in time.
	ServerLog       = "server.log"
	TelemetrySeries = "telemetry.jsonl"
	// TelemetryFile holds the totals of the telemetry, ServersFile what the servers report
	// of themselves.
	TelemetryFile = "telemetry.json"
	ServersFile   = "servers.json"
	// SummaryFile is written last: the result of the run.
	SummaryFile = "summary.json"
)

// ErrChanged is in the chain of the error for a run folder that belongs to
// another spec.
var ErrChanged = errors.New("the run in this folder was begun with other inputs")

// ErrForeign is in the chain of the error for a folder with files of others.
var ErrForeign = errors.New("the folder is not empty and no run")

type folder struct {
	path     string
	unlock   func() error
	turns    *journal.Journal
	rollouts *journal.Journal
	// sync flushes both journals to disk, so that they survive a crash of the machine.
	sync func() error
	// done has the journal entry of each finished rollout. begun has the journal entries of the
	// turns of each rollout; those of a finished one are removed unless keepsTokens is set. more is
	// closed and replaced whenever a rollout is added to done.
	mu   sync.Mutex
	done map[journal.Key]journal.Entry
	// fresh are some of the rollouts that were added to done and not read since, with freshBytes
	// the length of their traces.
	fresh      map[journal.Key]*rollout.Result
	freshBytes int
	more       chan struct{}
	begun      map[journal.Key][]journal.Entry

	keepsTokens bool
}

// openFolder opens and locks the folder of a run, which is created if it does not exist. If the
// folder has rollouts of another spec (settings of a run), grows must report that a run of the new
// spec includes them; otherwise, or if grows is nil, the error is ErrChanged with the fields that
// differ.
func openFolder(path string, spec Spec, grows func(old, now Spec) (bool, error)) (f *folder, err error) {
	if err = os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("open run: %w", err)
	}
	f = &folder{
		path:        path,
		done:        map[journal.Key]journal.Entry{},
		fresh:       map[journal.Key]*rollout.Result{},
		more:        make(chan struct{}),
		begun:       map[journal.Key][]journal.Entry{},
		keepsTokens: spec.Keep.Tokens,
	}
	old, err := f.claim(spec, grows)
	if err != nil {
		return nil, err
	}
	if f.unlock, err = journal.Lock(f.file(lockFile)); err != nil {
		return nil, err
	}
	if len(old.Differences(spec)) > 0 {
		err = f.grow(spec)
	}
	if err == nil {
		err = f.sweep()
	}
	if err == nil {
		err = f.openJournals()
	}
	if err != nil {
		return nil, errors.Join(err, f.unlock())
	}
	return f, nil
}

func (f *folder) file(name string) string { return filepath.Join(f.path, name) }

// claim checks that a run of spec (the settings of a run) may use the folder, and writes spec to it
// if the folder has neither replies nor rollouts. It returns the spec of the folder's rollouts.
// This differs from spec if the run is an extension of the earlier one, which grows must report.
// The error is ErrChanged for any other difference.
func (f *folder) claim(spec Spec, grows func(old, now Spec) (bool, error)) (Spec, error) {
	old, err := ReadSpec(f.path)
	switch d := old.Differences(spec); {
	case errors.Is(err, fs.ErrNotExist):
		return spec, f.begin(spec)
	case err != nil, len(d) == 0:
		return spec, err
	case f.untouched():
		return spec, WriteJSON(f.file(specFile), spec)
	case grows != nil:
		if ok, err := grows(old, spec); ok || err != nil {
			return old, err
		}
	}
	return old, fmt.Errorf("open run: %w: %s", ErrChanged, strings.Join(old.Differences(spec), "; "))
}

// untouched reports whether the folder has no stored reply and no rollout, so that its spec may be
// replaced, for example after the server refused a setting.
func (f *folder) untouched() bool {
	return !slices.ContainsFunc([]string{turnsFile, rolloutsFile}, func(name string) bool {
		info, err := os.Stat(f.file(name))
		return err == nil && info.Size() > 0
	})
}

func (f *folder) begin(spec Spec) error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return fmt.Errorf("open run: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			return fmt.Errorf("open run %s: %w", f.path, ErrForeign)
		}
	}
	return WriteJSON(f.file(specFile), spec)
}

// ReadSpec reads the spec of a run folder.
func ReadSpec(run string) (Spec, error) {
	var s Spec
	b, err := os.ReadFile(filepath.Join(run, specFile))
	if err != nil {
		return s, fmt.Errorf("read spec: %w", err)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("read %s: %w: put a copy of it back, or begin the run in another folder", filepath.Join(run, specFile), err)
	}
	return s, nil
}

// ErrUnfinished is in the chain of the error for a run that has not ended.
var ErrUnfinished = errors.New("the run is not finished")

// ReadFinished reads the spec of a run. It returns ErrUnfinished if the run has no summary, which
// is written last.
func ReadFinished(run string) (Spec, error) {
	spec, err := ReadSpec(run)
	if err != nil {
		return spec, err
	}
	if _, err := os.Stat(filepath.Join(run, SummaryFile)); err != nil {
		return spec, fmt.Errorf("read run %s: %w", run, ErrUnfinished)
	}
	return spec, nil
}

func (f *folder) sweep() error {
	var errs []error
	for _, place := range []string{atomicfile.Unfinished, tracesFolder + "/*/" + atomicfile.Unfinished} {
		names, err := fs.Glob(os.DirFS(f.path), place)
		errs = append(errs, err)
		for _, name := range names {
			errs = append(errs, os.Remove(f.file(name)))
		}
	}
	return errors.Join(errs...)
}

func (f *folder) openJournals() error {
	var entries []journal.Entry
	var err error
	if f.rollouts, entries, err = journal.Open(f.file(rolloutsFile)); err != nil {
		return err
	}
	for _, e := range entries {
		f.done[e.Key] = e
	}
	if f.turns, entries, err = journal.Open(f.file(turnsFile)); err != nil {
		return errors.Join(err, f.rollouts.Close())
	}
	for _, e := range entries {
		f.begun[e.Key] = append(f.begun[e.Key], e)
	}
	f.sync = func() error {
		if err := f.turns.Sync(); err != nil {
			return err
		}
		return f.rollouts.Sync()
	}
	return nil
}

// forgetInfra removes the rollouts that ended with an infrastructure error, such as an unreachable
// server, from the set of finished ones, so that they are run again.
func (f *folder) forgetInfra() error {
	for key, e := range f.done {
		r, err := f.read(e)
		if err != nil {
			return err
		}
		if r.Outcome == rollout.Infra {
			delete(f.done, key)
		}
	}
	return nil
}

// unfinish removes the summary, whose presence means that the run is finished and all outputs are
// complete. It is no error if there is no summary.
func (f *folder) unfinish() error {
	if err := os.Remove(f.file(SummaryFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("begin run again: %w", err)
	}
	return nil
}

func (f *folder) close() error {
	return errors.Join(
		f.turns.Close(),
		f.rollouts.Close(),
		f.unlock(),
	)
}

// WriteJSON writes v to path as indented JSON without the secrets in it. The file is replaced
// completely or not at all.
func WriteJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	return atomicfile.WriteFile(path, append(public(b), '\n'))
}
