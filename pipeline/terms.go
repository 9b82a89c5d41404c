package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Terms are what every process of one build must find alike.
type Terms struct {
	Version       string          `json:"version"`
	Harness       string          `json:"harness_sha256"`
	Configuration json.RawMessage `json:"configuration"`
	Inputs        []TermsInput    `json:"inputs"`
}

// TermsInput is a file that is read. Path is for people alone.
type TermsInput struct {
	Kind   string `json:"kind"`
	SHA256 string `json:"sha256"`
	// Meta names what lies beside a file of traces and what its path says.
	Meta string `json:"meta_sha256,omitempty"`
	Path string `json:"path"`
}

// ErrTerms says that a process found something else than its plan names.
var ErrTerms = errors.New("this is not what was planned")

// Plan hashes the inputs and says what the run is made of; it writes nothing.
func (r *Run) Plan(ctx context.Context) (*Terms, error) {
	o, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	defer o.close()
	return o.terms()
}

func (s *session) terms() (*Terms, error) {
	config, err := s.Config.JSON()
	t := &Terms{Version: s.Version, Harness: s.Harness.SHA256, Configuration: config}
	for i := range s.day.Inputs {
		in := &s.day.Inputs[i]
		t.Inputs = append(t.Inputs, TermsInput{tracesKind, in.SHA256, metaOf(in), in.Path})
	}
	for _, f := range s.day.Files {
		t.Inputs = append(t.Inputs, TermsInput{Kind: f.Kind, SHA256: f.SHA256, Path: f.path})
	}
	return t, err
}

// keepsTerms refuses a run of other inputs or another configuration than planned.
func (s *session) keepsTerms() error {
	if s.Terms == nil {
		return nil
	}
	found, err := s.terms()
	if err != nil {
		return err
	}
	want := s.Terms
	switch {
	case found.Version != want.Version || found.Harness != want.Harness:
		return fmt.Errorf("%w: by program %.40q, not %.40q", ErrTerms, want.Version, found.Version)
	case !equalJSON(found.Configuration, want.Configuration):
		return fmt.Errorf("%w: the configuration is another one", ErrTerms)
	}
	if err := within(found.Inputs, want.Inputs, "is not in the plan, or was changed since"); err != nil {
		return err
	}
	return within(want.Inputs, found.Inputs, "has gone, or was changed since")
}

// equalJSON reports whether two texts of JSON differ in spaces and escapes at most.
func equalJSON(a, b json.RawMessage) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// within refuses inputs of which others know nothing.
func within(inputs, others []TermsInput, why string) error {
	known := map[TermsInput]int{}
	content := func(in TermsInput) TermsInput { in.Path = ""; return in }
	for _, in := range others {
		known[content(in)]++
	}
	at := slices.IndexFunc(inputs, func(in TermsInput) bool {
		known[content(in)]--
		return known[content(in)] < 0
	})
	if at < 0 {
		return nil
	}
	return fmt.Errorf("%w: %s %s", ErrTerms, inputs[at].Path, why)
}
