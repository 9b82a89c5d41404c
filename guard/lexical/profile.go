package lexical

import (
	"math"
	"slices"
)

type profile struct {
	tokens []token
	words  []*word // by token, nil for numbers
	// content lists the words that say something, in order; numbers the amounts,
	// services and values the closed classes.
	content  []*word
	numbers  []number
	weights  []float64 // of numbers, as Index.numberWeights gives them
	services uint8
	values   []classValue
	bigrams  []uint64
	// distinct holds each content word once.
	distinct []*word
	// counts are small numbers in words, as a bit set.
	counts uint32
}

// number is an amount with all the directions in which a text uses it.
type number struct {
	value float64
	unit  string
	// written is the value before its unit was applied.
	written float64
	// directions is a bit set of 1<<direction.
	directions uint8
}

// sameAmount compares values in their unit, or as written where only one side
// names a unit. A bare bound ("above 12") is a price, and no measure.
func (n number) sameAmount(o number) bool {
	if n.unit == money || o.unit == money {
		return n.sameMoney(o)
	}
	if n.unit == o.unit {
		return close(n.value, o.value)
	}
	return (n.unit == "" || o.unit == "") && close(n.written, o.written) && n.isBound() == o.isBound()
}

func close(a, b float64) bool {
	diff := a - b
	return diff == 0 || diff < 1e-9*a && diff > -1e-9*a
}

// services are the delivery terms that a request may ask for.
var services = map[string]uint8{"svccod": 1, "svcfree": 2, "svcmall": 4, "svcflash": 8}

var serviceNames = []string{"cash on delivery", "free shipping", "LazMall", "LazFlash"}

func newProfile(tokens []token, read func(string) *word) *profile {
	p := lookUp(tokens, read)
	p.gather()
	return p
}

// lookUp is a profile that has its tokens and words alone: what else there is of
// it is gathered of pieces where it is long.
func lookUp(tokens []token, read func(string) *word) *profile {
	p := &profile{tokens: tokens, words: make([]*word, len(tokens))}
	for i := range tokens {
		if !tokens[i].isNumber() {
			p.words[i] = read(tokens[i].text)
		}
	}
	return p
}

func (p *profile) part(from, to int) *profile {
	q := &profile{tokens: p.tokens[from:to], words: p.words[from:to]}
	q.gather()
	return q
}

func (p *profile) gather() {
	for i, t := range p.tokens {
		if t.isNumber() {
			p.addNumber(t)
			continue
		}
		w := p.words[i]
		p.services, p.counts = p.services|w.services, p.counts|w.counts
		for _, v := range w.classes {
			if !slices.Contains(p.values, v) && !p.refuses(i) {
				p.values = append(p.values, v)
			}
		}
		if w.content {
			p.content = append(p.content, w)
			if !slices.ContainsFunc(p.distinct, func(o *word) bool { return o.hash == w.hash }) {
				p.distinct = append(p.distinct, w)
			}
		}
	}
}

// refuses reports whether the word at i stands behind a "not", with nothing but
// words that say nothing between.
func (p *profile) refuses(i int) bool {
	l := words()
	for at := i - 1; at >= 0 && p.tokens[at+1].before == ' '; at-- {
		switch w := p.tokens[at].text; {
		case w == "not" || w == "isnt" || w == "arent" || w == "never":
			return true
		case !l.stop[w] || w == "but":
			return false
		}
	}
	return false
}

func (p *profile) counted(v float64) bool {
	return v >= 0 && v < 32 && v == math.Trunc(v) && p.counts&(1<<uint(v)) != 0
}

func (p *profile) addNumber(t token) {
	n := number{value: t.value, unit: t.unit, written: t.written}
	for i := range p.numbers {
		if p.numbers[i].sameAmount(n) {
			p.numbers[i].directions |= 1 << t.direction
			return
		}
	}
	n.directions = 1 << t.direction
	p.numbers = append(p.numbers, n)
}

// pairs are the hashes of neighbouring words, sorted, each once. They are made when
// they are first asked for: most texts are compared with no request.
func (p *profile) pairs() []uint64 {
	if p.bigrams != nil {
		return p.bigrams
	}
	var last uint64
	p.bigrams = make([]uint64, 0, len(p.words))
	for _, w := range p.words {
		if w == nil {
			continue
		}
		if last != 0 {
			p.bigrams = append(p.bigrams, last*31+w.hash)
		}
		last = w.hash
	}
	slices.Sort(p.bigrams)
	p.bigrams = slices.Compact(p.bigrams)
	return p.bigrams
}

func shared(a, b []uint64) int {
	i, j, n := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			n, i, j = n+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return n
}
