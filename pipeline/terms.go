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
	"github.com/trajectory-arena/arena/traces"
)

// Terms are what every process of one build must find alike.
type Terms struct {
	Version       string          `json:"version"`
	Harness       string          `json:"harness_sha256"`
	Configuration json.RawMessage `json:"configuration"`
	Inputs        []TermsInput    `json:"inputs"`
	// Protection is what was decided of the problems: it takes longer than anything
	// else that precedes the first trace.
	Protection *Decided `json:"protection"`
}

// TermsInput is a file that is read. Where it lies is no part of what it is.
type TermsInput struct {
	// Input has records only where the file holds no traces.
	corpus.Input
	// Meta names what lies beside a file of traces and what its path says.
	Meta string `json:"meta_sha256,omitempty"`
	Path string `json:"path"`
}

// ErrTerms says that a process found something else than its plan names.
var ErrTerms = errors.New("this is not what was planned")

// Plan hashes the inputs and says what the run is made of; it writes nothing.
func (r *Run) Plan(ctx context.Context) (*Terms, error) {
	o, err := r.open(ctx, r.Sources)
	if err != nil {
		return nil, err
	}
	defer o.close()
	t := o.terms()
	t.Protection = o.protect.decided()
	return t, nil
}

func (s *session) terms() *Terms {
	t := &Terms{Version: s.Version, Harness: s.Harness.SHA256, Configuration: s.Config.JSON()}
	for i := range s.day.Inputs {
		in := &s.day.Inputs[i]
		t.Inputs = append(t.Inputs, TermsInput{corpus.Input{Kind: corpus.InputTraces, SHA256: in.SHA256, Bytes: in.Bytes}, metaOf(in), whole(in.Path)})
	}
	for _, f := range s.day.Files {
		t.Inputs = append(t.Inputs, TermsInput{Input: f.Input, Path: f.path})
	}
	return t
}

// scored are the sources of a step that looks no product up. It takes the plan's
// word for a catalogue, which may hold millions.
func (r *Run) scored() Sources {
	src := r.Sources
	if r.Terms == nil {
		return src
	}
	src.planned = map[string]File{}
	for _, in := range r.Terms.Inputs {
		if in.Kind == kindCatalog {
			src.planned[whole(in.Path)] = File{in.Input, in.Path}
		}
	}
	return src
}

// hashed gives files that lie where the plan found one of their size its hash: each
// of the build's processes would read the whole day for it. Who reads a file
// verifies it.
func (s *session) hashed() {
	if s.Terms == nil {
		return
	}
	planned := map[string]TermsInput{}
	for _, in := range s.Terms.Inputs {
		planned[in.Path] = in
	}
	for i := range s.day.Inputs {
		in := &s.day.Inputs[i]
		if p := planned[whole(in.Path)]; p.Kind == corpus.InputTraces && p.Bytes == in.Bytes {
			in.SHA256 = p.SHA256
		}
	}
}

// whole is a path as every working folder names the file.
func whole(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

func (s *session) verify(ctx context.Context, files []traces.Input) error {
	if s.Terms == nil {
		return nil
	}
	for _, in := range files {
		planned := in.SHA256
		if err := in.Hash(ctx); err != nil {
			return err
		}
		if in.SHA256 != planned {
			return fmt.Errorf("%w: %s was changed since", ErrTerms, in.Path)
		}
	}
	return nil
}

func (s *session) keepsTerms() error {
	if s.Terms == nil {
		return nil
	}
	found, want := s.terms(), s.Terms
	switch {
	case found.Version != want.Version || found.Harness != want.Harness:
		return fmt.Errorf("%w: by program %.40q, not %.40q", ErrTerms, want.Version, found.Version)
	case !bytes.Equal(asjson.Bytes(found.Configuration), asjson.Bytes(want.Configuration)): // but for spaces and escapes
		return fmt.Errorf("%w: the configuration is another one", ErrTerms)
	}
	if err := within(found.Inputs, want.Inputs, "is not in the plan, or was changed since"); err != nil {
		return err
	}
	return within(want.Inputs, found.Inputs, "has gone, or was changed since")
}

func within(inputs, others []TermsInput, why string) error {
	known := map[TermsInput]int{}
	content := func(in TermsInput) TermsInput { in.Path, in.Bytes = "", 0; return in }
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
