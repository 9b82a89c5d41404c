package site

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Run is the folder of a finished evaluation.
type Run struct {
	Name, Dir string
	// Clean replaces the secrets in a text. JSON remains valid JSON.
	Clean func(string) string
}

// maxLine is the maximum length in bytes of a line of results (which may repeat ids that a model
// invented) and of a conversation in the log. maxMoments is the maximum number of points in time
// of a plot.
const (
	maxLine    = 64 << 20
	maxMoments = 600
)

// run is the data of the page that shows one evaluation.
type run struct {
	Name      string            `json:"name"`
	Spec      json.RawMessage   `json:"spec"`
	Summary   json.RawMessage   `json:"summary"`
	Results   []json.RawMessage `json:"results"`
	Problems  []json.RawMessage `json:"problems"`
	Telemetry json.RawMessage   `json:"telemetry"`
	Moments   []json.RawMessage `json:"moments"`
}

func (r *Run) file(k int, name string) ([]byte, error) {
	key := "r" + strconv.Itoa(k) + "/" + strings.TrimSuffix(name, ".js")
	var data any
	n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSuffix(name, ".js"), "talk/"))
	switch {
	case name == "run.js":
		data, err = r.read()
	case err == nil:
		data, err = r.conversation(n)
	default:
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return script(key, data, r.Clean)
}

func (r *Run) read() (*run, error) {
	out := &run{Name: r.Name}
	for name, field := range map[string]*json.RawMessage{"spec.json": &out.Spec, "summary.json": &out.Summary, "telemetry.json": &out.Telemetry} {
		b, err := os.ReadFile(filepath.Join(r.Dir, name))
		if errors.Is(err, fs.ErrNotExist) && field == &out.Telemetry {
			b = []byte("null") // a run scored again may have none
			err = nil
		}
		if err != nil {
			return nil, fmt.Errorf("read run: %w", err)
		}
		*field = b
	}
	var err error
	if out.Results, err = r.readLines("results.jsonl"); err != nil {
		return nil, err
	}
	if out.Problems, err = r.readProblems(); err != nil {
		return nil, err
	}
	out.Moments, err = r.readLines("telemetry.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	every := len(out.Moments)/maxMoments + 1
	for i := range len(out.Moments) / every {
		out.Moments[i] = out.Moments[i*every]
	}
	out.Moments = out.Moments[:len(out.Moments)/every]
	return out, err
}

// readProblems returns a JSON object for each problem of the run with its id, its request and
// its reward specification. It returns none if the run has no file of problems.
func (r *Run) readProblems() ([]json.RawMessage, error) {
	lines, err := r.readLines("problems.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for i, line := range lines {
		var p struct {
			ID     string          `json:"problem_id"`
			Query  string          `json:"query"`
			Reward json.RawMessage `json:"reward"`
		}
		if err = json.Unmarshal(line, &p); err != nil {
			return nil, fmt.Errorf("read problems of %s: %w", r.Dir, err)
		}
		lines[i] = asjson.Bytes(p)
	}
	return lines, err
}

// readLines returns the lines of a file in the run's folder that are valid JSON. Other lines are
// skipped, since a process may have been killed while writing one.
func (r *Run) readLines(name string) (lines []json.RawMessage, err error) {
	f, err := os.Open(filepath.Join(r.Dir, name))
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	defer wrong.Close(&err, f.Close)
	for line, err := range arena.Lines(f, maxLine) {
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", name, r.Dir, err)
		}
		if json.Valid(line.Text) {
			lines = append(lines, bytes.Clone(line.Text))
		}
	}
	return lines, nil
}

// conversation returns the conversation of rollout n (an attempt of the evaluated model), counted
// from 0 in the order of the results. It reads the zip file inspect.eval, which has a header as its
// first entry and then one entry for each rollout. The error is fs.ErrNotExist if there is no such
// rollout.
func (r *Run) conversation(n int) (_ any, err error) {
	log, err := zip.OpenReader(filepath.Join(r.Dir, "inspect.eval"))
	if err != nil {
		return nil, fmt.Errorf("read inspect log: %w", err)
	}
	defer wrong.Close(&err, log.Close)
	if n < 0 || n+1 >= len(log.File) || !strings.HasPrefix(log.File[n+1].Name, "samples/") {
		return nil, fs.ErrNotExist
	}
	entry, err := log.File[n+1].Open()
	if err != nil {
		return nil, fmt.Errorf("read inspect log: %w", err)
	}
	var sample struct {
		ID       string          `json:"id"`
		Epoch    int             `json:"epoch"`
		Input    json.RawMessage `json:"input"`
		Messages json.RawMessage `json:"messages"`
	}
	err = json.NewDecoder(io.LimitReader(entry, maxLine)).Decode(&sample)
	return sample, errors.Join(err, entry.Close())
}

func (r *Run) names(folder string) ([]string, error) {
	results, err := r.readLines("results.jsonl")
	out := []string{folder + "run.js"}
	for n := range results {
		out = append(out, folder+"talk/"+strconv.Itoa(n)+".js")
	}
	return out, err
}
