package gates

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// shelf is what the tools have returned so far, kept only as far as the
// thinking mentions it: words and figures of the thinking are entered first,
// then results are read past them and leave the step they were first seen in.
type shelf struct {
	slots   map[string]int32
	words   []wordFact
	figures map[int64]int32
	amounts []amountFact
	// steps are what the figures such as 1.1k are rounded to, in hundredths.
	steps    []int64
	products []product
	byID     map[string]int32
	lists    int32
	// starts has, by first byte, a bit for each length of the words entered:
	// most words of results are turned away by it.
	starts [256]uint64
	// tokens, marks, sentences and cites are the memory of the passages.
	tokens    []token
	marks     []mark
	sentences []sentence
	cites     []cite
	cuts      []int32
	// parts is how many more figures may be held against the ids as a part.
	parts int
}

// never is the step of a fact that no result holds.
const never = math.MaxInt32

// role is what a word was in a result.
type role uint8

const (
	roleID role = iota
	roleShop
	roleBrand
	roleTitleStart
	roleValue
	roleText
	roles
)

// wordFact says in which step each role of a word was first seen.
type wordFact struct {
	first [roles]int32
	query bool
	// unlisted is set where no entry of the lexicon begins with the word.
	unlisted bool
}

// amountFact says when a figure was first seen, exactly or as a price rounded to a whole.
type amountFact struct {
	exact, rounded int32
	query          bool
}

type product struct {
	id, title, brand string
	// cents is its price in hundredths; 0 where no result tells it.
	cents int64
	step  int32
	// lists has a bit for each of the first 64 results that hold it.
	lists uint64
	// kind is the words of the title that the request holds; nil until asked.
	kind []int32
}

// shelves keeps used shelves: their maps and slices are most of what a
// judgement allocates (BenchmarkJudge).
var shelves = sync.Pool{New: func() any {
	return &shelf{
		slots: make(map[string]int32, 256), figures: make(map[int64]int32, 64), byID: make(map[string]int32, 64),
		parts: maxParts, tokens: make([]token, 0, 512), marks: make([]mark, 0, 512), sentences: make([]sentence, 0, 64),
	}
}}

// maxProducts bounds the products that are kept of an attempt, maxParts the
// figures that are held against all of their ids: 25 steps of five pages hold
// 1,250 products, and no agent abbreviates a thousand ids.
const (
	maxProducts = 1 << 13
	maxParts    = 1 << 10
)

// maxKept bounds the words of a shelf that is kept for the next attempt.
const maxKept = 1 << 14

// release empties the shelf and gives it back; nothing may hold on to its
// passages after that.
func (s *shelf) release() {
	if len(s.words) > maxKept || len(s.products) > maxKept {
		return
	}
	clear(s.slots)
	clear(s.figures)
	clear(s.byID)
	clear(s.products)
	*s = shelf{slots: s.slots, figures: s.figures, byID: s.byID, words: s.words[:0], amounts: s.amounts[:0],
		products: s.products[:0], tokens: s.tokens[:0], marks: s.marks[:0], sentences: s.sentences[:0], cites: s.cites[:0], cuts: s.cuts[:0],
		steps: s.steps[:0], parts: maxParts}
	shelves.Put(s)
}

// room is the unused end of a buffer that passages share. What outgrows it
// gets memory of its own.
func room[T any](buffer []T) []T { return buffer[len(buffer):] }

// taken is the buffer with the items that a passage put into its room.
func taken[T any](buffer, items []T) []T {
	if len(buffer)+len(items) > cap(buffer) {
		return buffer
	}
	return buffer[:len(buffer)+len(items)]
}

// word enters a word of the thinking and returns its slot.
func (s *shelf) word(text string) int32 {
	slot, found := s.slots[text]
	if !found {
		slot = int32(len(s.words))
		s.slots[text] = slot
		s.starts[text[0]] |= 1 << (len(text) & 63)
		s.words = append(s.words, wordFact{first: [roles]int32{never, never, never, never, never, never}})
	}
	return slot
}

// figure enters the readings of a number.
func (s *shelf) figure(n *number) {
	if n.step > 0 && !slices.Contains(s.steps, n.step) {
		s.steps = append(s.steps, n.step)
	}
	for _, cents := range n.readings[:n.count] {
		s.amountSlot(cents)
	}
}

func (s *shelf) amountSlot(cents int64) int32 {
	slot, found := s.figures[cents]
	if !found {
		slot = int32(len(s.amounts))
		s.figures[cents] = slot
		s.amounts = append(s.amounts, amountFact{exact: never, rounded: never})
	}
	return slot
}

// see notes that a word had a role in a result of step.
func (s *shelf) see(word string, r role, step int32) {
	if slot, found := s.slots[word]; found {
		first := &s.words[slot].first[r]
		*first = min(*first, step)
	}
}

// seeWord is see for a word as the result writes it.
func (s *shelf) seeWord(word string, r role, step int32) {
	var low [48]byte
	if len(word) > len(low) || word[0] < utf8.RuneSelf && s.starts[lower(word[0])]&(1<<(len(word)&63)) == 0 {
		return
	}
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			s.see(fold(word), r, step)
			return
		}
		low[i] = lower(word[i])
	}
	s.see(string(low[:len(word)]), r, step)
}

// seePrice notes a price, and the whole numbers that people make of it.
func (s *shelf) seePrice(cents int64, step int32) {
	s.seeAmount(cents, step)
	s.seeRounded(cents-cents%100, step)
	s.seeRounded((cents+50)-(cents+50)%100, step)
	for _, unit := range s.steps {
		s.seeRounded((cents+unit/2)/unit*unit, step)
	}
}

func (s *shelf) seeAmount(cents int64, step int32) {
	if slot, found := s.figures[cents]; found {
		s.amounts[slot].exact = min(s.amounts[slot].exact, step)
	}
}

func (s *shelf) seeRounded(cents int64, step int32) {
	if slot, found := s.figures[cents]; found {
		s.amounts[slot].rounded = min(s.amounts[slot].rounded, step)
	}
}

// put keeps one product of a result; a product seen again adds its list and
// what was not known of it.
func (s *shelf) put(p product) {
	id := strings.ToLower(p.id)
	if at, found := s.byID[id]; found {
		known := &s.products[at]
		known.lists |= p.lists
		known.title = cmp.Or(known.title, p.title)
		known.brand = cmp.Or(known.brand, p.brand)
		known.cents = cmp.Or(known.cents, p.cents)
		return
	}
	if len(s.products) == maxProducts {
		return
	}
	s.byID[id] = int32(len(s.products))
	s.products = append(s.products, p)
}
