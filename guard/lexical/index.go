// Package lexical finds requests that ask for the same in other words: by their
// words, numbers with units and directions, and delivery terms.
package lexical

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/trajectory-arena/arena/internal/slicesx"
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
	// postings list, for each vocabulary id, the bases that hold it, holders those that
	// hold a number.
	postings [][]int32
	holders  map[amount][]int32
	totals   []float32 // weight of all keys of each base
	services []uint8   // delivery terms of each base
	longest  int       // tokens of the longest base
	scratch  sync.Pool
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
	x := &Index{vocabulary: newVocabulary(), holders: map[amount][]int32{}}
	x.scratch.New = func() any { return x.newScratch() }
	for i, e := range bank {
		if e.Text != "" {
			x.entry = append(x.entry, i)
		}
	}
	parsed := x.readBank(bank)
	x.postings = make([][]int32, len(x.vocabulary.stems))
	read := (&scratch{words: map[string]*word{}}).reader(x.vocabulary)
	for _, tokens := range parsed {
		x.addBase(newProfile(tokens, read))
	}
	x.totals, x.services = make([]float32, len(x.bases)), make([]uint8, len(x.bases))
	for i, b := range x.bases {
		x.services[i] = b.profile.services
		x.totals[i] = float32(b.total) + weightService*float32(bits.OnesCount8(b.profile.services))
		for _, w := range x.numberWeights(b.profile) { // before checks side by side ask
			x.totals[i] += float32(w)
		}
	}
	return x
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
	out := slicesx.Map(p.content, func(w *word) string { return w.stem })
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
	total := float32(0)
	for _, t := range b.terms {
		x.postings[t.id] = append(x.postings[t.id], number)
		total += t.sim
	}
	b.total = float64(total)
	for _, n := range p.numbers {
		x.holders[newAmount(n)] = append(x.holders[newAmount(n)], number)
	}
	x.bases = append(x.bases, b)
}

// holding are the bases with a number that may be n: the one that equals it, and of a
// converted price all that it may be.
func (x *Index) holding(n number) (bases []int32) {
	if n.unit != money {
		return x.holders[newAmount(n)]
	}
	for a, some := range x.holders {
		if n.sameMoney(number{value: a.value, unit: a.unit}) {
			bases = append(bases, some...)
		}
	}
	return bases
}

// numberWeights are those of the numbers of a profile, asked for once.
func (x *Index) numberWeights(p *profile) []float64 {
	for i := len(p.weights); i < len(p.numbers); i++ {
		p.weights = append(p.weights, x.numberWeight(p.numbers[i]))
	}
	return p.weights
}

// numberWeight is how much a number tells: its rarity in the bank, and less for
// the small whole numbers that count pieces and items everywhere.
func (x *Index) numberWeight(n number) float64 {
	w := float64(idf(len(x.holders[newAmount(n)]), len(x.bases), weightNumberLeast))
	if n.unit == "" && n.value == math.Trunc(n.value) {
		w = min(w, float64(2/math.Ln10*math.Log(max(n.value, 1)))+weightNumberLeast)
	}
	return w
}
