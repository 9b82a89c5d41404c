package gates

import (
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Grounding is what the thinking of one turn rests on.
type Grounding struct {
	// Turn is the index of the dialogue's turn.
	Turn int
	// Held are the ids, prices, brands, values and other data of the thinking that
	// an earlier result holds, Nowhere those that none does and that the customer
	// did not say. Each stands once, as the thinking writes it.
	Held, Nowhere []string
	// Words are the other words, names among them, that no earlier result holds, nor
	// the customer said, nor any word list has: a made service, and ordinary words.
	Words []string
}

// Ground looks up what each turn after the first result speaks of. Spoken are
// the ids of the products that any of them means, by id, brand or price.
func Ground(t *arena.Trace, d *arena.Dialogue) (all []Grounding, spoken map[string]bool) {
	s := shelves.Get().(*shelf)
	defer s.release()
	passages, w := s.open(t, d)
	spoken = map[string]bool{}
	for i := range passages {
		r := w.read(&passages[i])
		g := Grounding{Turn: passages[i].turn}
		for k := range r.cites {
			c := &r.cites[k]
			text := clip(r.text[c.start:c.end])
			switch {
			case c.kind == citeUnknown:
				g.Nowhere = slicesx.AppendUnique(g.Nowhere, text)
			case !c.asked:
				g.Held = slicesx.AppendUnique(g.Held, text)
			}
			r.means(c, spoken)
		}
		for _, text := range r.unheld() {
			g.Nowhere = slicesx.AppendUnique(g.Nowhere, text)
		}
		g.Words = r.unsaid(slices.Concat(g.Held, g.Nowhere))
		all = append(all, g)
	}
	return all, spoken
}

// means notes the products that a cite may stand for.
func (r *reading) means(c *cite, spoken map[string]bool) {
	for i := range r.shelf.products {
		p := &r.shelf.products[i]
		is := c.product == int32(i) || c.kind == citeBrand && p.isBrand(r.folded[c.start:c.end])
		if c.kind == citePrice && c.token >= 0 {
			n := &r.tokens[c.token].number
			is = slices.Contains(n.readings[:n.count], p.cents)
		}
		if is && p.step < r.step {
			spoken[p.id] = true
		}
	}
}

// unheld are figures and values that neither a result nor the request
// holds. Figures of one or two digits are counts and sizes.
func (r *reading) unheld() (all []string) {
	for _, n := range r.spelled {
		if fact := &r.shelf.amounts[r.shelf.figures[n.cents]]; !fact.query && min(fact.exact, fact.rounded) >= r.step {
			all = append(all, r.text[n.start:n.end])
		}
	}
	for i := range r.sentences {
		s := &r.sentences[i]
		for _, m := range r.marks[s.marks.start:s.marks.end] {
			if m.concept != 0 && !r.known(r.lexicon.values[m.concept]) && !r.known(r.folded[m.start:m.end]) {
				all = append(all, r.text[m.start:m.end])
			}
		}
		for k := s.tokens.start; k < s.tokens.end; k++ {
			if t := &r.tokens[k]; t.number.end > 0 && r.unheldFigure(i, t) {
				all = append(all, r.text[t.start:t.end])
			}
		}
	}
	return all
}

func (r *reading) unheldFigure(sentence int, t *token) bool {
	n := &t.number
	if n.plain && n.digits < 3 || t.word >= 0 && r.shelf.words[t.word].query {
		return false
	}
	for _, cents := range n.readings[:n.count] {
		if fact := &r.shelf.amounts[r.shelf.figures[cents]]; fact.query || min(fact.exact, fact.rounded) < r.step {
			return false
		}
	}
	return !slices.ContainsFunc(r.citesOf(sentence), func(c cite) bool { return c.start <= t.start && t.end <= c.end })
}

func (r *reading) known(word string) bool {
	slot, found := r.shelf.slots[word]
	return found && (r.shelf.words[slot].query || slices.Min(r.shelf.words[slot].first[:]) < r.step)
}

// minWord is the least length of a word that is told, maxWords the share of a
// passage's words, one in so many, that may stand nowhere: in a language that no
// list knows most do, which tells nothing.
const (
	minWord  = 4
	maxWords = 2
)

// unsaid are the words, names among them, that neither an earlier result nor the
// request nor any word list holds, and that no datum told consists of.
func (r *reading) unsaid(told []string) (all []string) {
	data := strings.Join(told, " ")
	for i := range r.sentences {
		s := &r.sentences[i]
		for k := s.tokens.start; k < s.tokens.end; k++ {
			t := &r.tokens[k]
			word := r.folded[t.start:t.end]
			if len(word) >= minWord && t.number.end == 0 && !r.lexicon.plain[word] && r.classesIn(s, t.span) == 0 && !r.known(word) && !r.shelf.asked(word) {
				if word = r.text[t.start:t.end]; !strings.Contains(data, word) {
					all = slicesx.AppendUnique(all, word)
				}
			}
		}
	}
	if len(all)*maxWords > len(r.tokens) {
		return nil
	}
	return all
}
