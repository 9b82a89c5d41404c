package gates

import (
	"cmp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
)

// readThinking answers the second to the fourth gate.
func readThinking(t *arena.Trace, d *arena.Dialogue) []finding {
	s := shelves.Get().(*shelf)
	defer s.release()
	passages, w := s.open(t, d)
	if len(passages) == 0 {
		return []finding{missed("no step after the first result records any thinking")}
	}
	for i := range passages {
		w.weigh(&passages[i])
	}
	return w.findings()
}

// open reads the thinking of an attempt, and its request and results as far as
// the thinking mentions them.
func (s *shelf) open(t *arena.Trace, d *arena.Dialogue) ([]passage, *weigher) {
	passages := readPassages(t, d, s)
	if len(passages) == 0 {
		return nil, nil
	}
	// To repeat the customer's own words and figures is no reading of results.
	s.ask(t.Query)
	for i := range d.Turns {
		s.ask(d.Turns[i].User)
	}
	readResults(d, s, passages[len(passages)-1].step)
	return passages, &weigher{shelf: s, chosen: calls.LastRecommended(d.Turns), request: t.Query, brands: s.unspacedBrands()}
}

func (s *shelf) ask(text string) {
	if text == "" {
		return
	}
	request := passage{text: text[:min(len(text), maxPassage)]}
	request.scan(s)
	for _, t := range request.tokens {
		for _, slot := range [...]int32{t.word, t.measure} {
			if slot >= 0 {
				s.words[slot].query = true
			}
		}
		for _, cents := range t.number.readings[:t.number.count] {
			s.amounts[s.amountSlot(cents)].query = true
		}
	}
	for _, m := range request.marks {
		if m.concept != 0 {
			s.words[s.word(words().values[m.concept])].query = true
		}
	}
}

// asked reports whether a word is the customer's own, in this form or another.
func (s *shelf) asked(word string) bool {
	for _, form := range [...]string{word, strings.TrimSuffix(word, "s"), strings.TrimSuffix(word, "es"), strings.TrimSuffix(word, "en")} {
		if slot, found := s.slots[form]; found && s.words[slot].query {
			return true
		}
	}
	slot, found := s.slots[word+"s"]
	return found && s.words[slot].query
}

// weigher reads the passages in order and keeps the first evidence for each
// gate.
type weigher struct {
	shelf  *shelf
	chosen []string
	// request is the customer's own text, brands what the results name in
	// scripts without blanks.
	request string
	brands  []unspacedBrand
	// remark, datum and choice are the evidence for gates 2, 3 and 4; invented
	// is what was said of results that no tool gave.
	remark, datum, choice *finding
	invented              string
	// lacks is the most that was found of a choice without its all.
	lacks lack
	// revised are choices that a later thought may yet go back on.
	revised []revision
}

func (w *weigher) weigh(p *passage) {
	if w.choice != nil {
		return
	}
	r := w.read(p)
	r.lettered = slices.ContainsFunc([]string{"A:", "A)", "A =", "A="}, func(letter string) bool { return strings.Contains(p.text, letter) })
	for i := range p.sentences {
		w.weighSentence(&r, i)
	}
	w.revise(&r)
	if w.choice == nil {
		w.weighChoice(&r)
	}
}

func (w *weigher) read(p *passage) reading {
	r := reading{weigher: w, passage: p, cites: w.shelf.cites[:0], starts: w.shelf.cuts[:0]}
	r.cite()
	w.shelf.cites, w.shelf.cuts = r.cites, r.starts
	return r
}

func (w *weigher) weighSentence(r *reading, i int) {
	s := &r.sentences[i]
	datum, weak := r.datumIn(i)
	if w.datum == nil && datum != nil {
		w.datum = r.found(s.span, datum.span, "names "+datum.kind.String()+" that an earlier result holds")
	}
	if r.toGrader(i) {
		return
	}
	remark := r.remarkIn(i)
	if w.datum == nil && weak != nil && (remark || r.describes(i)) {
		w.datum = r.found(s.span, weak.span, "names "+weak.kind.String()+" that an earlier result holds")
	}
	if w.remark == nil && remark {
		w.remark = r.found(s.span, s.span, "speaks of what the tools returned")
	}
}

func (r *reading) found(s, at span, detail string) *finding {
	return &finding{passed: true, step: r.number, quote: quote(r.text, s, at), detail: detail}
}

// findings is the walk from the second gate on. A datum is a remark on the
// results, and a choice between returned candidates names data.
func (w *weigher) findings() []finding {
	datum := cmp.Or(w.datum, w.choice)
	remark := cmp.Or(w.remark, datum)
	switch {
	case remark == nil:
		return []finding{missed("no thinking after the first result says anything about what came back")}
	case datum == nil:
		return []finding{*remark, missed("no thinking names an id, price, brand, attribute value or shop that an earlier result holds and the request does not" + w.invented)}
	case w.choice == nil:
		return []finding{*remark, *datum, missed(w.lacks.String())}
	default:
		return []finding{*remark, *datum, *w.choice}
	}
}
