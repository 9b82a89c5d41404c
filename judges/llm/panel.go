package llm

import (
	"strings"
	"sync"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// setAsideAfter is the number of consecutive unreadable replies after which a model is not asked
// again in the run. One or two happen to every server; a third in a row over different attempts is
// a sign of a broken deployment.
const setAsideAfter = 3

// panel holds the models that judge in the order in which they are asked, and which of them are set
// aside: not asked again in this run, such as after unreadable replies. A member is an index of
// Config.Panel.
type panel struct {
	primaries []int
	fallbacks []int
	votes     int
	// repeats has for each vote whether its model gives an earlier vote too, on whichever endpoint.
	repeats []bool
	// endpoints are the names of the members' endpoints.
	endpoints []string

	mu sync.Mutex
	// unreadable is the number of consecutive unreadable replies of each member.
	unreadable []int
	setAside   []bool
	// accepted are the endpoints that accepted their key in this run, locked those that did so
	// first and later refused it.
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
		voter := cfg.Panel[p.order(vote)[0]].Model
		p.repeats = append(p.repeats, voters[voter])
		voters[voter] = true
	}
	return p
}

// order returns the panel members to ask for a vote, one after another until one answers: the model
// to which this vote belongs, then models to which no vote belongs, then the fallbacks, and last
// the models of other votes, since each model should vote only once.
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

// lock sets aside (asks no more in this run) all models of a member's endpoint, after the endpoint
// refused its key. It changes nothing and returns false if the endpoint has never accepted the key
// in this run: the key is wrong then, and the run should end at once for its correction. It also
// returns false if no model of another endpoint remains.
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

// countUnreadable counts an unreadable reply of a member. After setAsideAfter in a row, the member
// is set aside for the run if another one remains.
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

// rotation selects the panel members (models) to ask, one after another, until one of them answers
// a question.
type rotation struct {
	panel *panel
	order []int
	next  int
	// voted are the members that have voted on this attempt. They are asked again only if no other
	// member remains.
	voted map[int]bool
	// unreadable counts unreadable replies to this question by member.
	unreadable map[int]int
	// doubted are the members that answered this question once with faulty quotes.
	doubted map[int]bool
	// dropped are the members that are not asked again for this answer.
	dropped map[int]bool
}

// nextMember returns the next panel member to ask. A member that has already voted on the attempt
// is returned only if no other remains. ok is false if no member remains.
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

// Substitute counts the answers of a model that was not asked: a server was asked for one model and
// stated that another one answered.
type Substitute struct {
	Asked   string
	Served  string
	Answers int
}

// recordAnswer records that the endpoint of a panel member accepted its key. If scored is set (the
// reply was readable), it also ends the member's row of unreadable replies, and notes for the
// report if served, the model that the server names, is not the one asked.
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

// isSameModel reports whether two model names differ at most in vendor, case and an ending such as
// a version: one must begin with the other.
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
	slicesx.SortFunc(substitutes, func(a, b Substitute) int {
		return strings.Compare(a.Asked+"\x00"+a.Served, b.Asked+"\x00"+b.Served)
	})
	return substitutes
}

// Locked returns the names of the endpoints that accepted their key in this run and
// later did not: from then on others replaced their models.
func (j *Judge) Locked() []string {
	j.panel.mu.Lock()
	defer j.panel.mu.Unlock()
	return slicesx.SortedKeys(j.panel.locked)
}
