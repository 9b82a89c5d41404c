package pipeline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard"
)

// Problems are the problems of a run, each once, in the order of their
// specification hashes.
type Problems struct {
	All []arena.Problem
	// Specs are the specification hashes, position by position.
	Specs    []string
	suite    *arena.Suite
	position map[*arena.Problem]int
	byID     map[string]int
	seen     map[string]bool
	// files name, by problem id, the file that a problem was read from.
	files map[string]string
}

// add takes in the problems of the file at path. A problem known from another day is
// taken once; two different problems under one id are an error, because no
// attempt could be told which of them it answers.
func (p *Problems) add(path string, ps []arena.Problem) error {
	for _, q := range ps {
		spec := guard.SpecHash(q)
		key := q.ID + "\x00" + q.Query + "\x00" + spec
		if p.seen[key] {
			continue
		}
		if i, taken := p.byID[q.ID]; taken && q.ID != "" {
			return fmt.Errorf("problem_id %q stands for two problems: %q of %s and %q of %s", q.ID, p.All[i].Query, p.files[q.ID], q.Query, path)
		}
		p.seen[key], p.byID[q.ID], p.files[q.ID] = true, len(p.All), path
		p.All, p.Specs = append(p.All, q), append(p.Specs, spec)
	}
	return nil
}

// sort puts problems in an order that depends on their content alone.
func (p *Problems) sort() {
	order, all, specs := make([]int, len(p.All)), p.All, p.Specs
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(specs[i], specs[j]), cmp.Compare(all[i].ID, all[j].ID), cmp.Compare(all[i].Query, all[j].Query))
	})
	p.All, p.Specs = make([]arena.Problem, len(all)), make([]string, len(all))
	for i, was := range order {
		p.All[i], p.Specs[i] = all[was], specs[was]
		p.position[&p.All[i]] = i
	}
	p.suite = arena.NewSuite(p.All)
}

// Of is the position of the problem that an attempt answers; -1 if unknown.
func (p *Problems) Of(t *arena.Trace) int {
	if q, known := p.suite.Find(t); known {
		return p.position[q]
	}
	return -1
}

// At is the problem at a position; nil for -1.
func (p *Problems) At(i int) *arena.Problem {
	if i < 0 {
		return nil
	}
	return &p.All[i]
}

// HasSpec reports whether a problem with this specification hash is among them.
func (p *Problems) HasSpec(spec string) bool {
	_, found := slices.BinarySearch(p.Specs, spec)
	return found
}

// Name is how rows name the problem at a position: its id, else its
// specification hash.
func (p *Problems) Name(i int) string { return cmp.Or(p.All[i].ID, p.Specs[i]) }
