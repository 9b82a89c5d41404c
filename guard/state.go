package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
	plaintext "github.com/trajectory-arena/arena/internal/text"
)

// StateSchema is the version of bank.json that this package writes and reads.
const StateSchema = stateFamily + "v3"

const stateFamily = "arena.bank."

// maxStateBytes is the maximum size of bank.json, the file with all problems and their pools: 64
// MiB are enough for more than 200,000 problems.
const maxStateBytes = 64 << 20

// State is the content of bank.json: every cluster of all days so far and the
// pool that it is assigned to.
type State struct {
	Schema   string         `json:"schema"`
	Seed     uint64         `json:"seed"`
	Shares   Shares         `json:"shares"`
	Clusters []StateCluster `json:"clusters"`

	// bySpec maps the specification hash of each problem to the index of its cluster.
	bySpec map[string]int
}

// StateCluster is one cluster with its pool.
type StateCluster struct {
	ID   string `json:"id"`
	Pool Pool   `json:"pool"`
	// Problems are specification hashes, sorted.
	Problems []string `json:"problems"`
	ItemIDs  []string `json:"product_ids"`
	// Texts are its requests, sorted and unique. They are stored for every pool,
	// so that a rewording is recognised on a later day even if the cluster becomes
	// protected only then.
	Texts []string `json:"texts,omitempty"`
	// Titles are the names of its gold items, Terms their options and attributes. A guard weighs
	// words by them, so that a later process needs them to weigh words as the build did. HeldOut
	// are the ids of its problems that held-out files name.
	Titles  []string `json:"titles,omitempty"`
	Terms   []string `json:"terms,omitempty"`
	HeldOut []string `json:"held_out,omitempty"`
	// Literal reports whether its texts are compared word for word only.
	Literal bool `json:"literal,omitempty"`
	// Identity has the patterns of what names the customer in its texts (see Entry).
	Identity []string `json:"identity,omitempty"`
	// Lexicon has the currencies, units and synonyms of its domain (see Entry).
	Lexicon *arena.Lexicon `json:"lexicon,omitempty"`
	// Released are the ids of its problems that were held out in the past.
	Released []string `json:"released,omitempty"`

	// isNew reports that this run assigned the pool.
	isNew bool
	// wordsOf says whose identity and lexicon the cluster has while clusters are merged.
	wordsOf wordSource
}

// wordSource says whose identity and lexicon a cluster has. Those of a higher value count in a merged
// cluster, those of a lower one do not.
type wordSource uint8

const (
	noWords wordSource = iota
	// wordsLiteral are those of requests that are compared word for word only, by no lexicon.
	wordsLiteral
	// wordsOlder are those of an earlier build, whose domain may have had other words since.
	wordsOlder
	wordsToday
)

// Pool returns the pool of the problem with this specification hash, empty if the
// problem is unknown.
func (s *State) Pool(spec string) Pool { return s.clusterOf(spec).Pool }

// ClusterID returns the ID of the cluster of the problem with this specification
// hash, empty if the problem is unknown.
func (s *State) ClusterID(spec string) string { return s.clusterOf(spec).ID }

// clusterOf returns the cluster (group of related problems, assigned to one pool) of the problem
// with this specification hash. It returns the zero value if no cluster has the problem.
func (s *State) clusterOf(spec string) StateCluster {
	if i, ok := s.bySpec[spec]; ok {
		return s.Clusters[i]
	}
	return StateCluster{}
}

func (s *State) index() {
	s.bySpec = map[string]int{}
	for i, c := range s.Clusters {
		for _, p := range c.Problems {
			s.bySpec[p] = i
		}
	}
}

// Encode returns the content of bank.json. Equal states have equal encodings.
func (s *State) Encode() []byte { return encodeIndented(s) }

func encodeIndented(v any) []byte { return append(asjson.Indented(v, " "), '\n') }

// decodeStrict decodes the only JSON value in b into dst. It returns an error for a key that dst
// does not have, and if anything follows the value.
func decodeStrict(b []byte, dst any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(dst); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more follows the first JSON value")
	}
	return nil
}

// ReadState reads bank.json. An unknown key, another version, an unknown pool or a
// problem in two clusters is an error.
func ReadState(r io.Reader) (*State, error) {
	s, err := readState(r)
	if err != nil {
		return nil, fmt.Errorf("read bank state: %w", err)
	}
	s.index()
	return s, nil
}

func readState(r io.Reader) (*State, error) {
	b, err := plaintext.ReadAll(r, maxStateBytes)
	if err != nil {
		return nil, err
	}
	s := &State{}
	if err = decodeStrict(b, s); err != nil {
		return nil, err
	}
	return s, s.validate()
}

var hexHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (s *State) validate() error {
	if s.Schema != StateSchema {
		return fmt.Errorf("schema is %q: this version reads %q", s.Schema, StateSchema)
	}
	if err := s.Shares.Validate(); err != nil {
		return err
	}
	specs := map[string]bool{}
	items := map[string]bool{}
	for i := range s.Clusters {
		if err := s.Clusters[i].validate(specs, items); err != nil {
			return fmt.Errorf("cluster %d: %w", i, err)
		}
	}
	return nil
}

// validate returns an error if one cluster (group of related problems) of bank.json is invalid.
// specs and items hold the problems and items of the previous clusters, which c must not share;
// validate adds those of c.
func (c *StateCluster) validate(specs, items map[string]bool) error {
	if _, ok := protection[c.Pool]; !ok {
		return fmt.Errorf("pool is %q: it must be train, eval, held-out or never-touch", c.Pool)
	}
	if len(c.Problems) == 0 {
		return errors.New("it has no problem")
	}
	for _, spec := range c.Problems {
		if !hexHash.MatchString(spec) {
			return fmt.Errorf("problem %q is no specification hash", spec)
		}
		if specs[spec] {
			return fmt.Errorf("problem %s is in two clusters", spec)
		}
		specs[spec] = true
	}
	for _, id := range c.ItemIDs {
		if items[id] {
			return fmt.Errorf("item %q is in two clusters", id)
		}
		items[id] = true
	}
	if !slices.Contains(c.Problems, c.ID) {
		return fmt.Errorf("id %q is none of its problems", c.ID)
	}
	if c.Pool == PoolTrain && len(c.HeldOut) > 0 {
		return errors.New("held-out ids are kept of protected clusters only")
	}
	for i, text := range c.Texts {
		if text == "" || i > 0 && text <= c.Texts[i-1] {
			return errors.New("texts are not sorted, each once and none empty")
		}
	}
	return checkWords(c.Identity, c.Lexicon)
}

// Protected returns the entries of all protected clusters: one for each request,
// or one by specification for a cluster without requests.
func (s *State) Protected(bank string) []Entry {
	var out []Entry
	unknown := func(string) bool { return false }
	for _, pool := range []Pool{PoolEval, PoolHeldOut, PoolNeverTouch} {
		out = append(out, s.ProtectedIn(pool, bank, unknown, unknown)...)
	}
	return out
}

// ProtectedIn returns the entries of one protected pool that the caller does not
// have from the problems themselves: one for each unknown request, of which the
// first has the cluster's items, titles and terms. A cluster without unknown
// requests has one entry with its items if one of its specifications is unknown.
func (s *State) ProtectedIn(
	pool Pool,
	bank string,
	knownSpec, knownText func(string) bool,
) []Entry {
	var out []Entry
	for _, c := range s.Clusters {
		if c.Pool != pool {
			continue
		}
		texts := slices.DeleteFunc(slices.Clone(c.Texts), knownText)
		hasUnknown := slices.ContainsFunc(c.Problems, func(spec string) bool {
			return !knownSpec(spec)
		})
		if len(texts) == 0 && hasUnknown {
			texts = []string{""}
		}
		for i, text := range texts {
			e := Entry{
				ID:       c.ID,
				Bank:     bank,
				Text:     text,
				Spec:     c.ID,
				Literal:  c.Literal,
				Identity: c.Identity,
				Lexicon:  c.Lexicon,
			}
			if i == 0 { // once, since a cluster of thousands has as many items
				e.ItemIDs = c.ItemIDs
				e.Titles = c.Titles
				e.Terms = c.Terms
			}
			out = append(out, e)
		}
	}
	return out
}
