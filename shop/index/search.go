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

// MaxTerms is the maximum number of different terms in a query (Lucene's limit of clauses).
const MaxTerms = 1024

// ErrTooManyTerms is the error of a query with more than MaxTerms terms.
var ErrTooManyTerms = errors.New("more than 1024 different terms")

// Hit is one ranked document.
type Hit struct {
	Document uint32
	Score    float32
}

// Index is a search index that is open for reading. It is safe for concurrent use.
type Index struct {
	dictionary []byte
	terms      []byte
	norms      []byte
	postings   []byte
	// nonEmpty is the number of documents with at least one term.
	nonEmpty uint64
	// norm is BM25's length factor for each encoded document length.
	norm    [256]float32
	scratch sync.Pool
}

// Open returns the index in the sections of f, which Builder.Write wrote.
func Open(f *store.File) (*Index, error) {
	x := &Index{scratch: sync.Pool{New: func() any {
		return new(scratch)
	}}}
	var totals []byte
	for name, section := range map[string]*[]byte{
		"norms":      &x.norms,
		"totals":     &totals,
		"postings":   &x.postings,
		"dictionary": &x.dictionary,
		"terms":      &x.terms,
	} {
		var err error
		*section, err = f.Section(name)
		if err != nil {
			return nil, err
		}
	}
	if len(totals) != 16 || len(x.dictionary)%entryBytes != 0 {
		return nil, errors.New("open index: a section has the wrong size")
	}
	x.nonEmpty = binary.LittleEndian.Uint64(totals)
	x.norm = norms(x.nonEmpty, binary.LittleEndian.Uint64(totals[8:]))
	return x, nil
}

// Documents returns the number of documents in the index.
func (x *Index) Documents() int { return len(x.norms) }

// TermCount returns the number of different terms in the index.
func (x *Index) TermCount() int { return len(x.dictionary) / entryBytes }

// term returns the text of term i without copying it. It returns "" if the file is damaged, so that
// the text would not be within the section of terms.
func (x *Index) term(i int) string {
	start := binary.LittleEndian.Uint32(x.dictionary[i*entryBytes:])
	end := uint32(len(x.terms))
	if i+1 < x.TermCount() {
		end = binary.LittleEndian.Uint32(x.dictionary[(i+1)*entryBytes:])
	}
	if start > end || int(end) > len(x.terms) {
		return ""
	}
	return unsafe.String(unsafe.SliceData(x.terms[start:end]), int(end-start))
}

// find returns the number of documents with a term, and the postings (encoded document numbers)
// of the term. It returns 0 and nil if the index does not have the term or the file is damaged.
func (x *Index) find(term string) (documents int, code []byte) {
	n := x.TermCount()
	i := sort.Search(n, func(i int) bool {
		return x.term(i) >= term
	})
	if i == n || x.term(i) != term {
		return 0, nil
	}
	entry := x.dictionary[i*entryBytes:]
	start := binary.LittleEndian.Uint64(entry[8:])
	end := uint64(len(x.postings))
	if i+1 < n {
		end = binary.LittleEndian.Uint64(entry[entryBytes+8:])
	}
	if start > end || end > uint64(len(x.postings)) {
		return 0, nil
	}
	return int(binary.LittleEndian.Uint32(entry[4:])), x.postings[start:end]
}

// window is the number of documents that are scored at a time. It is so small that their sums of
// scores, of 8 bytes each, remain in the processor's cache.
const window = 1 << 13

// scratch is the working memory of one search. Later searches reuse it.
type scratch struct {
	sums [window]float64
	// touched has one bit for each document of the window. A bit is set if the document has a
	// term of the query.
	touched [window / 64]uint64
	cursors []cursor
	top     topHits
}

// Search returns the documents that have a term of the query, ordered by score and then by number. It
// returns the first limit hits and the number of all matching documents. The only error is
// ErrTooManyTerms.
func (x *Index) Search(query string, limit int) (hits []Hit, matches int, err error) {
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	s.cursors, err = x.appendCursors(s.cursors[:0], query)
	if err != nil {
		return nil, 0, err
	}
	s.top = topHits{
		limit:    limit,
		hits:     s.top.hits[:0],
		minScore: -1,
	}
	for {
		base, more := nextWindow(s.cursors)
		if !more {
			s.top.truncate()
			return slices.Clone(s.top.hits), matches, nil
		}
		x.score(s, base)
		matches += s.collect(base)
	}
}

// appendCursors appends a cursor (a reader of the documents with one term) for each distinct term
// of the query that the index has, placed at the term's first document. The only error is
// ErrTooManyTerms.
func (x *Index) appendCursors(cursors []cursor, query string) ([]cursor, error) {
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
		weight := float32(float32(counts[term]) * idf(documents, x.nonEmpty))
		c := cursor{
			code:   code,
			weight: weight,
			end:    uint32(len(x.norms)),
		}
		c.next()
		cursors = append(cursors, c)
	}
	return cursors, nil
}

// nextWindow returns the first document number of the next window (block of documents) in which
// a cursor has a document. more is false if all cursors are at their end.
func nextWindow(cursors []cursor) (base uint32, more bool) {
	next := uint32(math.MaxUint32)
	for i := range cursors {
		next = min(next, cursors[i].document)
	}
	return next &^ (window - 1), next != math.MaxUint32
}

// score adds the score of each query term to the sums of the documents in the window (block of
// documents) that starts at base. It moves the cursors past the window. The score of a term has
// 32 bits, a sum 64.
func (x *Index) score(s *scratch, base uint32) {
	end := base + window
	for i := range s.cursors {
		c := &s.cursors[i]
		w := c.weight
		for ; c.document < end; c.next() {
			i := c.document - base
			s.sums[i] += float64(w - w/(1+float32(float32(c.frequency)*x.norm[x.norms[c.document]])))
			s.touched[i>>6] |= 1 << (i & 63)
		}
	}
}

// collect adds the scored documents of the window that starts at base to the top hits, in
// ascending order, and clears the sums. It returns the number of these documents.
func (s *scratch) collect(base uint32) (matches int) {
	for i, word := range s.touched {
		s.touched[i] = 0
		matches += bits.OnesCount64(word)
		for ; word != 0; word &= word - 1 {
			document := uint32(i<<6 + bits.TrailingZeros64(word))
			s.top.push(Hit{base + document, float32(s.sums[document])})
			s.sums[document] = 0
		}
	}
	return matches
}

// cursor is a reader of the postings of one term: the documents in ascending order, each with
// the frequency of the term.
type cursor struct {
	code []byte
	// document is the number of the current document, math.MaxUint32 after the last one.
	document  uint32
	frequency uint32
	weight    float32
	// end is the number of documents in the index. Larger document numbers in a damaged file end
	// the postings.
	end uint32
}

// next moves to the next document with the term. After the last one, it sets document to
// math.MaxUint32.
func (c *cursor) next() {
	v, ok := c.uvarint()
	if !ok {
		return
	}
	document := uint64(c.document) + v>>1 // does not wrap, even if the file is damaged
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

// uvarint reads one integer from the encoded postings. If there is none, it returns false and
// moves the cursor to its end.
func (c *cursor) uvarint() (uint64, bool) {
	if len(c.code) > 0 && c.code[0] < 0x80 {
		v := uint64(c.code[0])
		c.code = c.code[1:]
		return v, true
	}
	v, n := binary.Uvarint(c.code)
	if n <= 0 {
		c.code = nil
		c.document = math.MaxUint32
		return 0, false
	}
	c.code = c.code[n:]
	return v, true
}
