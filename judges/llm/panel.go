package llm

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// setAsideAfter is how many replies in a row may be unreadable before a model
// is set aside for the run. One or two happen to every server; a third in a row
// over different attempts is how a broken deployment looks.
const setAsideAfter = 3

// panel is the order in which models are asked, and which of them are set
// aside for the rest of the run.
type panel struct {
	primaries []int
	fallbacks []int
	votes     int
	// repeats reports whether several votes are one model's, on whatever endpoints.
	repeats bool

	// endpoints are the members'.
	endpoints []string

	mu sync.Mutex
	// bad counts unreadable replies in a row.
	bad   []int
	aside []bool
	// known are the endpoints that answered in this run; locked those that then
	// did not accept their key any more.
	known  map[string]bool
	locked map[string]bool
	served map[Substitute]int
}

func newPanel(cfg Config) *panel {
	p := &panel{votes: cfg.Votes, bad: make([]int, len(cfg.Panel)), aside: make([]bool, len(cfg.Panel)),
		known: map[string]bool{}, locked: map[string]bool{}, served: map[Substitute]int{}}
	for i, m := range cfg.Panel {
		p.endpoints = append(p.endpoints, cfg.endpoint(m).Name)
		if m.Role == Primary {
			p.primaries = append(p.primaries, i)
		} else {
			p.fallbacks = append(p.fallbacks, i)
		}
	}
	voters := map[string]bool{}
	for vote := range cfg.Votes {
		voters[cfg.Panel[p.order(vote)[0]].Model] = true
	}
	p.repeats = len(voters) < cfg.Votes
	return p
}

// order is who is asked for a vote: its own primary, then those that no other
// vote begins with, then those.
func (p *panel) order(vote int) []int {
	own := vote % len(p.primaries)
	order := []int{p.primaries[own]}
	var taken []int
	for i := 1; i < len(p.primaries); i++ {
		other := (own + i) % len(p.primaries)
		if other < p.votes {
			taken = append(taken, p.primaries[other])
		} else {
			order = append(order, p.primaries[other])
		}
	}
	return append(append(order, p.fallbacks...), taken...)
}

// lock sets an endpoint that does not accept its key aside, with all its
// models. It does not where the key was never accepted in this run, which is a
// mistake to mend at once, nor where no other model is left.
func (p *panel) lock(member int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	name, left := p.endpoints[member], false
	for i, endpoint := range p.endpoints {
		left = left || endpoint != name && !p.aside[i]
	}
	if !p.known[name] || !left {
		return false
	}
	p.locked[name] = true
	for i, endpoint := range p.endpoints {
		p.aside[i] = p.aside[i] || endpoint == name
	}
	return true
}

// unreadable notes that a model gave none, and sets it aside if that is its
// habit and another is left.
func (p *panel) unreadable(member int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bad[member]++
	for i, aside := range p.aside {
		if p.bad[member] >= setAsideAfter && i != member && !aside {
			p.aside[member] = true
		}
	}
}

func (p *panel) isAside(member int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.aside[member]
}

// rotation walks an order round and round, for one answer.
type rotation struct {
	panel *panel
	order []int
	next  int
	// voted have spoken on this attempt and are asked again only when nobody
	// else is left; spoilt counts unreadable replies, dropped are out.
	voted   map[int]bool
	spoilt  map[int]int
	dropped map[int]bool
}

func (r *rotation) member() (int, bool) {
	for _, repeat := range []bool{false, true} {
		for range r.order {
			m := r.order[r.next%len(r.order)]
			r.next++
			if !r.dropped[m] && !r.panel.isAside(m) && (repeat || !r.voted[m]) {
				return m, true
			}
		}
	}
	return 0, false
}

// Substitute is a model whose server says that another one answered.
type Substitute struct {
	Asked   string
	Served  string
	Answers int
}

// answered notes that a model's endpoint took its key, and of an answer who gave it.
// Servers name models freely, so one by a model that was not asked counts; but whoever
// trusts a judge must be told.
func (p *panel) answered(member int, scored bool, asked, served string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[p.endpoints[member]] = true
	if !scored {
		return
	}
	p.bad[member] = 0
	if a, b := bare(asked), bare(served); served != "" && !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a) {
		p.served[Substitute{Asked: asked, Served: served}]++
	}
}

// bare is a model's name without a vendor before it; versions may follow it.
func bare(model string) string {
	model = strings.ToLower(model)
	return model[strings.LastIndexByte(model, '/')+1:]
}

// Substitutes are the models that this run was answered by and had not asked.
func (j *Judge) Substitutes() []Substitute {
	j.panel.mu.Lock()
	defer j.panel.mu.Unlock()
	var all []Substitute
	for one, n := range j.panel.served {
		one.Answers = n
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Substitute) int { return strings.Compare(a.Asked+"\x00"+a.Served, b.Asked+"\x00"+b.Served) })
	return all
}

// Locked names the endpoints that answered in this run and then did not accept
// their key any more: others stood in for their models from there on.
func (j *Judge) Locked() []string {
	j.panel.mu.Lock()
	defer j.panel.mu.Unlock()
	return slices.Sorted(maps.Keys(j.panel.locked))
}
