package domain

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// minTools is the minimum number of a domain's tools that an attempt must declare or call to be
// assigned to this domain (kind of tasks) by its tools. One name, such as search, is common to many
// domains.
const minTools = 2

// VetoSeveral is the reason for which an attempt is left out whose domain is undecided.
const VetoSeveral = "several_domains" // its tools fit several domains equally well

// fit is how specifically an attempt fits a domain: tools is the number of the domain's tools that
// it has, isFormat reports whether its trace has a format of the domain, which counts less than any
// tools. The zero value is no fit.
type fit struct {
	tools    int
	isFormat bool
}

// better reports whether the attempt fits the domain of f more specifically than that of g.
func (f fit) better(g fit) bool {
	if f.tools != g.tools {
		return f.tools > g.tools
	}
	return f.isFormat && !g.isFormat
}

// Recognise returns the domain of an attempt. fallback is the domain of attempts that fit none. If the
// attempt fits several equally well, it is unknown whose rules apply: Recognise returns Base, vetoes
// the trace and, unless a verifier decided its outcome, rules that the outcome is unknown.
func (s *Set) Recognise(t *arena.Trace, d *arena.Dialogue, fallback string) *Domain {
	if s != nil && s.forced != nil {
		return s.forced
	}
	names := toolNames(t, d)
	best := s.ByName(fallback)
	var bestFit fit
	isTied := false
	for _, candidate := range s.all() {
		f := candidate.fit(t, names)
		switch {
		case f.better(bestFit):
			best = candidate
			bestFit = f
			isTied = false
		case f == bestFit && f != fit{}:
			isTied = true
		}
	}
	if !isTied {
		return best
	}
	t.Veto(VetoSeveral)
	if t.Ruling == nil {
		t.Ruling = &arena.Ruling{Declared: true, Ending: ending(t), Void: VetoSeveral}
	}
	return s.ByName(Base)
}

func (d *Domain) fit(t *arena.Trace, tools []string) fit {
	n := 0
	for _, name := range tools {
		if slices.Contains(d.Recognise.Tools, name) {
			n++
		}
	}
	if n < minTools {
		n = 0
	}
	return fit{
		tools:    n,
		isFormat: slices.Contains(d.Recognise.Formats, string(t.Source.Shape)),
	}
}

// toolNames returns the names of the tools that a trace declares or, if it declares none, of those
// that its dialogue calls. Each name occurs once.
func toolNames(t *arena.Trace, d *arena.Dialogue) []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, schema := range gjson.Parse(string(t.Tools)).ForEach {
		if f := schema.Get("function"); f.IsObject() {
			schema = f
		}
		add(schema.Get("name").String())
	}
	if len(names) > 0 {
		return names
	}
	for i := range d.Turns {
		for j := range d.Turns[i].Calls {
			add(d.Turns[i].Calls[j].Name)
		}
	}
	return names
}
