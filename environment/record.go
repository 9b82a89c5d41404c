package environment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/internal/atomicfile"
)

// Record stores finished episodes, without the secrets in them, as runs of a day that a build
// reads. A run has at most one attempt at a problem, since the run and the problem are the id of an
// attempt. The nth episode at a problem is therefore in the nth run.
type Record struct {
	day      string
	name     string
	agent    string
	redactor *redact.Redactor

	mu sync.Mutex
	// runs are the open files of the runs, played the numbers of episodes by problem id.
	runs   []*os.File
	played map[string]int
	closed bool
}

// NewRecord creates the first run in the folder of a day. Runs are named name-s0, name-s1 and so
// on, like those of `arena eval`. agent is the model that is trained.
func NewRecord(day, name, agent string) (*Record, error) {
	r := &Record{
		day:      day,
		name:     name,
		agent:    agent,
		redactor: redact.New(redact.Options{}),
		played:   map[string]int{},
	}
	if _, err := r.run(0); err != nil {
		return nil, err
	}
	return r, nil
}

// run returns the trace file with this number, from 0, to which episodes are recorded, and creates
// the file if it is the next one. Each file is a run of its own, and has each problem at most once.
func (r *Record) run(number int) (*os.File, error) {
	if number < len(r.runs) {
		return r.runs[number], nil
	}
	name := fmt.Sprintf("%s-s%d", r.name, number)
	file, err := createRun(filepath.Join(r.day, "traces", "run="+name), name, r.agent)
	if err != nil {
		return nil, fmt.Errorf("record episodes: %w", err)
	}
	r.runs = append(r.runs, file)
	return file, nil
}

// createRun creates the folder of a run with its metadata in run.json and an empty output.jsonl for
// its traces. It returns output.jsonl, open for appending, and an error if that file exists
// already.
func createRun(dir, name, agent string) (*os.File, error) {
	meta, err := json.Marshal(map[string]string{
		"eval_run_id":      name,
		"agent_version_id": agent,
		"suite_version":    "env",
	})
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := atomicfile.WriteFile(filepath.Join(dir, "run.json"), append(meta, '\n')); err != nil {
		return nil, err
	}
	return os.OpenFile(
		filepath.Join(dir, "output.jsonl"),
		os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND,
		0o644,
	)
}

// add appends the line of an episode at a problem, without the secrets in it. If writing fails, for
// example on a full disk, it removes the part that was written.
func (r *Record) add(problem string, line []byte) error {
	ids := redact.IDs{}
	ids.Add(string(line))
	text := r.redactor.Sparing(ids).Text(string(line), redact.Counts{})

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fmt.Errorf("record an episode: %w", os.ErrClosed)
	}
	file, err := r.run(r.played[problem])
	if err != nil {
		return err
	}
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("record an episode: %w", err)
	}
	if _, err := file.WriteString(text + "\n"); err != nil {
		return errors.Join(fmt.Errorf("record an episode: %w", err), file.Truncate(end))
	}
	r.played[problem]++
	return nil
}

// Close flushes and closes the runs. For no record, which is nil, it does nothing.
func (r *Record) Close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	var errs []error
	for _, file := range r.runs {
		errs = append(errs, file.Sync(), file.Close())
	}
	return errors.Join(errs...)
}
