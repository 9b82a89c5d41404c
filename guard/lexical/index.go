// Package lexical finds requests that ask for the same in other words: by their
// words, numbers with units and directions, and delivery terms.
package lexical

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// Request is one request to be found. Terms are the names and option values of
// what it asks for; they widen the words that are understood.
type Request struct {
	Text  string
	Terms []string
}

// Index finds requests of a bank in other words. It is safe for concurrent use;
// each check borrows scratch space.
type Index struct {
	vocabulary *vocabulary
	bases      []*base
	entry      []int // bank position of each base
	// postings list, for each vocabulary id, the bases that hold it.
	postings [][]posting
	amounts  map[amount]int32
	holders  [][]posting
	totals   []float32 // weight of all keys of each base
	longest  int       // tokens of the longest base
	scratch  sync.Pool
}

type posting struct {
	base   int32
	weight float32
}

// amount is a number as a key: its value with nine significant digits.
type amount struct {
	value float64
	unit  string
}

func newAmount(n number) amount {
	if n.value == 0 {
		return amount{0, n.unit}
	}
	scale := math.Pow(10, 8-math.Floor(math.Log10(math.Abs(n.value))))
	return amount{math.Round(n.value*scale) / scale, n.unit}
}

const weightNumberLeast = 0.5

// New indexes bank. Requests without text are passed over; positions are those
// in bank.
func New(bank []Request) *Index {
	x := &Index{vocabulary: newVocabulary(), amounts: map[amount]int32{}}
	x.scratch.New = func() any { return x.newScratch() }
	for i, e := range bank {
		if e.Text != "" {
			x.entry = append(x.entry, i)
		}
	}
	parsed := x.readBank(bank)
	read := (&scratch{words: map[string]*word{}}).reader(x.vocabulary)
	for _, tokens := range parsed {
		p := newProfile(tokens, read)
		x.addBase(p)
	}
	x.weighKeys()
	return x
}

func (x *Index) weighKeys() {
	x.totals = make([]float32, len(x.bases))
	for i, b := range x.bases {
		x.totals[i] = float32(b.total) + weightService*float32(bits.OnesCount8(b.profile.services))
		for _, n := range b.profile.numbers {
			x.totals[i] += float32(x.numberWeight(n))
		}
	}
}

// weightService is the weight of a delivery term as a key: every fourth request
// has one, so that it says about as much as a frequent word.
const weightService = 1.0

// readBank parses every request and fills the vocabulary: requests first, so
// that their stems have the low ids, then titles and options.
func (x *Index) readBank(bank []Request) [][]token {
	plain := (&scratch{words: map[string]*word{}}).reader(newVocabulary())
	var df []int
	parsed := make([][]token, len(x.entry))
	for i, e := range x.entry {
		parsed[i] = slices.Clone(parse(bank[e].Text, nil))
		p := newProfile(parsed[i], plain)
		for _, s := range stemsOnce(p) {
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
			for _, s := range stemsOnce(newProfile(parse(text, nil), plain)) {
				x.vocabulary.add(s)
			}
		}
	}
	x.vocabulary.freeze(df, len(x.entry))
	return parsed
}

func stemsOnce(p *profile) []string {
	var out []string
	for _, w := range p.content {
		out = append(out, w.stem)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (x *Index) addBase(p *profile) {
	b := &base{profile: p, tokens: len(p.tokens)}
	p.pairs() // before checks side by side ask
	number := int32(len(x.bases))
	for _, w := range p.content {
		if w.id >= 0 {
			b.terms = append(b.terms, match{w.id, x.vocabulary.weight[w.id]})
		}
	}
	slices.SortFunc(b.terms, func(a, c match) int { return int(a.id - c.id) })
	b.terms = slices.CompactFunc(b.terms, func(a, c match) bool { return a.id == c.id })
	for len(x.postings) < len(x.vocabulary.stems) {
		x.postings = append(x.postings, nil)
	}
	total := float32(0)
	for _, t := range b.terms {
		x.postings[t.id] = append(x.postings[t.id], posting{number, t.sim})
		total += t.sim
	}
	b.total = float64(total)
	for _, n := range p.numbers {
		id := x.amountID(n)
		b.amounts = append(b.amounts, id)
		x.holders[id] = append(x.holders[id], posting{base: number})
	}
	x.bases = append(x.bases, b)
}

func (x *Index) amountID(n number) int32 {
	key := newAmount(n)
	id, known := x.amounts[key]
	if !known {
		id = int32(len(x.holders))
		x.amounts[key] = id
		x.holders = append(x.holders, nil)
	}
	return id
}

// sameAmounts are the amounts of the bank that may be n: the one that equals it,
// and of a converted price all that it may be.
func (x *Index) sameAmounts(n number) []int32 {
	if n.unit != money {
		if id, known := x.amounts[newAmount(n)]; known {
			return []int32{id}
		}
		return nil
	}
	var out []int32
	for a, id := range x.amounts {
		if n.sameMoney(number{value: a.value, unit: a.unit}) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// numberWeight is how much a number tells: its rarity in the bank, and less for
// the small whole numbers that count pieces and items everywhere.
func (x *Index) numberWeight(n number) float64 {
	df := 0
	if id, known := x.amounts[newAmount(n)]; known {
		df = len(x.holders[id])
	}
	w := float64(idf(df, len(x.bases), weightNumberLeast))
	if n.unit == "" && n.value == math.Trunc(n.value) {
		w = min(w, float64(2/math.Ln10*math.Log(max(n.value, 1)))+weightNumberLeast)
	}
	return w
}
