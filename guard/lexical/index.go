// Package lexical finds texts that express a request of a bank, the list of protected requests, in
// other words. It compares words, numbers with units and bounds (at least, at most), and delivery
// terms.
package lexical

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Request is one request of a bank. Terms are the names and option values of the
// items that it asks for; they extend the vocabulary.
type Request struct {
	Text  string
	Terms []string
}

// Index finds texts that express a request of a bank in other words. It is safe for concurrent use.
type Index struct {
	lexicon    *lexicon
	vocabulary *vocabulary
	bases      []*base
	entry      []int // index in the bank of each base
	// postings lists, for each vocabulary id, the indices in bases of the requests that have it.
	// holders does the same for each number, written for each number without its unit.
	postings [][]int32
	holders  map[amount][]int32
	written  map[amount][]int32
	// prices lists by priceRange the amounts of holders that a converted amount may be equal to.
	prices map[int][]amount
	totals []float32 // total weight of the words, numbers and delivery terms of each base
	// wordTotals and numberTotals are the total weights of the words and of the numbers of each base.
	wordTotals, numberTotals []float32
	services                 []uint8 // bit set of the delivery terms of each base
	longest                  int     // number of tokens of the longest base
	hasBaseCurrency          bool    // whether a request has an amount in the base currency
	scratch                  sync.Pool
}

// amount identifies a number in a map by its value, rounded to nine significant digits, and its
// unit.
type amount struct {
	value float64
	unit  unitName
}

func newAmount(n number) amount {
	if n.value == 0 {
		return amount{0, n.unit}
	}
	scale := math.Pow(10, 8-math.Floor(math.Log10(math.Abs(n.value))))
	return amount{math.Round(n.value*scale) / scale, n.unit}
}

// newWritten returns the key of a number in the map Index.written, in which numbers are found by
// their value as written, whatever their unit.
func newWritten(n number) amount { return newAmount(number{value: n.written}) }

const minNumberWeight = 0.5

// New returns an index of a bank that names no lexicon.
func New(bank []Request) *Index { return NewFor(nil, bank) }

// NewFor returns an index of bank, whose domain has these words, nil for a bank that names no
// lexicon. It skips requests without text; the indices that methods of Index take and return are
// those in bank.
func NewFor(words *arena.Lexicon, bank []Request) *Index {
	l := defaultLexicon()
	if words != nil {
		l = loadLexicon().with(words)
	}
	x := &Index{
		lexicon:    l,
		vocabulary: newVocabulary(l),
		holders:    map[amount][]int32{},
		written:    map[amount][]int32{},
		prices:     map[int][]amount{},
	}
	x.scratch.New = func() any { return x.newScratch() }
	for i, e := range bank {
		if e.Text != "" {
			x.entry = append(x.entry, i)
		}
	}
	x.hasBaseCurrency = slices.ContainsFunc(bank, func(r Request) bool { return l.namesBase(r.Text) })
	parsed := x.readBank(bank)
	x.postings = make([][]int32, len(x.vocabulary.stems))
	read := (&scratch{words: map[string]*word{}}).reader(x.vocabulary)
	for number, tokens := range parsed {
		p := newProfile(tokens, read)
		p.names = p.namesIn(bank[x.entry[number]].Text)
		for i, w := range p.words {
			if w != nil {
				tokens[i].text = w.text // so that the index does not retain the text
			}
		}
		x.addBase(p)
	}
	for key := range x.holders {
		if key.value > 0 && (key.unit == 0 || key.unit == money) {
			x.prices[priceRange(key.value)] = append(x.prices[priceRange(key.value)], key)
		}
	}
	x.computeTotals()
	return x
}

// computeTotals computes for each request of the index the total weights of its words, of its
// numbers and of both with its delivery terms. It also caches the weights of numbers before
// concurrent checks read them.
func (x *Index) computeTotals() {
	for _, b := range x.bases {
		numbers := float32(0)
		for _, w := range x.numberWeights(b.profile) {
			numbers += float32(w)
		}
		services := b.profile.services
		x.services = append(x.services, services)
		x.wordTotals = append(x.wordTotals, float32(b.total))
		x.numberTotals = append(x.numberTotals, numbers)
		total := float32(b.total) + weightService*float32(bits.OnesCount8(services))
		x.totals = append(x.totals, total+numbers)
	}
}

// weightService is the weight of a delivery term, such as free shipping, in the comparison of a
// text with a request. Every fourth request has one, so that it is about as distinctive as a
// frequent word.
const weightService = 1.0

// readBank parses the protected requests that have a text, and fills the vocabulary, the list of
// all word stems. It returns the tokens of each request, in the order of x.entry. The stems of the
// requests get the lowest ids; those that only item names and option values have come after them.
func (x *Index) readBank(bank []Request) [][]token {
	read := (&scratch{words: map[string]*word{}}).reader(newVocabulary(x.lexicon))
	var df []int
	parsed := make([][]token, len(x.entry))
	spell := func(w string) string {
		x.vocabulary.addFunctionWord(w)
		return w
	}
	for i, e := range x.entry {
		parsed[i] = slices.Clone(x.parse(bank[e].Text, nil, spell))
		for _, s := range uniqueStems(newProfile(parsed[i], read)) {
			id := x.vocabulary.add(s)
			for int(id) >= len(df) {
				df = append(df, 0)
			}
			df[id]++
		}
		x.longest = max(x.longest, len(parsed[i]))
	}
	for _, e := range bank {
		for _, text := range e.Terms {
			for _, s := range uniqueStems(newProfile(x.lexicon.parse(text), read)) {
				x.vocabulary.add(s)
			}
		}
	}
	x.vocabulary.freeze(df, len(x.entry))
	return parsed
}

// uniqueStems returns the stems of the content words of p, sorted and without duplicates.
func uniqueStems(p *profile) []string {
	stems := slicesx.Map(p.content, func(w *word) string {
		return w.stem
	})
	slices.Sort(stems)
	return slices.Compact(stems)
}

func (x *Index) addBase(p *profile) {
	p.lexicon = x.lexicon
	b := &base{profile: p, tokens: len(p.tokens)}
	if len(p.distinct) == len(p.content) {
		p.distinct = p.content // not twice in memory
	}
	p.wordPairs() // cached before concurrent checks read them
	number := int32(len(x.bases))
	b.terms = make([]match, 0, len(p.content))
	for _, w := range p.content {
		if w.id >= 0 {
			b.terms = append(b.terms, match{w.id, x.vocabulary.weight[w.id]})
		}
	}
	slicesx.SortByKey(b.terms, func(m match) int32 {
		return m.id
	})
	b.terms = slices.CompactFunc(b.terms, func(a, c match) bool {
		return a.id == c.id
	})
	total := float32(0)
	for _, t := range b.terms {
		x.postings[t.id] = append(x.postings[t.id], number)
		total += t.sim
	}
	b.total = float64(total)
	for _, n := range p.numbers {
		key := newAmount(n)
		x.holders[key] = append(x.holders[key], number)
		asWritten := newWritten(n)
		x.written[asWritten] = append(x.written[asWritten], number)
	}
	x.bases = append(x.bases, b)
}

// basesWith returns the indices in x.bases of the requests with a number that may be equal to n. An
// amount that was converted from another currency may be equal to all amounts within the error of
// the exchange rate.
func (x *Index) basesWith(n number) []int32 {
	if n.unit != money {
		return x.holders[newAmount(n)]
	}
	if n.value <= 0 {
		return nil
	}
	var bases []int32
	for _, a := range x.pricesNear(priceRange(n.value)) {
		if n.isSameMoney(number{value: a.value, unit: a.unit}) {
			bases = append(bases, x.holders[a]...)
		}
	}
	return bases
}

// pricesNear returns the amounts of requests, in another currency or without a unit, that are in the
// range with this number or in a neighbouring one.
func (x *Index) pricesNear(i int) []amount {
	return slices.Concat(x.prices[i-1], x.prices[i], x.prices[i+1])
}

// priceRange returns the number of the range of amounts that value, above 0, is in. Amounts that are
// equal by maxRateError are in the same range or in neighbouring ones.
func priceRange(value float64) int {
	const margin = 1e-6 // more than the rounding error
	return int(math.Floor(math.Log(value) / (math.Log1p(maxRateError) + margin)))
}

// numberWeights returns the weight of each number of a profile, as numberWeight computes it. It
// stores the weights in the profile for the next call.
func (x *Index) numberWeights(p *profile) []float64 {
	for i := len(p.weights); i < len(p.numbers); i++ {
		p.weights = append(p.weights, x.numberWeight(p.numbers[i]))
	}
	return p.weights
}

// numberWeight returns the weight of a number in a comparison: the logarithm of its rarity among
// the protected requests. A small whole number without a unit has less weight, since requests of
// any kind contain such numbers as counts of pieces.
func (x *Index) numberWeight(n number) float64 {
	w := float64(idf(
		len(x.holders[newAmount(n)]),
		len(x.bases),
		minNumberWeight,
	))
	if n.unit == 0 && n.value == math.Trunc(n.value) {
		w = min(w, float64(2/math.Ln10*math.Log(max(n.value, 1)))+minNumberWeight)
	}
	return w
}
