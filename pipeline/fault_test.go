package pipeline_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/longtest"
)

var errDisk = errors.New("no space left on device")

// faultyDisk is a disk on which one step fails: the first of its kind on a
// file of that name.
type faultyDisk struct {
	corpus.Disk
	mu sync.Mutex
	// fail is the step that fails; seen lists all steps met.
	fail string
	seen map[string]bool
	path string
}

var digits = regexp.MustCompile(`[0-9a-f]{8,}|[0-9]+`)

// step returns an error if this step is to fail. A step is identified by its operation and by the
// file's name without its digits.
func (d *faultyDisk) step(label, path string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	name := label + " " + digits.ReplaceAllString(filepath.Base(path), "#")
	again := d.seen[name]
	d.seen[name] = true
	if name == d.fail && !again {
		d.path = path
		return &fs.PathError{Op: label, Path: path, Err: errDisk}
	}
	return nil
}

func (d *faultyDisk) MkdirAll(path string) error {
	err := d.step("mkdir", path)
	return errors.Join(err, d.Disk.MkdirAll(path))
}

func (d *faultyDisk) Create(path string) (corpus.File, error) {
	if err := d.step("create", path); err != nil {
		return nil, err
	}
	f, err := d.Disk.Create(path)
	return &faultyFile{f, d, path}, err
}

func (d *faultyDisk) Open(path string) (corpus.Source, error) {
	f, err := d.Disk.Open(path)
	if err == nil {
		if err = d.step("open", path); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return &faultySource{f, d, path}, nil
	}
	return nil, err
}

func (d *faultyDisk) Rename(oldname, newname string) error {
	if err := d.step("rename", oldname); err != nil {
		return err
	}
	return d.Disk.Rename(oldname, newname)
}

func (d *faultyDisk) SyncDir(path string) error {
	err := d.step("syncdir", path)
	return errors.Join(err, d.Disk.SyncDir(path))
}

type faultyFile struct {
	corpus.File
	disk *faultyDisk
	path string
}

func (f *faultyFile) Write(b []byte) (int, error) {
	if err := f.disk.step("write", f.path); err != nil {
		return 0, err
	}
	return f.File.Write(b)
}

func (f *faultyFile) Sync() error {
	err := f.disk.step("sync", f.path)
	return errors.Join(err, f.File.Sync())
}

func (f *faultyFile) Close() error {
	return errors.Join(f.disk.step("close", f.path), f.File.Close())
}

type faultySource struct {
	corpus.Source
	disk *faultyDisk
	path string
}

func (f *faultySource) Read(b []byte) (int, error) {
	if err := f.disk.step("read", f.path); err != nil {
		return 0, err
	}
	return f.Source.Read(b)
}

func (f *faultySource) ReadAt(b []byte, off int64) (int, error) {
	if err := f.disk.step("readat", f.path); err != nil {
		return 0, err
	}
	return f.Source.ReadAt(b, off)
}

// smallDay is the sample day with the attempts of one run: few files, and so
// few steps to fail.
func smallDay(t *testing.T) string {
	t.Helper()
	day := copyDay(t, unchanged)
	leaveRuns(t, day, 1)
	return day
}

// leaveRuns takes all but the first n runs from a day.
func leaveRuns(t *testing.T, day string, n int) {
	t.Helper()
	runs, err := filepath.Glob(filepath.Join(day, "traces", "*"))
	if err != nil || len(runs) < n {
		t.Fatalf("find runs: %v", err)
	}
	for _, run := range runs[n:] {
		if err := os.RemoveAll(run); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEachFailingStepLeavesNoCorpus(t *testing.T) {
	t.Parallel()
	day := smallDay(t)
	failEachStep(t, 40, func(fsys corpus.FS, out string) error {
		r := newRun(t, day, out)
		r.FS = fsys
		r.Config.Workers = 1
		_, err := r.Build(t.Context())
		return err
	})
}

// failEachStep writes a corpus once for each step that writing it takes, of at least a number of
// kinds, with that step failing. Without the tag long it takes every twenty-fourth step.
func failEachStep(t *testing.T, minSteps int, write func(fsys corpus.FS, out string) error) {
	t.Helper()
	recorder := &faultyDisk{seen: map[string]bool{}}
	good := filepath.Join(t.TempDir(), "good")
	if err := write(recorder, good); err != nil {
		t.Fatal(err)
	}
	want := sums(t, good)
	if len(recorder.seen) < minSteps {
		t.Fatalf("only %d kinds of steps were met: %v", len(recorder.seen), recorder.seen)
	}
	for i, step := range slices.Sorted(maps.Keys(recorder.seen)) {
		if i%24 > 0 && !longtest.Tests {
			continue
		}
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "corpus")
			disk := &faultyDisk{fail: step, seen: map[string]bool{}}
			err := write(disk, out)
			if err == nil {
				sameFiles(t, "a run that could do without the step", sums(t, out), want)
				return
			}
			if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), disk.path) {
				t.Errorf("the error does not name what failed on %s: %v", disk.path, err)
			}
			if _, statErr := os.Stat(filepath.Join(out, corpus.ManifestName)); statErr == nil && !lateStep(step) {
				t.Error("a failed run left a manifest")
			}
			if err := write(corpus.Disk{}, out); err != nil {
				t.Fatal(err)
			}
			sameFiles(t, "the next run", sums(t, out), want)
		})
	}
}

// lateStep reports whether a step follows the move of the corpus to its place: the sync that makes
// the move durable. The corpus is then complete, and the run reports that it may not survive a
// power cut.
func lateStep(step string) bool { return strings.HasPrefix(step, "syncdir") }
