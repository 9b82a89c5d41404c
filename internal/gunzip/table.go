package gunzip

import "math/bits"

// entry says what the next bits mean. Its low byte is how many bits it takes,
// those of the code and the extra bits after it; the next byte how many of them
// are the code's.
//
//	literal    the byte in bits 16 to 23
//	value      of a length or distance: its base in bits 16 to 30
//	link       to a second table: where it starts in bits 16 to 30, and, in
//	           place of the code's bits, how many bits index it
//	end        of the block
//	invalid    no code
type entry uint32

const (
	literal entry = 1 << 31
	special entry = 1 << 15
	link          = special | 1<<14
	end           = special | 1<<13
	invalid       = special
)

func (e entry) take() uint      { return uint(e & 0xff) }
func (e entry) code() uint      { return uint(e >> 8 & 0x1f) }
func (e entry) base() int       { return int(e >> 16) }
func (e entry) is(k entry) bool { return e&(special|1<<14|1<<13) == k }

// value is what an entry of a length or distance means with its extra bits.
func (e entry) value(ahead uint64) int {
	return e.base() + int(ahead&(1<<(e&63)-1)>>(e>>8&31))
}

const (
	longestCode = 15
	maxSymbols  = 288
	// lengthBits and distanceBits are how many bits a first look takes: codes
	// beyond them are rare in text.
	lengthBits   = 11
	distanceBits = 10
	// ample is more than the entries that any complete code of so many symbols
	// needs for both looks: 2,340 for lengths and 1,092 for distances, by an
	// enumeration of the codes as zlib's enough.c does it.
	ample = 1 << 12
)

type table [ample]entry

// What the symbols of the alphabets mean, with their extra bits (RFC 1951,
// 3.2.5).
var (
	lengthSymbols   = lengths()
	distanceSymbols = distances()
	countSymbols    = counts()
)

func lengths() []entry {
	out := make([]entry, maxSymbols)
	for i := range 256 {
		out[i] = literal | entry(i)<<16
	}
	out[256] = end
	base := entry(3)
	for i := range 28 {
		extra := entry(max(0, i/4-1))
		out[257+i] = base<<16 | extra
		base += 1 << extra
	}
	out[285] = 258 << 16
	out[286], out[287] = invalid, invalid
	return out
}

func distances() []entry {
	out := make([]entry, 32)
	base := entry(1)
	for i := range 30 {
		extra := entry(max(0, i/2-1))
		out[i] = base<<16 | extra
		base += 1 << extra
	}
	out[30], out[31] = invalid, invalid
	return out
}

// counts is the alphabet in which code lengths are written.
func counts() []entry {
	out := make([]entry, 19)
	for i := range out {
		out[i] = entry(i) << 16
	}
	return out
}

// build fills the table of a canonical Huffman code, given by the length of
// each symbol's code in bits; 0 is none. It is false for lengths that are no
// complete code, but for the code of no symbol and that of one of one bit.
func (t *table) build(size []uint8, symbols []entry, first uint) bool {
	var count [longestCode + 1]int
	for _, n := range size {
		count[n]++
	}
	if !complete(&count) {
		return false
	}
	for i := range 1 << first {
		t[i] = invalid
	}
	second := links{table: t, first: first, free: 1 << first, left: count}
	code, before := uint32(0), uint8(0)
	var order [maxSymbols]uint16
	for _, s := range byLength(size, &count, &order) {
		n := size[s]
		code <<= n - before
		t.place(&second, uint(bits.Reverse32(code)>>(32-n)), uint(n), symbols[s])
		code, before = code+1, n
	}
	return true
}

// place enters one code, whose first bit is lowest.
func (t *table) place(second *links, code, n uint, symbol entry) {
	if n <= second.first {
		spread(t[:1<<second.first], code, n, symbol)
	} else {
		second.add(code, n, symbol)
	}
	second.left[n]--
}

// complete reports whether codes of these lengths leave no bits without meaning.
func complete(count *[longestCode + 1]int) bool {
	space, total := 0, 0
	for n := 1; n <= longestCode; n++ {
		space += count[n] << (longestCode - n)
		total += count[n]
	}
	return space == 1<<longestCode || total == 0 || total == 1 && count[1] == 1
}

// byLength lists the symbols that have a code, shorter codes first.
func byLength(size []uint8, count *[longestCode + 1]int, order *[maxSymbols]uint16) []uint16 {
	var at [longestCode + 2]int
	for n := 1; n <= longestCode; n++ {
		at[n+1] = at[n] + count[n]
	}
	total := at[longestCode+1]
	for s, n := range size {
		if n > 0 {
			order[at[n]] = uint16(s)
			at[n]++
		}
	}
	return order[:total]
}

// spread puts a code of n bits at every place that ends with it.
func spread(part []entry, code, n uint, symbol entry) {
	e := symbol&^0xff | entry(n)<<8 | (symbol&0xff + entry(n))
	for i := code; i < uint(len(part)); i += 1 << n {
		part[i] = e
	}
}

// links makes the tables for second looks. Codes come shortest first, so those
// that share their first bits come together.
type links struct {
	table *table
	first uint
	free  int
	// left counts the codes of each length that are still to come.
	left   [longestCode + 1]int
	part   []entry
	prefix uint
}

func (l *links) add(code, n uint, symbol entry) {
	prefix := code & (1<<l.first - 1)
	if l.part == nil || prefix != l.prefix {
		l.open(prefix, n)
	}
	spread(l.part, code>>l.first, n-l.first, symbol)
}

// open starts the table of the codes that begin with prefix, the shortest of
// which has n bits: as large as the longest of them needs.
func (l *links) open(prefix, n uint) {
	width := n - l.first
	for room := l.left[n]; room < 1<<width && l.first+width < longestCode; {
		width++
		room = room<<1 + l.left[l.first+width]
	}
	l.part, l.prefix = l.table[l.free:l.free+1<<width], prefix
	l.table[prefix] = link | entry(l.free)<<16 | entry(width)<<8 | entry(l.first)
	l.free += 1 << width
}
