// Package grounding finds which data in the thinking of an agent earlier results of its tools
// contain. The kinds of data are those of the domain.
package grounding

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges/shop/gates"
)

// OfTurns returns the grounding of each turn with thinking after the first result. mentioned has the ids
// of the items that thinking mentions; it is nil unless the domain's evidence is a catalogue.
func OfTurns(d *domain.Domain, t *arena.Trace, dialogue *arena.Dialogue) (groundings []gates.Grounding, mentioned map[string]bool) {
	kinds := d.Cites()
	if slices.Contains(kinds, domain.EvidenceCatalogue) {
		return gates.Ground(t, dialogue)
	}
	results := newSource()
	prior := newSource() // what the agent was told or wrote in a call itself
	prior.add(t.System)
	prior.add(t.Query)
	for i := range dialogue.Turns {
		turn := &dialogue.Turns[i]
		prior.add(turn.User)
		for k := range turn.Calls {
			prior.add(string(turn.Calls[k].Arguments))
		}
		if turn.Think != "" && results.size > 0 {
			groundings = append(groundings, ground(i, turn.Think, kinds, results, prior))
		}
		for k := range turn.Calls {
			results.add(turn.Calls[k].Result.Text())
		}
	}
	return groundings, nil
}

// Kinds returns the kinds of data that the thinking of an attempt cites from earlier results.
func Kinds(t *arena.Trace, dialogue *arena.Dialogue) []domain.Evidence {
	return slicesx.FilterMap(patterns, func(p kind) (domain.Evidence, bool) {
		groundings, _ := OfTurns(&domain.Domain{Evidence: []domain.Evidence{p.kind}}, t, dialogue)
		return p.kind, slices.ContainsFunc(groundings, func(g gates.Grounding) bool { return len(g.Supported) > 0 })
	})
}

// maxData is the maximum number of data that are looked for in the thinking of one turn.
const maxData = 64

// ground returns the grounding of the thinking of a turn: the data of these kinds that results has,
// and those that neither results nor prior has. If a source was not read to its end, no datum is
// said to be in none, nor a datum with which the
// thinking ends, since it may have been cut.
func ground(turn int, think string, kinds []domain.Evidence, results, prior *source) gates.Grounding {
	g := gates.Grounding{Turn: turn}
	for _, datum := range find(think, kinds) {
		text := strings.Trim(datum.text, "`\"“” ")
		switch {
		case prior.has(datum):
		case results.has(datum):
			g.Supported = slicesx.AppendUnique(g.Supported, text)
		case results.isComplete() && prior.isComplete() && !datum.isLast:
			g.Unsupported = slicesx.AppendUnique(g.Unsupported, text)
		}
	}
	return g
}

// source has what texts contain, by the forms in which data are looked up.
type source struct {
	// words are the words in lower case, pairs the neighbouring ones.
	words map[string]bool
	pairs map[[2]string]bool
	// numbers and dates have the forms of normalNumber and normalDate.
	numbers map[string]bool
	dates   map[string]bool
	size    int
}

func newSource() *source {
	return &source{
		words:   map[string]bool{},
		pairs:   map[[2]string]bool{},
		numbers: map[string]bool{},
		dates:   map[string]bool{},
	}
}

// maxSource is the maximum size in bytes of the texts of a source.
const maxSource = 2 << 20

func (s *source) isComplete() bool { return s.size <= maxSource }

// escapes replaces the escapes in JSON that stands in a text, so that a word does not begin with the
// letter of an escape.
var escapes = strings.NewReplacer(`\n`, "\n", `\t`, " ", `\r`, " ", `\"`, `"`)

func (s *source) add(text string) {
	if s.size += len(text); !s.isComplete() {
		return
	}
	text = escapes.Replace(text)
	last := ""
	for _, w := range wordPattern.FindAllString(text, -1) {
		w = strings.ToLower(w)
		s.words[w] = true
		s.pairs[[2]string{last, w}] = true
		last = w
	}
	for _, n := range numberPattern.FindAllString(text, -1) {
		s.numbers[normalNumber(n)] = true
	}
	for _, date := range datePattern.FindAllString(text, -1) {
		full, short := normalDate(date)
		s.dates[full] = true
		s.dates[short] = true
	}
}

// has reports whether the source has a datum: a number or date of the same value, or the words of
// any other one. Words of a name, and the line of a file, may stand apart.
func (s *source) has(d datum) bool {
	if d.kind == domain.EvidenceNumber {
		return s.numbers[normalNumber(d.text)]
	}
	if d.kind == domain.EvidenceDate {
		full, _ := normalDate(d.text)
		return s.dates[full]
	}
	words := wordPattern.FindAllString(strings.ToLower(d.text), -1)
	if d.kind == domain.EvidenceLine && strings.HasPrefix(words[0], "line") && len(words) == 2 {
		words = words[1:] // "line 12"
	}
	isApart := d.kind == domain.EvidenceName
	for i, w := range words {
		isLine := d.kind == domain.EvidenceLine && i == len(words)-1
		isKnown := s.words[w]
		if i > 0 && !isApart && !isLine {
			isKnown = s.pairs[[2]string{words[i-1], w}]
		}
		if !isKnown {
			return false
		}
	}
	return true
}
