package llm

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Substitute is a model whose server says that another one answered.
type Substitute struct {
	Asked   string
	Served  string
	Answers int
}

// substitutes counts answers by models that were not asked. Servers name
// models freely, so such an answer counts; but whoever trusts a judge must be
// told.
type substitutes struct {
	mu   sync.Mutex
	seen map[Substitute]int
}

func (s *substitutes) note(asked, served string) {
	if served == "" || sameModel(asked, served) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[Substitute]int{}
	}
	s.seen[Substitute{Asked: asked, Served: served}]++
}

// Substitutes are the models that this run was answered by and had not asked.
func (j *Judge) Substitutes() []Substitute {
	s := &j.served
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Substitute
	for one, n := range s.seen {
		one.Answers = n
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Substitute) int { return strings.Compare(a.Asked+"\x00"+a.Served, b.Asked+"\x00"+b.Served) })
	return all
}

// Locked names the endpoints that answered in this run and then did not accept
// their key any more: others stood in for their models from there on.
func (j *Judge) Locked() []string {
	p := j.panel
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.locked))
}

// sameModel allows for a vendor before the name and a version behind it.
func sameModel(asked, served string) bool {
	a, b := bare(asked), bare(served)
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

func bare(model string) string {
	model = strings.ToLower(model)
	return model[strings.LastIndexByte(model, '/')+1:]
}
