package gates

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// factIndex records at which step of an attempt a tool first returned each word and figure that the
// agent's thinking mentions, so that thinking can be checked against earlier results. The words and
// figures of thinking and request are added first; then the results are read, and what was not
// added before is ignored.
type factIndex struct {
	// slots maps a word in lower case to its index in words.
	slots map[string]int32
	words []wordFact
	// figures maps an amount in hundredths to its index in amounts.
	figures map[int64]int32
	amounts []amountFact
	// roundings are the units, in hundredths, that figures of the thinking such as 1.1k are rounded
	// to.
	roundings []int64
	products  []product
	// byID maps a product id in lower case to its index in products.
	byID map[string]int32
	// results is the number of results read.
	results int32
	// lists has an item for each result, and listed the products of all results in their order, as
	// indexes of products.
	lists  []list
	listed []int32
	// watched is the number of words, at most 64, that have a bit in product.values. found has the
	// bits of those words that the JSON object being read contains.
	watched int
	found   uint64
	// seen is a set with at least the words added. Most words of results are not in it and are not
	// looked up.
	seen wordSet
	// tokens, marks, sentences, cites and starts are memory that passages share.
	tokens    []token
	marks     []mark
	sentences []sentence
	cites     []cite
	starts    []int32
	// partialBudget is the number of comparisons that may still be made to test whether a word or
	// figure of the thinking is a part of a product's id or title.
	partialBudget int
}

// wordSet is a set of words by their first two bytes and their length. It may also report words that were
// not added, and all that begin with a character beyond ASCII.
type wordSet [256]uint64

// place returns the index of a word's item, and its bit there. In any case of letters, it is the same.
func (*wordSet) place(word string) (item byte, bit uint64) {
	second := byte(0)
	if len(word) > 1 {
		second = min(lower(word[1]), utf8.RuneSelf) // the case of other letters may change their first byte
	}
	return lower(word[0])*31 + second, 1 << (len(word) & 63)
}

func (s *wordSet) add(word string) {
	item, bit := s.place(word)
	s[item] |= bit
}

func (s *wordSet) mayHave(word string) bool {
	item, bit := s.place(word)
	return word[0] >= utf8.RuneSelf || s[item]&bit != 0
}

// never is used as the step of a word or figure that no tool result contains.
const never = math.MaxInt32

// role is the part that a word has in a tool result: an id, a brand, an attribute value and so on.
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

// wordFact holds what is known of one word of the thinking: for each role (id, brand, attribute
// value and so on) the step of the first tool result in which the word has that role.
type wordFact struct {
	first     [roles]int32
	inRequest bool
	// unlisted is set if no entry of the word lists begins with the word.
	unlisted bool
	// bit is the word's bit in product.values; 0 if products do not record the word.
	bit uint64
}

// firstInText returns the step of the first tool result that has the word as an attribute value,
// inside a title or in prose. It returns never, a number above all steps, if no result has it so.
func (f *wordFact) firstInText() int32 { return min(f.first[roleValue], f.first[roleText]) }

// amountFact holds the steps of the first results that contain a figure: exact that of the figure
// itself, rounded that of a price that can be rounded to the figure. A step is never if no result
// does.
type amountFact struct {
	exact, rounded int32
	inRequest      bool
}

func (f *amountFact) first() int32 { return min(f.exact, f.rounded) }

// product is one product that the tool results of an attempt contain.
type product struct {
	id, title, brand string
	// cents is the price in hundredths, or 0 if no result has it.
	cents int64
	step  int32
	// results has a bit for each of the first 64 results. The bit is set if the product is in the
	// result.
	results uint64
	// values has a bit for each of up to 64 attribute values of the thinking (wordFact.bit). The
	// bit is set if a result has the value for the product.
	values uint64
	// kind caches the words that kindWords returns; it is nil before the first call.
	kind []int32
}

// indexPool holds indexes for reuse: their maps and slices are most of the memory that a judgement
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

const (
	// maxProducts is the maximum number of products stored for an attempt. 25 steps of five pages
	// return 1,250.
	maxProducts = 1 << 13
	// maxPartial is the maximum number of comparisons, for one attempt, that test whether a word or
	// figure of the thinking is a part of a product's id or title. After these, none is recognised
	// as a part. The limit bounds the time; no agent writes a thousand abbreviated ids.
	maxPartial = 1 << 10
)

// maxPooled is the maximum number of words, and also of products, with which an index is kept for
// reuse. A larger one is left to the garbage collector.
const maxPooled = 1 << 14

// release empties the index and returns it to the pool of reusable ones, unless it has more than
// maxPooled words or products. The passages split with its help must not be used afterwards, since
// their slices share its memory.
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
		lists:         x.lists[:0],
		listed:        x.listed[:0],
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

// unusedPart returns the unused end of a buffer as an empty slice: what is appended to the slice is
// stored after the buffer's items. If the buffer has too little capacity, appending allocates other
// memory.
func unusedPart[T any](buffer []T) []T { return buffer[len(buffer):] }

// extend returns the buffer lengthened by the items that a passage appended to its unused part. If
// they did not fit and are in other memory, it returns the buffer unchanged.
func extend[T any](buffer, items []T) []T {
	if len(buffer)+len(items) > cap(buffer) {
		return buffer
	}
	return buffer[:len(buffer)+len(items)]
}

// addWord adds a word, in lower case, that the thinking or the request mentions, and returns its
// index in x.words.
func (x *factIndex) addWord(text string) int32 {
	slot, ok := x.slots[text]
	if !ok {
		slot = int32(len(x.words))
		x.slots[text] = slot
		x.seen.add(text)
		x.words = append(x.words, wordFact{first: [roles]int32{never, never, never, never, never, never}})
	}
	return slot
}

// addNumber adds to the index each amount that a figure of the thinking or the request may mean ("1
// 289" may be one amount or two), and the unit that the figure is rounded to.
func (x *factIndex) addNumber(n *number) {
	if n.rounding > 0 && !slices.Contains(x.roundings, n.rounding) {
		x.roundings = append(x.roundings, n.rounding)
	}
	for _, cents := range n.readings[:n.count] {
		x.addAmount(cents)
	}
}

// addAmount adds an amount in hundredths that the thinking or the request mentions, and returns its
// index in x.amounts.
func (x *factIndex) addAmount(cents int64) int32 {
	slot, ok := x.figures[cents]
	if !ok {
		slot = int32(len(x.amounts))
		x.figures[cents] = slot
		x.amounts = append(x.amounts, amountFact{exact: never, rounded: never})
	}
	return slot
}

// watch assigns a word a bit, by which the index records which products have the word as an
// attribute value: the bit is set in product.values of each such product that is read later. Only
// the first 64 words get a bit. slot is the word's index in x.words.
func (x *factIndex) watch(slot int32) {
	if fact := &x.words[slot]; fact.bit == 0 && x.watched < 64 {
		fact.bit = 1 << x.watched
		x.watched++
	}
}

// record stores that a result of the given step has a word, in lower case, in role r, and adds the
// word's bit to x.found. The lowest step of several is kept. A word that was not added is ignored.
func (x *factIndex) record(word string, r role, step int32) {
	if slot, ok := x.slots[word]; ok {
		fact := &x.words[slot]
		fact.first[r] = min(fact.first[r], step)
		x.found |= fact.bit
	}
}

// recordWord calls record with a word of a result converted to lower case. It ignores words of more
// than 48 bytes.
func (x *factIndex) recordWord(word string, r role, step int32) {
	var low [48]byte
	if len(word) > len(low) {
		return
	}
	if !x.seen.mayHave(word) {
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

// recordPrice records that a result of the given step has a price in hundredths. It also records
// the amounts that a text may round the price to: the whole unit below, the nearest one, and the
// nearest multiple of each unit in x.roundings.
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

// list is one tool result: its step, and the place of its products, which begin at index start of
// factIndex.listed.
type list struct {
	step, start int32
}

// lastList returns the products of the last tool result that is from before a step and has at least
// two products, as indexes of x.products. It returns nil if there is no such result.
func (x *factIndex) lastList(step int32) []int32 {
	end := int32(len(x.listed))
	for i := len(x.lists) - 1; i >= 0; i-- {
		l := x.lists[i]
		if l.step < step && end-l.start > 1 {
			return x.listed[l.start:end]
		}
		end = l.start
	}
	return nil
}

// addProduct adds a product of one result to x.products, at most maxProducts of them. If the
// product is there already, it adds the result and the properties that were missing.
func (x *factIndex) addProduct(p product) {
	id := strings.ToLower(p.id)
	if i, ok := x.byID[id]; ok {
		x.listed = append(x.listed, i)
		known := &x.products[i]
		known.results |= p.results
		known.values |= p.values
		known.title = cmp.Or(known.title, p.title)
		known.brand = cmp.Or(known.brand, p.brand)
		known.cents = cmp.Or(known.cents, p.cents)
		return
	}
	if len(x.products) == maxProducts {
		return
	}
	x.byID[id] = int32(len(x.products))
	x.listed = append(x.listed, int32(len(x.products)))
	x.products = append(x.products, p)
}
