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

// Record stores finished episodes, without the secrets in them, as a run of a day that a
// build reads.
type Record struct {
	mu       sync.Mutex
	file     *os.File
	redactor *redact.Redactor
}

// NewRecord creates a run of this name in the folder of a day. agent is the model that is
// trained.
func NewRecord(day, name, agent string) (*Record, error) {
	file, err := createRun(filepath.Join(day, "traces", "run="+name), name, agent)
	if err != nil {
		return nil, fmt.Errorf("record episodes: %w", err)
	}
	return &Record{
		file:     file,
		redactor: redact.New(redact.Options{}),
	}, nil
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

// add appends a line without the secrets in it. If writing fails, for example on a full disk, it
// removes the part that was written.
func (r *Record) add(line []byte) error {
	ids := redact.IDs{}
	ids.Add(string(line))
	text := r.redactor.Sparing(ids).Text(string(line), redact.Counts{})

	r.mu.Lock()
	defer r.mu.Unlock()
	end, err := r.file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("record an episode: %w", err)
	}
	if _, err := r.file.WriteString(text + "\n"); err != nil {
		return errors.Join(fmt.Errorf("record an episode: %w", err), r.file.Truncate(end))
	}
	return nil
}

// Close flushes and closes the run.
func (r *Record) Close() error {
	err := r.file.Sync()
	return errors.Join(err, r.file.Close())
}
