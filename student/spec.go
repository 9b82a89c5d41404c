// Package student evaluates models on shopping problems: it plays rollouts in
// the subnet's own environment, scores them as the subnet would, keeps every
// turn, and says with numbers how good the model is and how sure that is.
package student

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/journal"
	"github.com/trajectory-arena/arena/internal/model"
	"github.com/trajectory-arena/arena/internal/wrong"
	"github.com/trajectory-arena/arena/judges/shop/outcome"
	"github.com/trajectory-arena/arena/student/dialect"
	"github.com/trajectory-arena/arena/student/rollout"
)

// Spec is everything that decides a run's results, but not how fast and where it runs. Two runs of
// one spec differ only by the randomness of the model.
type Spec struct {
	Schema string `json:"schema"`
	Model  string `json:"model"`
	// Samples is the number of attempts at each problem. Sample i is sent the seed Seed+i, or no
	// seed if NoSeed is set.
	Samples  int             `json:"samples"`
	Seed     int64           `json:"seed"`
	NoSeed   bool            `json:"no_seed,omitempty"`
	Dialect  dialect.Dialect `json:"dialect"`
	MaxSteps int             `json:"max_steps"`
	Sampling model.Sampling  `json:"sampling"`
	// Keep selects what is stored of the tokens; it does not affect results.
	Keep model.Keep `json:"keep,omitzero"`

	Harness string `json:"harness"`
	// HarnessSHA256 is over the system prompt as it is sent and the tools.
	HarnessSHA256 string `json:"harness_sha256"`
	System        string `json:"system"`

	Problems       int    `json:"problems"`
	ProblemsSHA256 string `json:"problems_sha256"`
	// CatalogXXH3 names the catalogue by content, Search where it is searched:
	// "local" or the URL of a search server.
	CatalogXXH3 string `json:"catalog_xxh3"`
	Search      string `json:"search"`
	Rules       string `json:"rules"`

	// Headers are the names of the headers that are sent besides the key.
	Headers []string `json:"headers,omitempty"`
	// OverflowWords are the configured words of a server for a prompt that is too long.
	OverflowWords []string `json:"overflow_words,omitempty"`

	// NoCall is what follows a reply without a call, PromptForm the form of the
	// conversation.
	NoCall     rollout.NoCall     `json:"no_call"`
	PromptForm rollout.PromptForm `json:"prompt_form"`

	Scorer string `json:"scorer"`
	// Titles is how the titles of products are compared that are not the wanted ones.
	Titles string `json:"titles"`
	// Judge is the reasoning judge, empty for none.
	Judge string `json:"judge"`

	// Source is the path of another harness's results that the run was read from, Settings what that
	// harness states of its settings. Both are empty for a run of this program.
	Source   string                     `json:"source,omitempty"`
	Settings map[string]json.RawMessage `json:"settings,omitempty"`
}

// SpecSchema is the version of Spec and of a run folder's files.
const SpecSchema = "arena.eval.v1"

// ScorerVersion names the rules that rollouts are scored by.
const ScorerVersion = "outcome_v1"

// Validate returns all that is wrong with the spec, joined.
func (s Spec) Validate() error {
	var bad wrong.List
	bad.Unless(s.Model != "", "no model")
	bad.Unless(s.Samples >= 1, "samples must be 1 or more")
	bad.Unless(s.MaxSteps >= 1, "max-steps must be 1 or more")
	bad.Unless(s.Problems >= 1, "no problems")
	return bad.Err()
}

// rollouts yields the key (problem and sample number) of each rollout of the run. All samples of a
// problem follow each other.
func (s Spec) rollouts(yield func(journal.Key) bool) {
	for p := range s.Problems {
		for sample := range s.Samples {
			if !yield(journal.Key{Problem: uint32(p), Sample: uint32(sample)}) {
				return
			}
		}
	}
}

// Public returns the spec for a run folder: without secrets that a prompt or an address may
// hold. The rollouts use the spec itself.
func (s Spec) Public() (out Spec, err error) {
	err = json.Unmarshal(public(asjson.Bytes(s)), &out)
	return out, wrong.Wrap("read spec without secrets", err)
}

// Differences returns the fields in which two specs differ, as "field: a, b". They are
// compared in their written form, so that white space in chat_template_kwargs is no
// difference.
func (s Spec) Differences(o Spec) []string {
	var differences []string
	names := slices.Concat(slices.Collect(maps.Keys(s.Settings)), slices.Collect(maps.Keys(o.Settings)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		x := written(s.Settings[name])
		y := written(o.Settings[name])
		if x != y {
			differences = append(differences, name+": "+shown(x)+", "+shown(y))
		}
	}
	s.Settings = nil
	o.Settings = nil
	a := reflect.ValueOf(s)
	b := reflect.ValueOf(o)
	for i := range a.NumField() {
		x := written(a.Field(i).Interface())
		y := written(b.Field(i).Interface())
		if x != y {
			name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
			differences = append(differences, name+": "+shown(x)+", "+shown(y))
		}
	}
	return differences
}

func written(v any) string { return string(asjson.Bytes(v)) }

func shown(v string) string {
	const enough = 60
	if len(v) > enough {
		return v[:enough] + "…"
	}
	return v
}

// Problems are the problems of a run with the ids that outputs name them by.
type Problems struct {
	All []arena.Problem
	IDs []string
	// SHA256 is the hash of the file.
	SHA256 string

	path string
}

// maxProblemLine is the maximum size of one problem in a problems file in bytes, including the
// embeddings of titles.
const maxProblemLine = 64 << 20

// ReadProblems reads a file of problems. A problem without an id gets the name of the file and its
// position from 0 as its id. An id that contains a secret is redacted, and the position is added. A
// problem that cannot be scored is an error, since it would count as never solved.
func ReadProblems(path string) (Problems, error) { return readProblems(path, outcome.Scorable) }

// ReadRequests reads the problems of another domain than the shop, which need no more than a query.
func ReadRequests(path string) (Problems, error) {
	return readProblems(path, func(p *arena.Problem) error {
		if p.Query == "" {
			return errors.New("it has no query")
		}
		return nil
	})
}

// readProblems reads a file of problems. It refuses the file if check returns an error for one.
func readProblems(path string, check func(*arena.Problem) error) (Problems, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Problems{}, fmt.Errorf("read problems: %w", err)
	}
	p := Problems{path: path}
	if p.All, err = arena.ReadProblems(bytes.NewReader(text), maxProblemLine); err != nil {
		return p, fmt.Errorf("read problems %s: %w", path, err)
	}
	p.SHA256 = digest.SHA256(text)
	stem := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	seen := map[string]int{}
	for i := range p.All {
		id := p.All[i].ID
		if id == "" {
			id = fmt.Sprintf("%s-%d", stem, i)
		}
		if shown := public(id); shown != id {
			id = fmt.Sprintf("%s #%d", shown, i)
		}
		if j, twice := seen[id]; twice {
			return p, fmt.Errorf("read problems %s: %d and %d have the same problem_id %q", path, j, i, id)
		}
		if err := check(&p.All[i]); err != nil {
			return p, fmt.Errorf("read problems %s: no rollout of %q could be scored: %w", path, id, err)
		}
		seen[id] = i
		p.IDs = append(p.IDs, id)
	}
	return p, nil
}
