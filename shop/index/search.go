package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"github.com/trajectory-arena/arena/shop/analyzer"
	"github.com/trajectory-arena/arena/shop/store"
)

// MaxTerms is how many different terms a query may have (Lucene's limit of
// clauses).
const MaxTerms = 1024

// ErrTooManyTerms is the error for a query beyond MaxTerms.
var ErrTooManyTerms = errors.New("more than 1024 different terms")

// Hit is one ranked document.
type Hit struct {
	Document uint32
	Score    float32
}

// Index answers queries. It is safe for concurrent use.
type Index struct {
	dictionary []byte
	terms      []byte
	norms      []byte
	postings   []byte
	// worded is how many documents hold a term.
	worded  uint64
	norm    [256]float32
	scratch sync.Pool
}

// Open reads the sections that Builder.Write wrote.
func Open(f *store.File) (*Index, error) {
	x := &Index{scratch: sync.Pool{New: func() any { return new(scratch) }}}
	var totals []byte
	for name, to := range map[string]*[]byte{
		"norms": &x.norms, "totals": &totals, "postings": &x.postings, "dictionary": &x.dictionary, "terms": &x.terms,
	} {
		var err error
		if *to, err = f.Section(name); err != nil {
			return nil, err
		}
	}
	if len(totals) != 16 || len(x.dictionary)%dictionaryEntry != 0 {
		return nil, errors.New("open index: a section has the wrong size")
	}
	x.worded = binary.LittleEndian.Uint64(totals)
	x.norm = norms(x.worded, binary.LittleEndian.Uint64(totals[8:]))
	return x, nil
}

// Documents is how many documents the index holds.
func (x *Index) Documents() int { return len(x.norms) }

// TermCount is how many different terms the index holds.
func (x *Index) TermCount() int { return len(x.dictionary) / dictionaryEntry }

func (x *Index) text(i int) string {
	from, to := binary.LittleEndian.Uint32(x.dictionary[i*dictionaryEntry:]), uint32(len(x.terms))
	if i+1 < x.TermCount() {
		to = binary.LittleEndian.Uint32(x.dictionary[(i+1)*dictionaryEntry:])
	}
	if from > to || int(to) > len(x.terms) {
		return ""
	}
	return unsafe.String(unsafe.SliceData(x.terms[from:to]), int(to-from))
}

func (x *Index) find(term string) (documents int, code []byte) {
	n := x.TermCount()
	i := sort.Search(n, func(i int) bool { return x.text(i) >= term })
	if i == n || x.text(i) != term {
		return 0, nil
	}
	e := x.dictionary[i*dictionaryEntry:]
	from, to := binary.LittleEndian.Uint64(e[8:]), uint64(len(x.postings))
	if i+1 < n {
		to = binary.LittleEndian.Uint64(e[dictionaryEntry+8:])
	}
	if from > to || to > uint64(len(x.postings)) {
		return 0, nil
	}
	return int(binary.LittleEndian.Uint32(e[4:])), x.postings[from:to]
}

// window is how many documents are scored at a time: 8 bytes each fit the
// first-level cache.
const window = 1 << 13

type scratch struct {
	sums    [window]float64
	touched [window / 64]uint64
	cursors []cursor
	best    best
}

// Search ranks the documents that hold any term of the query and gives the
// best limit of them: by score, then by number. matches counts all of them.
// The one error is ErrTooManyTerms.
func (x *Index) Search(query string, limit int) (hits []Hit, matches int, err error) {
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	if s.cursors, err = x.open(query, s.cursors[:0]); err != nil {
		return nil, 0, err
	}
	s.best = best{limit: limit, hits: s.best.hits[:0], worst: -1}
	for {
		base, more := nextWindow(s.cursors)
		if !more {
			s.best.cut()
			return slices.Clone(s.best.hits), matches, nil
		}
		x.score(s, base)
		matches += s.collect(base)
	}
}

// open makes one cursor per different term that the index holds.
func (x *Index) open(query string, cursors []cursor) ([]cursor, error) {
	counts := map[string]int{}
	var order []string
	analyzer.Terms(query, func(term []byte) {
		if counts[string(term)]++; counts[string(term)] == 1 {
			order = append(order, string(term))
		}
	})
	if len(order) > MaxTerms {
		return nil, fmt.Errorf("search: %w", ErrTooManyTerms)
	}
	for _, term := range order {
		documents, code := x.find(term)
		if documents == 0 {
			continue
		}
		c := cursor{code: code, weight: float32(float32(counts[term]) * idf(documents, x.worded)), end: uint32(len(x.norms))}
		c.next()
		cursors = append(cursors, c)
	}
	return cursors, nil
}

func nextWindow(cursors []cursor) (base uint32, more bool) {
	least := uint32(math.MaxUint32)
	for i := range cursors {
		least = min(least, cursors[i].document)
	}
	return least &^ (window - 1), least != math.MaxUint32
}

// score adds up the window's documents: every term's score in 32 bits, the sum
// in 64.
func (x *Index) score(s *scratch, base uint32) {
	end := base + window
	for i := range s.cursors {
		c := &s.cursors[i]
		w := c.weight
		for ; c.document < end; c.next() {
			at := c.document - base
			s.sums[at] += float64(w - w/(1+float32(float32(c.frequency)*x.norm[x.norms[c.document]])))
			s.touched[at>>6] |= 1 << (at & 63)
		}
	}
}

// collect hands the window's documents over in ascending order and clears it.
func (s *scratch) collect(base uint32) (matches int) {
	for i, word := range s.touched {
		s.touched[i] = 0
		matches += bits.OnesCount64(word)
		for ; word != 0; word &= word - 1 {
			at := uint32(i<<6 + bits.TrailingZeros64(word))
			s.best.push(Hit{base + at, float32(s.sums[at])})
			s.sums[at] = 0
		}
	}
	return matches
}

type cursor struct {
	code []byte
	// document is math.MaxUint32 after the last.
	document  uint32
	frequency uint32
	weight    float32
	// end is the number of documents: a damaged file cannot lead beyond it.
	end uint32
}

func (c *cursor) next() {
	v, ok := c.uvarint()
	if !ok {
		return
	}
	document := uint64(c.document) + v>>1 // no wrap: a damaged file cannot lead back
	c.frequency = 1
	if v&1 == 0 {
		f, ok := c.uvarint()
		if !ok {
			return
		}
		c.frequency = uint32(f)
	}
	c.document = uint32(min(document, math.MaxUint32))
	if c.document >= c.end {
		c.document = math.MaxUint32
	}
}

func (c *cursor) uvarint() (uint64, bool) {
	if len(c.code) > 0 && c.code[0] < 0x80 {
		v := uint64(c.code[0])
		c.code = c.code[1:]
		return v, true
	}
	v, n := binary.Uvarint(c.code)
	if n <= 0 {
		c.code, c.document = nil, math.MaxUint32
		return 0, false
	}
	c.code = c.code[n:]
	return v, true
}
