package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/trajectory-arena/arena/internal/asjson"
)

// StateSchema is the version of bank.json that this package writes and reads.
const StateSchema = stateFamily + "v3"

const stateFamily = "arena.bank."

// maxStateBytes bounds bank.json: 64 MiB hold more than 200,000 problems.
const maxStateBytes = 64 << 20

// State is bank.json: every cluster seen so far and the pool it is pinned to.
type State struct {
	Schema   string         `json:"schema"`
	Seed     uint64         `json:"seed"`
	Shares   Shares         `json:"shares"`
	Clusters []StateCluster `json:"clusters"`

	// bySpec gives for each problem the position of its cluster.
	bySpec map[string]int
}

// StateCluster is one pinned cluster.
type StateCluster struct {
	ID   string `json:"id"`
	Pool Pool   `json:"pool"`
	// Problems are specification hashes, sorted.
	Problems   []string `json:"problems"`
	ProductIDs []string `json:"product_ids"`
	// Texts are its requests, sorted, each once, so that a rewording is recognised
	// on a later day, also where the cluster is protected only by then.
	Texts []string `json:"texts,omitempty"`
	// Titles are the names of its gold products, HeldOut the ids of those of its
	// problems that held-out files name.
	Titles  []string `json:"titles,omitempty"`
	HeldOut []string `json:"held_out,omitempty"`
	// Released are the ids of its problems that were held out once.
	Released []string `json:"released,omitempty"`

	fresh bool
}

// Pool says where the problem with this specification hash is; empty where the
// state does not know it.
func (s *State) Pool(spec string) Pool { return s.of(spec).Pool }

// of is the cluster of a problem; the zero value where the state does not know it.
func (s *State) of(spec string) (c StateCluster) {
	if i, known := s.bySpec[spec]; known {
		c = s.Clusters[i]
	}
	return c
}

func (s *State) index() {
	s.bySpec = map[string]int{}
	for i, c := range s.Clusters {
		for _, p := range c.Problems {
			s.bySpec[p] = i
		}
	}
}

// Encode returns the state as bank.json holds it. Equal states give equal
// bytes.
func (s *State) Encode() []byte { return encoded(s) }

func encoded(v any) []byte { return append(asjson.Indented(v, " "), '\n') }

// decodeStrict refuses unknown keys and more than one value.
func decodeStrict(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more follows the first JSON value")
	}
	return nil
}

// ReadState reads bank.json strictly: an unknown key, another version, an
// unknown pool or a problem in two clusters is an error.
func ReadState(r io.Reader) (*State, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxStateBytes+1))
	if err == nil && len(b) > maxStateBytes {
		err = fmt.Errorf("larger than %d bytes", maxStateBytes)
	}
	s := &State{}
	if err == nil {
		err = decodeStrict(b, s)
	}
	if err == nil {
		err = s.validate()
	}
	if err != nil {
		return nil, fmt.Errorf("read bank state: %w", err)
	}
	s.index()
	return s, nil
}

var hexHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (s *State) validate() error {
	if s.Schema != StateSchema {
		return fmt.Errorf("schema is %q: this version reads %q", s.Schema, StateSchema)
	}
	if err := s.Shares.Validate(); err != nil {
		return err
	}
	specs, products := map[string]bool{}, map[string]bool{}
	for i := range s.Clusters {
		if err := s.Clusters[i].validate(specs, products); err != nil {
			return fmt.Errorf("cluster %d: %w", i, err)
		}
	}
	return nil
}

func (c *StateCluster) validate(specs, products map[string]bool) error {
	if _, known := protection[c.Pool]; !known {
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
	for _, id := range c.ProductIDs {
		if products[id] {
			return fmt.Errorf("product %q is in two clusters", id)
		}
		products[id] = true
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
	return nil
}

// ClusterID names the cluster of the problem with this specification hash;
// empty where the state does not know it.
func (s *State) ClusterID(spec string) string { return s.of(spec).ID }

// Protected returns entries for all protected clusters: one a
// request, or one by specification where the state holds no request.
func (s *State) Protected(bank string) []Entry {
	none := func(string) bool { return false }
	return slices.Concat(s.ProtectedIn(PoolEval, bank, none, none), s.ProtectedIn(PoolHeldOut, bank, none, none), s.ProtectedIn(PoolNeverTouch, bank, none, none))
}

// ProtectedIn returns the entries of one protected pool that the caller does
// not have from the problems themselves: each request that is not known, and
// the products of each cluster of which a specification is not known.
func (s *State) ProtectedIn(pool Pool, bank string, knownSpec, knownText func(string) bool) []Entry {
	var out []Entry
	for _, c := range s.Clusters {
		if c.Pool != pool {
			continue
		}
		texts := slices.DeleteFunc(slices.Clone(c.Texts), knownText)
		unknown := slices.ContainsFunc(c.Problems, func(spec string) bool { return !knownSpec(spec) })
		if len(texts) == 0 && unknown {
			texts = []string{""}
		}
		for _, text := range texts {
			out = append(out, Entry{ID: c.ID, Bank: bank, Text: text, ProductIDs: c.ProductIDs, Titles: c.Titles, Spec: c.ID})
		}
	}
	return out
}
