package llm

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// setAsideAfter is the number of consecutive unreadable replies after which a model
// is set aside for the run. One or two happen to every server; a third in a row over
// different attempts is a sign of a broken deployment.
const setAsideAfter = 3

// panel is the order in which models are asked, and which of them are set aside for
// the run. Members are indexes of Config.Panel.
type panel struct {
	primaries []int
	fallbacks []int
	votes     int
	// repeats is set if several votes are one model's, on any endpoints.
	repeats bool
	// endpoints are the names of the members' endpoints.
	endpoints []string

	mu sync.Mutex
	// unreadable is the number of consecutive unreadable replies of each member.
	unreadable []int
	setAside   []bool
	// accepted are the endpoints that accepted their key in this run, locked those
	// that later did not.
	accepted    map[string]bool
	locked      map[string]bool
	substitutes map[Substitute]int
}

func newPanel(cfg Config) *panel {
	p := &panel{
		votes:       cfg.Votes,
		unreadable:  make([]int, len(cfg.Panel)),
		setAside:    make([]bool, len(cfg.Panel)),
		accepted:    map[string]bool{},
		locked:      map[string]bool{},
		substitutes: map[Substitute]int{},
	}
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

// order returns the members to ask for a vote: its primary, then the primaries that
// no other vote begins with, the fallbacks, and the primaries of other votes.
func (p *panel) order(vote int) []int {
	first := vote % len(p.primaries)
	order := []int{p.primaries[first]}
	var otherVotes []int
	for i := 1; i < len(p.primaries); i++ {
		k := (first + i) % len(p.primaries)
		if k < p.votes {
			otherVotes = append(otherVotes, p.primaries[k])
		} else {
			order = append(order, p.primaries[k])
		}
	}
	order = append(order, p.fallbacks...)
	return append(order, otherVotes...)
}

// lock sets aside all models of a member's endpoint, which does not accept its key.
// It reports false and does nothing if the endpoint never accepted its key in this
// run, which is a mistake to fix at once, or if no other model remains.
func (p *panel) lock(member int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := p.endpoints[member]
	hasOther := false
	for i, endpoint := range p.endpoints {
		hasOther = hasOther || endpoint != name && !p.setAside[i]
	}
	if !p.accepted[name] || !hasOther {
		return false
	}
	p.locked[name] = true
	for i, endpoint := range p.endpoints {
		p.setAside[i] = p.setAside[i] || endpoint == name
	}
	return true
}

// countUnreadable counts an unreadable reply of a model, and sets the model aside
// after setAsideAfter in a row if another one remains.
func (p *panel) countUnreadable(member int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unreadable[member]++
	if p.unreadable[member] < setAsideAfter {
		return
	}
	for i, aside := range p.setAside {
		if i != member && !aside {
			p.setAside[member] = true
		}
	}
}

func (p *panel) isSetAside(member int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.setAside[member]
}

// rotation cycles through an order of members for one answer.
type rotation struct {
	panel *panel
	order []int
	next  int
	// voted are the members that have voted on this attempt: they are asked again
	// only if no other remains.
	voted map[int]bool
	// unreadable counts unreadable replies to this question by member.
	unreadable map[int]int
	// dropped are the members that are not asked again.
	dropped map[int]bool
}

// nextMember returns the next member to ask, if any remains.
func (r *rotation) nextMember() (member int, ok bool) {
	for _, repeat := range []bool{false, true} {
		for range r.order {
			m := r.order[r.next%len(r.order)]
			r.next++
			if r.dropped[m] || r.panel.isSetAside(m) {
				continue
			}
			if repeat || !r.voted[m] {
				return m, true
			}
		}
	}
	return 0, false
}

// Substitute is a model in whose place another one answered, as its server states.
type Substitute struct {
	Asked   string
	Served  string
	Answers int
}

// recordAnswer records that a member's endpoint accepted its key, and for a readable
// answer the model that gave it. Servers name models freely, so the answer of a model
// that was not asked counts; but whoever trusts a judge must know of it.
func (p *panel) recordAnswer(member int, scored bool, asked, served string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accepted[p.endpoints[member]] = true
	if !scored {
		return
	}
	p.unreadable[member] = 0
	if served != "" && !isSameModel(asked, served) {
		p.substitutes[Substitute{Asked: asked, Served: served}]++
	}
}

// isSameModel reports whether two names differ only in vendor, case and version.
func isSameModel(asked, served string) bool {
	a := modelName(asked)
	b := modelName(served)
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// modelName returns a model's name in lower case without its vendor.
func modelName(model string) string {
	model = strings.ToLower(model)
	return model[strings.LastIndexByte(model, '/')+1:]
}

// Substitutes returns the models that answered in this run and were not asked.
func (j *Judge) Substitutes() []Substitute {
	j.panel.mu.Lock()
	defer j.panel.mu.Unlock()
	var substitutes []Substitute
	for s, n := range j.panel.substitutes {
		s.Answers = n
		substitutes = append(substitutes, s)
	}
	slices.SortFunc(substitutes, func(a, b Substitute) int {
		return strings.Compare(a.Asked+"\x00"+a.Served, b.Asked+"\x00"+b.Served)
	})
	return substitutes
}

// Locked returns the names of the endpoints that accepted their key in this run and
// later did not: from then on others replaced their models.
func (j *Judge) Locked() []string {
	j.panel.mu.Lock()
	defer j.panel.mu.Unlock()
	return slices.Sorted(maps.Keys(j.panel.locked))
}
