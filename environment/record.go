package environment

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/internal/atomicfile"
)

// Record keeps finished episodes, without the secrets in them, as a run of a day that
// a build reads.
type Record struct {
	mu       sync.Mutex
	file     *os.File
	redactor *redact.Redactor
}

// NewRecord begins a run in the folder of a day. name is the run's, agent the model
// that is trained.
func NewRecord(day, name, agent string) (*Record, error) {
	r, dir := &Record{redactor: redact.New(redact.Options{})}, filepath.Join(day, "traces", "run="+name)
	meta, err := json.Marshal(map[string]string{"eval_run_id": name, "agent_version_id": agent, "suite_version": "env"})
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = atomicfile.WriteFile(filepath.Join(dir, "run.json"), append(meta, '\n'))
	}
	if err == nil {
		r.file, err = os.OpenFile(filepath.Join(dir, "output.jsonl"), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("record episodes: %w", err)
	}
	return r, nil
}

// add writes a line whole: what a full disk cut off is taken back.
func (r *Record) add(line []byte) error {
	ids := redact.IDs{}
	ids.Add(string(line))
	text := r.redactor.Sparing(ids).Text(string(line), redact.Counts{})
	r.mu.Lock()
	defer r.mu.Unlock()
	at, err := r.file.Seek(0, 2)
	if err != nil {
		return fmt.Errorf("record an episode: %w", err)
	}
	if _, err = r.file.WriteString(text + "\n"); err != nil {
		return errors.Join(fmt.Errorf("record an episode: %w", err), r.file.Truncate(at))
	}
	return nil
}

// Close ends the run.
func (r *Record) Close() error { return errors.Join(r.file.Sync(), r.file.Close()) }
