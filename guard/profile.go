package guard

import (
	"slices"
)

// profile is what a stretch of a request asks for.
type profile struct {
	tokens []token
	words  []*word // by token, nil for numbers
	// content lists the words that say something, in order; numbers and codes the
	// amounts; services and values the closed classes.
	content  []*word
	numbers  []number
	services uint8
	values   []classValue
	bigrams  []uint64
	// pairs are the stems that neighbours make together. counts are small numbers
	// in words; negations counts "without" and its like.
	pairs     []string
	counts    map[float64]bool
	negations int
}

// number is an amount with all the directions in which a text uses it.
type number struct {
	value float64
	unit  string
	// written is the value before its unit was applied.
	written float64
	// directions is a bit set of 1<<direction; codes are the letters before it.
	directions uint8
	code       string
}

// sameAmount compares values in their unit, or as written where only one side
// names a unit.
func (n number) sameAmount(o number) bool {
	if n.unit == o.unit {
		return close(n.value, o.value)
	}
	return (n.unit == "" || o.unit == "") && close(n.written, o.written)
}

func close(a, b float64) bool {
	diff := a - b
	return diff == 0 || diff < 1e-9*a && diff > -1e-9*a
}

// services are the delivery terms that a request may ask for.
var services = map[string]uint8{"svccod": 1, "svcfree": 2, "svcmall": 4, "svcflash": 8}

var serviceNames = []string{"cash on delivery", "free shipping", "LazMall", "LazFlash"}

// newProfile reads tokens whose words are looked up by read.
func newProfile(tokens []token, read func(string) *word) *profile {
	p := &profile{tokens: tokens, words: make([]*word, len(tokens))}
	for i := range tokens {
		if !tokens[i].isNumber() {
			p.words[i] = read(tokens[i].text)
		}
	}
	p.gather()
	return p
}

// part is the profile of a stretch of p's tokens.
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
		p.services |= services[t.text]
		p.noteCount(t)
		if negations[t.text] {
			p.negations++
		}
		if i > 0 && p.words[i-1] != nil {
			p.pairs = append(p.pairs, stem(p.tokens[i-1].text+t.text))
		}
		for _, v := range w.classes {
			if !slices.Contains(p.values, v) {
				p.values = append(p.values, v)
			}
		}
		if w.content {
			p.content = append(p.content, w)
		}
	}
	p.gatherBigrams()
}

var negations = map[string]bool{"without": true, "no": true, "not": true, "non": true, "never": true, "nothing": true, "free": true}

func (p *profile) noteCount(t token) {
	if v, is := words().numerals[t.text]; is {
		if p.counts == nil {
			p.counts = map[float64]bool{}
		}
		p.counts[float64(v)] = true
	}
}

func (p *profile) addNumber(t token) {
	n := number{value: t.value, unit: t.unit, written: t.written, code: t.code}
	for i := range p.numbers {
		if p.numbers[i].sameAmount(n) {
			p.numbers[i].directions |= 1 << t.direction
			return
		}
	}
	n.directions = 1 << t.direction
	p.numbers = append(p.numbers, n)
}

func (p *profile) gatherBigrams() {
	var last uint64
	for _, w := range p.words {
		if w == nil {
			continue
		}
		h := hashStem(w.stem)
		if last != 0 {
			p.bigrams = append(p.bigrams, last*31+h)
		}
		last = h
	}
	slices.Sort(p.bigrams)
	p.bigrams = slices.Compact(p.bigrams)
}

// hashStem is FNV-1a.
func hashStem(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// shared counts the values that two sorted lists have in common.
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
