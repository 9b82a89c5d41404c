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
	s := sources{results: newSource(), task: newSource(), calls: newSource()}
	s.task.add(t.System)
	s.task.add(t.Query)
	for i := range dialogue.Turns {
		turn := &dialogue.Turns[i]
		s.task.add(turn.User)
		for k := range turn.Calls {
			s.calls.add(string(turn.Calls[k].Arguments))
		}
		if turn.Think != "" && s.results.size > 0 {
			groundings = append(groundings, s.ground(i, turn.Think, kinds))
		}
		for k := range turn.Calls {
			s.results.add(turn.Calls[k].Result.Text())
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

// sources are the texts before the thinking of a turn: results of tools, what users and the system
// prompt say, and the arguments of the agent's calls, those of the turn included.
type sources struct{ results, task, calls *source }

// ground returns the grounding of the thinking of a turn: the data of these kinds that results have
// and the task has not, and those that no source has. If a source was not read to its end, no datum
// is said to be in none, nor a datum with which the thinking ends, since it may have been cut.
func (s *sources) ground(turn int, think string, kinds []domain.Evidence) gates.Grounding {
	g := gates.Grounding{Turn: turn}
	isComplete := s.results.isComplete() && s.task.isComplete() && s.calls.isComplete()
	for _, datum := range find(think, kinds) {
		text := strings.Trim(datum.text, "`\"“” ")
		switch {
		case s.task.has(datum):
		case s.results.has(datum):
			g.Supported = slicesx.AppendUnique(g.Supported, text)
		case isComplete && !datum.isLast && !s.calls.has(datum):
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
	// numbers and dates have the forms of normalNumber and readDate, and dates also those without
	// their year. dated has the latter of dates with a year.
	numbers map[string]bool
	dates   map[string]bool
	dated   map[string]bool
	size    int
}

func newSource() *source {
	return &source{
		words:   map[string]bool{},
		pairs:   map[[2]string]bool{},
		numbers: map[string]bool{},
		dates:   map[string]bool{},
		dated:   map[string]bool{},
	}
}

// maxSource is the maximum size in bytes of the texts of a source.
const maxSource = 2 << 20

func (s *source) isComplete() bool { return s.size <= maxSource }

// escapes replaces the escapes in JSON that stands in a text, so that a word does not begin with the
// letter of an escape.
var escapes = strings.NewReplacer(`\n`, "\n", `\t`, " ", `\r`, " ", `\"`, `"`)

// add adds a text as it is written and, for JSON in it, without escapes: in C:\new the n is a letter.
func (s *source) add(text string) {
	if s.size += len(text); !s.isComplete() {
		return
	}
	s.addData(text)
	if plain := escapes.Replace(text); plain != text {
		s.addData(plain)
	}
}

func (s *source) addData(text string) {
	last := ""
	for _, w := range wordPattern.FindAllString(text, -1) {
		w = strings.ToLower(w)
		s.words[w] = true
		for part := range strings.SplitSeq(w, "_") {
			s.words[part] = true // as 4711 in order_4711
		}
		s.pairs[[2]string{last, w}] = true
		last = w
	}
	for _, n := range numberPattern.FindAllString(text, -1) {
		s.numbers[normalNumber(n)] = true
	}
	for _, date := range datePattern.FindAllString(text, -1) {
		for _, d := range readDate(date) {
			short := withoutYear(d)
			s.dates[d] = true
			s.dates[short] = true
			s.dated[short] = s.dated[short] || d != short
		}
	}
}

// hasDate reports whether the source has a date of readDate. A day without a year may be of any
// year, unless the source has the day with one too.
func (s *source) hasDate(date string) bool {
	short := withoutYear(date)
	return s.dates[date] || s.dates[short] && !s.dated[short]
}

// has reports whether the source has a datum: a number or date of the same value, or the words of
// any other one. Words of a name, and the line of a file, may stand apart.
func (s *source) has(d datum) bool {
	if d.kind == domain.EvidenceNumber {
		return s.numbers[normalNumber(d.text)] || s.words[d.text]
	}
	if d.kind == domain.EvidenceDate {
		return slices.ContainsFunc(readDate(d.text), s.hasDate)
	}
	words := wordPattern.FindAllString(strings.ToLower(d.text), -1)
	if d.kind == domain.EvidenceLine && strings.HasPrefix(words[0], "line") && len(words) == 2 {
		words = words[1:] // "line 12"
	}
	isApart := d.kind == domain.EvidenceName
	for i, w := range words {
		isLine := d.kind == domain.EvidenceLine && i == len(words)-1
		isKnown := s.words[w] || isLine && s.words["l"+w] // as in a link to views.py#L12
		if i > 0 && !isApart && !isLine {
			isKnown = s.pairs[[2]string{words[i-1], w}]
		}
		if !isKnown {
			return false
		}
	}
	return true
}
