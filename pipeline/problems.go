package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/taskid"
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
	// names has the ID of the task of each attempt whose stated ID several tasks share, if the problems
	// were derived from attempts.
	names map[taskid.Key]string

	mu sync.Mutex
	// digests are the results of digest, by index.
	digests map[int]string
}

func newProblems() *Problems {
	return &Problems{
		indexes: map[*arena.Problem]int{},
		byID:    map[string]int{},
		added:   map[string]bool{},
		files:   map[string]string{},
		digests: map[int]string{},
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
	slicesx.SortStableFunc(order, func(i, j int) int {
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

// named returns an attempt with the ID of its problem: t itself, or a copy if several tasks share the
// ID that t has. d must be the dialogue that Normalise returns for t.
func (p *Problems) named(t *arena.Trace, d *arena.Dialogue) *arena.Trace {
	if len(p.names) == 0 {
		return t
	}
	name := p.names[taskid.KeyOf(t, d)]
	if name == "" {
		return t
	}
	out := *t
	out.ProblemID = name
	return &out
}

// digest returns a hash of the content of the problem at index i. It returns "" for index -1, which
// means no problem. It is safe for concurrent use.
func (p *Problems) digest(i int) string {
	if i < 0 {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.digests[i]; !ok {
		q := &p.All[i]
		p.digests[i] = finish.Digest(q.ID, q.Domain, string(q.Category), q.Query, string(q.Raw))
	}
	return p.digests[i]
}

// find looks up the problems that the attempts of a block (the stored results of an input) are at.
// It returns the index of each, -1 for an unknown one. ok is false if one of them is another
// problem now than when the block was written, so that the block must be made again.
func (p *Problems) find(references []block.Reference) (indexes []int, ok bool) {
	indexes = make([]int, len(references))
	ok = true
	for k, a := range references {
		indexes[k] = p.IndexOf(&arena.Trace{ProblemID: a.ID, Query: a.Query})
		ok = ok && p.digest(indexes[k]) == a.SHA256
	}
	return indexes, ok
}

// lookups collects, while one block (the stored results of an input) is made, which problems and
// which items of the catalogue its attempts use. A later run checks whether these have changed.
type lookups struct {
	references []block.Reference
	indexes    map[block.Reference]int // indexes in references
	items      map[string]bool
}

func newLookups() *lookups {
	return &lookups{
		indexes: map[block.Reference]int{},
		items:   map[string]bool{},
	}
}

// lookUp returns a reference to the problem of attempt t and its index, -1 if none is found. Then there
// is a reference too, so that a later run notices if it finds a problem.
func (p *Problems) lookUp(t *arena.Trace) (block.Reference, int) {
	i := p.IndexOf(t)
	a := block.Reference{ID: t.ProblemID, SHA256: p.digest(i)}
	if i < 0 || t.ProblemID == "" || p.All[i].ID == "" { // the request decides
		a.Query = t.Query
	}
	return a, i
}

// add adds what an attempt looked up. It returns the position of the reference to its problem in the
// list l.references, -1 if the problem is unknown.
func (l *lookups) add(r *mapped) int {
	for _, id := range r.items {
		l.items[id] = true
	}
	k, ok := l.indexes[r.reference]
	if !ok {
		k = len(l.references)
		l.indexes[r.reference] = k
		l.references = append(l.references, r.reference)
	}
	if r.problem < 0 {
		return -1
	}
	return k
}

// sources returns what the attempts took from the inputs of the run other than traces: their
// problems, and the content of the catalogue items that they looked up.
func (l *lookups) sources(s *session) block.Sources {
	items := slicesx.SortedKeys(l.items)
	return block.Sources{
		Problems:        l.references,
		Documents:       items,
		DocumentsSHA256: s.documentsDigest(items),
		CatalogSHA256:   s.catalog,
	}
}

// documentsDigest returns a hash of the texts that the catalogue has for the items with these ids.
// It reads each item once, since the agents of a day answer with the same items.
func (s *session) documentsDigest(items []string) string {
	digests := slicesx.Map(items, func(id string) string {
		known, ok := s.documents.Load(id)
		if !ok {
			text, found := s.day.Catalog.Document(id)
			known = finish.Digest(id, string(text), strconv.FormatBool(found))
			s.documents.Store(strings.Clone(id), known) // id would keep its trace in memory
		}
		return known.(string)
	})
	return finish.Digest(digests...)
}

// hasSameSources reports whether the problems and catalogue items that the stored results of an
// input use are unchanged in this run. It is false if the results do not record what they use.
func (s *session) hasSameSources(item input) (bool, error) {
	src, err := block.ReadSources(s.FS, item.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, block.ErrDamaged):
		return false, nil
	case err != nil:
		return false, err
	}
	if _, ok := s.day.Problems.find(src.Problems); !ok {
		return false, nil
	}
	isSame := src.CatalogSHA256 == s.catalog || src.DocumentsSHA256 == s.documentsDigest(src.Documents)
	return isSame, nil
}
