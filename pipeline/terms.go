package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/asjson"
)

// Terms are the properties of a build that all its processes must share.
type Terms struct {
	Version string `json:"version"`
	// Program is empty in plans of builds that did not record it.
	Program       string          `json:"program,omitempty"`
	Harness       string          `json:"harness_sha256"`
	Domains       string          `json:"domains_sha256"`
	Configuration json.RawMessage `json:"configuration"`
	Instruments   json.RawMessage `json:"instruments"`
	Inputs        []TermsInput    `json:"inputs"`
	// Protection is the split and the findings in the problems. Of all that precedes
	// the first trace, it takes longest to compute.
	Protection *PlannedProtection `json:"protection"`
}

// TermsInput is a file that the build reads.
type TermsInput struct {
	// Input has a number of records only for files without traces.
	corpus.Input
	// Meta identifies what the files next to a file of traces and its path add to it.
	Meta string `json:"meta_sha256,omitempty"`
	// Path does not identify the file: other processes may find it elsewhere.
	Path string `json:"path"`
}

// ErrTerms reports that a process found something else than its plan names.
var ErrTerms = errors.New("this is not what was planned")

// Plan hashes the inputs and returns the terms of the run. Like a build, it stores the hashes in the
// work folder for the next run, and writes nothing else.
func (r *Run) Plan(ctx context.Context) (*Terms, error) {
	s, err := r.open(ctx, r.Sources)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err = s.storeHashes(); err != nil {
		return nil, err
	}
	t := s.terms()
	t.Protection = s.protection.planned()
	return t, nil
}

func (s *session) terms() *Terms {
	t := &Terms{
		Version:       s.Version,
		Program:       s.Program,
		Harness:       s.Harness.SHA256,
		Domains:       s.Domains.SHA256(),
		Configuration: s.Config.JSON(),
		Instruments:   s.Instruments.JSON(),
	}
	for i := range s.day.Inputs {
		in := &s.day.Inputs[i]
		file := corpus.Input{
			Kind:   corpus.InputTraces,
			SHA256: in.SHA256,
			Bytes:  in.Bytes,
		}
		t.Inputs = append(t.Inputs, TermsInput{file, metaDigest(in), absPath(in.Path)})
	}
	for _, f := range s.day.Files {
		t.Inputs = append(t.Inputs, TermsInput{
			Input: f.Input,
			Path:  f.path,
		})
	}
	return t
}

// sourcesWithoutCatalog returns the input files for a step that looks up no item of the catalogue,
// which may have millions of items. If the run has a plan, a catalogue file with the planned path
// and size is assumed to have the planned hash, and is not read.
func (r *Run) sourcesWithoutCatalog() Sources {
	src := r.Sources
	if r.Terms == nil {
		return src
	}
	src.planned = map[string]File{}
	for _, in := range r.Terms.Inputs {
		if in.Kind == kindCatalog {
			src.planned[absPath(in.Path)] = File{in.Input, in.Path}
		}
	}
	return src
}

// adoptPlannedHashes sets the hash of each trace file to that of the file in the plan with the same
// path and size. So not every process of a build has to read all files; makeBlock verifies the hash
// when it reads a file. Without a plan it does nothing.
func (s *session) adoptPlannedHashes() {
	if s.Terms == nil {
		return
	}
	planned := map[string]TermsInput{}
	for _, in := range s.Terms.Inputs {
		planned[in.Path] = in
	}
	for i := range s.day.Inputs {
		in := &s.day.Inputs[i]
		if p := planned[absPath(in.Path)]; p.Kind == corpus.InputTraces && p.Bytes == in.Bytes {
			in.SHA256 = p.SHA256
		}
	}
}

// absPath returns the absolute form of path, or path itself if the working directory is unknown.
func absPath(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return abs
}

// checkTerms returns ErrTerms if this run differs from the one that made the plan: in the program,
// the configuration, the measuring instruments (such as the judge) or the files. It does nothing if
// the run has no plan.
func (s *session) checkTerms() error {
	if s.Terms == nil {
		return nil
	}
	got := s.terms()
	want := s.Terms
	if got.Version != want.Version || got.Harness != want.Harness {
		return fmt.Errorf("%w: by program %.40q, not %.40q", ErrTerms, want.Version, got.Version)
	}
	if want.Program != "" && got.Program != want.Program {
		return fmt.Errorf("%w: by build %.40q of the program, not %.40q", ErrTerms, want.Program, got.Program)
	}
	if got.Domains != want.Domains {
		return fmt.Errorf("%w: the domains are others", ErrTerms)
	}
	if !equalJSON(got.Configuration, want.Configuration) {
		return fmt.Errorf("%w: the configuration is another one", ErrTerms)
	}
	if !equalJSON(got.Instruments, want.Instruments) {
		return fmt.Errorf("%w: the judge, the step judge or the titles' embeddings are others", ErrTerms)
	}
	if err := checkContained(got.Inputs, want.Inputs, "is not in the plan, or was changed since"); err != nil {
		return err
	}
	return checkContained(want.Inputs, got.Inputs, "has gone, or was changed since")
}

// equalJSON reports whether a and b are the same JSON text, apart from spaces and escapes.
func equalJSON(a, b json.RawMessage) bool {
	return bytes.Equal(asjson.Bytes(a), asjson.Bytes(b))
}

// checkContained returns ErrTerms, with the file's path and reason as its text, for the first of the
// files inputs that is not among the files others, or is there fewer times. Files are compared by
// hash, kind and number of records, not by path.
func checkContained(inputs, others []TermsInput, reason string) error {
	content := func(in TermsInput) TermsInput {
		in.Path = ""
		in.Bytes = 0
		return in
	}
	counts := map[TermsInput]int{}
	for _, in := range others {
		counts[content(in)]++
	}
	i := slices.IndexFunc(inputs, func(in TermsInput) bool {
		counts[content(in)]--
		return counts[content(in)] < 0
	})
	if i < 0 {
		return nil
	}
	return fmt.Errorf("%w: %s %s", ErrTerms, inputs[i].Path, reason)
}
