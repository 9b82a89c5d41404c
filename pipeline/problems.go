package pipeline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard"
)

// Problems are the distinct problems of a run, in the order of their specification
// hashes.
type Problems struct {
	All []arena.Problem
	// Specs are the specification hashes of All.
	Specs   []string
	suite   *arena.Suite
	indexes map[*arena.Problem]int // indexes in All
	byID    map[string]int         // indexes in All before it is sorted
	added   map[string]bool
	// files are the files that problems were read from, by problem ID.
	files map[string]string
}

func newProblems() *Problems {
	return &Problems{
		indexes: map[*arena.Problem]int{},
		byID:    map[string]int{},
		added:   map[string]bool{},
		files:   map[string]string{},
	}
}

// add adds the problems of the file at path, except those that were added before. It
// returns an error for two problems with one ID, because an attempt could not be
// assigned to one of them.
func (p *Problems) add(path string, problems []arena.Problem) error {
	for _, q := range problems {
		spec := guard.SpecHash(q)
		key := q.ID + "\x00" + q.Query + "\x00" + spec
		if p.added[key] {
			continue
		}
		if i, ok := p.byID[q.ID]; ok && q.ID != "" {
			return fmt.Errorf(
				"problem_id %q stands for two problems: %q of %s and %q of %s",
				q.ID,
				p.All[i].Query,
				p.files[q.ID],
				q.Query,
				path,
			)
		}
		p.added[key] = true
		p.byID[q.ID] = len(p.All)
		p.files[q.ID] = path
		p.All = append(p.All, q)
		p.Specs = append(p.Specs, spec)
	}
	return nil
}

// sort sorts the problems by specification hash, ID and request, so that their indexes do not
// depend on the order of the files, and prepares IndexOf.
func (p *Problems) sort() {
	problems := p.All
	specs := p.Specs
	order := make([]int, len(problems))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(
			cmp.Compare(specs[i], specs[j]),
			cmp.Compare(problems[i].ID, problems[j].ID),
			cmp.Compare(problems[i].Query, problems[j].Query),
		)
	})
	p.All = make([]arena.Problem, len(problems))
	p.Specs = make([]string, len(problems))
	for i, old := range order {
		p.All[i] = problems[old]
		p.Specs[i] = specs[old]
		p.indexes[&p.All[i]] = i
	}
	p.suite = arena.NewSuite(p.All)
}

// IndexOf returns the index of the problem that an attempt answers, -1 if unknown.
func (p *Problems) IndexOf(t *arena.Trace) int {
	if q, ok := p.suite.Find(t); ok {
		return p.indexes[q]
	}
	return -1
}

// Get returns the problem at index i, nil for -1.
func (p *Problems) Get(i int) *arena.Problem {
	if i < 0 {
		return nil
	}
	return &p.All[i]
}

// Name returns the name of the problem at index i in rows: its ID, or its specification
// hash if it has none.
func (p *Problems) Name(i int) string { return cmp.Or(p.All[i].ID, p.Specs[i]) }
