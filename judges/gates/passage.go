package gates

import (
	"strings"

	"github.com/trajectory-arena/arena"
)

// passage is the thinking of one turn, cut into tokens, sentences and the
// words that the lexicon knows.
type passage struct {
	// step is the index of the trace's step, number the dialogue's own count, turn
	// the index of the dialogue's turn.
	step   int32
	number int
	turn   int
	text   string
	folded string
	tokens []token
	marks  []mark
	// sentences lie in order and cover all tokens.
	sentences []sentence
	spelled   []spelled
	lexicon   *lexicon
	// big is set where a word holds a hundred or a thousand within it.
	big bool
}

type token struct {
	span
	// word is the slot of its folded text in the shelf's index; -1 for a figure
	// that cannot be an id.
	word   int32
	number number
	// measure is the slot of a figure with the word after it ("28 hours"); -1
	// where there is none.
	measure int32
}

// sentence is a stretch of text with the classes of all its marks.
type sentence struct {
	span
	classes class
	// tokens and marks are ranges of the passage's slices.
	tokens, marks span
}

// limits of what is read of one attempt's thinking; beyond them lies padding. A
// sentence is cut at maxSentence tokens.
const (
	maxSentence = 256
	maxThinking = 1 << 20
	maxPassage  = 1 << 18
)

// readPassages cuts the thinking of an attempt, in order, and enters its words
// and figures in the shelf's index. Thinking up to the step of the first
// result had nothing to analyse and is left out.
func readPassages(t *arena.Trace, d *arena.Dialogue, s *shelf) []passage {
	thoughts := thoughtsOf(d)
	all := make([]passage, 0, len(thoughts))
	copied := newCopies(d.Turns, thoughts)
	for i := range thoughts {
		step := d.Turns[thoughts[i].turn].Step
		p := passage{step: int32(step), number: t.StepNumber(step), turn: thoughts[i].turn, text: copied.without(&thoughts[i])}
		p.read(s)
		all = append(all, p)
	}
	return all
}

func thoughtsOf(d *arena.Dialogue) []thought {
	all := make([]thought, 0, len(d.Turns))
	room, first := maxThinking, firstResult(d)
	for i := range d.Turns {
		turn := &d.Turns[i]
		if strings.TrimSpace(turn.Think) == "" || int32(turn.Step) <= first || room <= 0 {
			continue
		}
		t := thought{turn: i, text: turn.Think[:min(len(turn.Think), room, maxPassage)]}
		room -= len(t.text)
		all = append(all, t)
	}
	return all
}

// read cuts the text and enters all that it mentions in the shelf's index.
func (p *passage) read(s *shelf) {
	p.scan(s)
	all := p.sumSentences()
	for _, m := range p.marks {
		if m.concept != 0 {
			s.word(p.lexicon.values[m.concept])
		}
	}
	if all&bigWord != 0 || p.big {
		p.spelled = spelledIn(p.folded)
	}
	for _, n := range p.spelled {
		s.amountSlot(n.cents)
	}
}

func (p *passage) scan(s *shelf) {
	p.lexicon, p.folded = words(), fold(p.text)
	p.tokens, p.marks, p.sentences = room(s.tokens), room(s.marks), room(s.sentences)
	p.open(0)
	for i := 0; i < len(p.folded); {
		i = p.readAt(s, i)
		if len(p.tokens)-int(p.sentences[len(p.sentences)-1].tokens.start) >= maxSentence {
			p.close(i)
			p.open(i)
		}
	}
	p.close(len(p.folded))
	s.tokens, s.marks, s.sentences = taken(s.tokens, p.tokens), taken(s.marks, p.marks), taken(s.sentences, p.sentences)
}

func (p *passage) open(at int) {
	p.sentences = append(p.sentences, sentence{span: span{start: int32(at)},
		tokens: span{start: int32(len(p.tokens))}, marks: span{start: int32(len(p.marks))}})
}

func (p *passage) close(at int) {
	s := &p.sentences[len(p.sentences)-1]
	s.end, s.tokens.end, s.marks.end = int32(at), int32(len(p.tokens)), int32(len(p.marks))
	if s.tokens.start == s.tokens.end && s.marks.start == s.marks.end && !p.unspacedIn(s.span) {
		p.sentences = p.sentences[:len(p.sentences)-1]
	}
}

// sumSentences unites the classes of each sentence's marks, and of all.
func (p *passage) sumSentences() (all class) {
	for i := range p.sentences {
		s := &p.sentences[i]
		for _, m := range p.marks[s.marks.start:s.marks.end] {
			s.classes |= m.class
		}
		all |= s.classes
	}
	return all
}

// classesIn is the union of classes of the marks that begin in at.
func (p *passage) classesIn(s *sentence, at span) (all class) {
	for _, m := range p.marks[s.marks.start:s.marks.end] {
		if m.start >= at.start && m.start < at.end {
			all |= m.class
		}
	}
	return all
}
