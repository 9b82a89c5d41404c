package gates

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// factIndex holds what the tools have returned of the words and figures that the
// thinking mentions: those are added first, then results are read, which record
// the step in which each was first returned.
type factIndex struct {
	slots   map[string]int32
	words   []wordFact
	figures map[int64]int32
	amounts []amountFact
	// roundings are the units that figures such as 1.1k are rounded to, in
	// hundredths.
	roundings []int64
	products  []product
	byID      map[string]int32
	// results is the number of results read.
	results int32
	// lengths has, by first byte, a bit for each length of the words added: most
	// words of results need no lookup.
	lengths [256]uint64
	// tokens, marks, sentences, cites and starts are memory that passages share.
	tokens    []token
	marks     []mark
	sentences []sentence
	cites     []cite
	starts    []int32
	// partialBudget is the number of figures that may still be compared with all
	// ids as a part of one.
	partialBudget int
}

// never is the step of a fact that is in no result.
const never = math.MaxInt32

// role is the meaning of a word in a result.
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

// wordFact holds the step in which a word first had each role.
type wordFact struct {
	first     [roles]int32
	inRequest bool
	// unlisted is set if no entry of the lexicon begins with the word.
	unlisted bool
}

// firstInText returns the first step in which the word is a value or in prose.
func (f *wordFact) firstInText() int32 { return min(f.first[roleValue], f.first[roleText]) }

// amountFact holds the step in which a figure was first returned, exactly or as a
// price that it rounds.
type amountFact struct {
	exact, rounded int32
	inRequest      bool
}

func (f *amountFact) first() int32 { return min(f.exact, f.rounded) }

type product struct {
	id, title, brand string
	// cents is its price in hundredths; 0 if no result has it.
	cents int64
	step  int32
	// results has a bit for each of the first 64 results that it is in.
	results uint64
	// kind is the result of reading.kindWords; nil before the first call.
	kind []int32
}

// indexPool reuses indexes: their maps and slices are most of what a judgement
// allocates (BenchmarkJudge).
var indexPool = sync.Pool{New: func() any {
	return &factIndex{
		slots:         make(map[string]int32, 256),
		figures:       make(map[int64]int32, 64),
		byID:          make(map[string]int32, 64),
		partialBudget: maxPartial,
		tokens:        make([]token, 0, 512),
		marks:         make([]mark, 0, 512),
		sentences:     make([]sentence, 0, 64),
	}
}}

// maxProducts is the maximum number of products of an attempt, maxPartial that of
// figures compared with all of their ids: 25 steps of five pages have 1,250
// products, and no agent abbreviates a thousand ids.
const (
	maxProducts = 1 << 13
	maxPartial  = 1 << 10
)

// maxPooled is the maximum number of words of an index that is reused.
const maxPooled = 1 << 14

// release empties the index and returns it to the pool. Its passages must not be
// used after that.
func (x *factIndex) release() {
	if len(x.words) > maxPooled || len(x.products) > maxPooled {
		return
	}
	clear(x.slots)
	clear(x.figures)
	clear(x.byID)
	clear(x.products)
	*x = factIndex{
		slots:         x.slots,
		words:         x.words[:0],
		figures:       x.figures,
		amounts:       x.amounts[:0],
		roundings:     x.roundings[:0],
		products:      x.products[:0],
		byID:          x.byID,
		tokens:        x.tokens[:0],
		marks:         x.marks[:0],
		sentences:     x.sentences[:0],
		cites:         x.cites[:0],
		starts:        x.starts[:0],
		partialBudget: maxPartial,
	}
	indexPool.Put(x)
}

// unusedPart returns the unused end of a buffer that passages share. Appending
// more than its capacity allocates other memory.
func unusedPart[T any](buffer []T) []T { return buffer[len(buffer):] }

// extend returns the buffer with the items that a passage appended to its unused
// part.
func extend[T any](buffer, items []T) []T {
	if len(buffer)+len(items) > cap(buffer) {
		return buffer
	}
	return buffer[:len(buffer)+len(items)]
}

// addWord adds a word of the thinking and returns its slot.
func (x *factIndex) addWord(text string) int32 {
	slot, ok := x.slots[text]
	if !ok {
		slot = int32(len(x.words))
		x.slots[text] = slot
		x.lengths[text[0]] |= 1 << (len(text) & 63)
		x.words = append(x.words, wordFact{first: [roles]int32{never, never, never, never, never, never}})
	}
	return slot
}

// addNumber adds the readings of a number.
func (x *factIndex) addNumber(n *number) {
	if n.rounding > 0 && !slices.Contains(x.roundings, n.rounding) {
		x.roundings = append(x.roundings, n.rounding)
	}
	for _, cents := range n.readings[:n.count] {
		x.addAmount(cents)
	}
}

// addAmount adds a figure and returns its slot.
func (x *factIndex) addAmount(cents int64) int32 {
	slot, ok := x.figures[cents]
	if !ok {
		slot = int32(len(x.amounts))
		x.figures[cents] = slot
		x.amounts = append(x.amounts, amountFact{exact: never, rounded: never})
	}
	return slot
}

// record records that a folded word has a role in a result of step.
func (x *factIndex) record(word string, r role, step int32) {
	if slot, ok := x.slots[word]; ok {
		first := &x.words[slot].first[r]
		*first = min(*first, step)
	}
}

// recordWord records a word as the result writes it.
func (x *factIndex) recordWord(word string, r role, step int32) {
	var low [48]byte
	if len(word) > len(low) {
		return
	}
	if word[0] < utf8.RuneSelf && x.lengths[lower(word[0])]&(1<<(len(word)&63)) == 0 {
		return
	}
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			x.record(fold(word), r, step)
			return
		}
		low[i] = lower(word[i])
	}
	x.record(string(low[:len(word)]), r, step)
}

// recordPrice records a price, and the numbers that it is rounded to.
func (x *factIndex) recordPrice(cents int64, step int32) {
	x.recordExact(cents, step)
	x.recordRounded(cents-cents%100, step)
	x.recordRounded((cents+50)-(cents+50)%100, step)
	for _, unit := range x.roundings {
		x.recordRounded((cents+unit/2)/unit*unit, step)
	}
}

func (x *factIndex) recordExact(cents int64, step int32) {
	if slot, ok := x.figures[cents]; ok {
		x.amounts[slot].exact = min(x.amounts[slot].exact, step)
	}
}

func (x *factIndex) recordRounded(cents int64, step int32) {
	if slot, ok := x.figures[cents]; ok {
		x.amounts[slot].rounded = min(x.amounts[slot].rounded, step)
	}
}

// addProduct adds one product of a result. For a known product it adds the result
// and the properties that were missing.
func (x *factIndex) addProduct(p product) {
	id := strings.ToLower(p.id)
	if i, ok := x.byID[id]; ok {
		known := &x.products[i]
		known.results |= p.results
		known.title = cmp.Or(known.title, p.title)
		known.brand = cmp.Or(known.brand, p.brand)
		known.cents = cmp.Or(known.cents, p.cents)
		return
	}
	if len(x.products) == maxProducts {
		return
	}
	x.byID[id] = int32(len(x.products))
	x.products = append(x.products, p)
}
