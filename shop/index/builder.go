// Package index ranks short documents by BM25 exactly as the subnet's search
// engine does, down to the bits of the 32-bit score: Lucene's formula with
// Anserini's constants and one-byte lengths.
package index

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/trajectory-arena/arena/shop/analyzer"
	"github.com/trajectory-arena/arena/shop/store"
)

// Builder collects documents, which number themselves from 0 in the order of
// Add. The zero value is ready.
type Builder struct {
	terms map[string]*postings
	norms []byte
	total uint64
	// worded counts the documents that hold a term, the only ones that Lucene's
	// formula counts.
	worded uint64
	last   []*postings
}

// postings are one term's documents in ascending order: the distance to the
// one before, shifted left by one; the low bit says that the term occurs once,
// otherwise the frequency follows. Variable-length integers.
type postings struct {
	code      []byte
	last      uint32
	documents uint32
	// frequency counts in the document being added.
	frequency uint32
}

// Add indexes the next document.
func (x *Builder) Add(text string) {
	if x.terms == nil {
		x.terms = map[string]*postings{}
	}
	document := uint32(len(x.norms))
	length := uint32(0)
	x.last = x.last[:0]
	analyzer.Terms(text, func(term []byte) {
		length++
		p := x.terms[string(term)]
		if p == nil {
			p = &postings{}
			x.terms[string(term)] = p
		}
		if p.frequency == 0 {
			x.last = append(x.last, p)
		}
		p.frequency++
	})
	for _, p := range x.last {
		p.code = appendPosting(p.code, document-p.last, p.frequency)
		p.last, p.frequency = document, 0
		p.documents++
	}
	x.total += uint64(length)
	if length > 0 {
		x.worded++
	}
	x.norms = append(x.norms, lengthByte(length))
}

func appendPosting(code []byte, distance, frequency uint32) []byte {
	if frequency == 1 {
		return binary.AppendUvarint(code, uint64(distance)<<1|1)
	}
	return binary.AppendUvarint(binary.AppendUvarint(code, uint64(distance)<<1), uint64(frequency))
}

// Write writes the index as sections of z, unless ctx ends before that.
func (x *Builder) Write(ctx context.Context, z *zip.Writer) error {
	totals := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, x.worded), x.total)
	if err := errors.Join(store.Put(z, "norms", x.norms), store.Put(z, "totals", totals)); err != nil {
		return err
	}
	dict, text, err := x.writePostings(ctx, z)
	if err != nil {
		return fmt.Errorf("write postings: %w", err)
	}
	return errors.Join(store.Put(z, "dictionary", dict), store.Put(z, "terms", text))
}

// dictionaryEntry is the size of one term's entry: offset of its text (4
// bytes), documents (4), offset of its postings (8).
const dictionaryEntry = 16

// writePostings writes those of every term, in byte order, and gives the
// dictionary that finds them and the texts of the terms.
func (x *Builder) writePostings(ctx context.Context, z *zip.Writer) (dict, text []byte, err error) {
	w, err := store.Section(z, "postings")
	if err != nil {
		return nil, nil, err
	}
	at := uint64(0)
	for _, term := range slices.Sorted(maps.Keys(x.terms)) {
		p := x.terms[term]
		dict = binary.LittleEndian.AppendUint32(dict, uint32(len(text)))
		dict = binary.LittleEndian.AppendUint32(dict, p.documents)
		dict = binary.LittleEndian.AppendUint64(dict, at)
		text = append(text, term...)
		at += uint64(len(p.code))
		if _, err := w.Write(p.code); err != nil {
			return nil, nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	return dict, text, nil
}

// k1 and b are Anserini's defaults.
const (
	k1 = float32(0.9)
	b  = float32(0.4)
)

// exactLengths is how many of the smallest lengths have a byte of their own
// before the mantissa begins (Lucene, SmallFloat.intToByte4).
const exactLengths = 24

// lengthByte codes a document's length: exact up to 39, above with a mantissa
// of three bits, rounded down.
func lengthByte(n uint32) byte {
	if n < exactLengths {
		return byte(n)
	}
	e := n - exactLengths
	if e < 8 {
		return byte(exactLengths + e)
	}
	shift := bits.Len32(e) - 4
	return byte(exactLengths + (e>>shift)&7 + uint32(shift+1)<<3)
}

func byteLength(c byte) uint32 {
	if c < exactLengths+8 {
		return uint32(c)
	}
	i := uint32(c) - exactLengths
	return exactLengths + (i&7|8)<<(i>>3-1)
}

// norms is 1/(k1*((1-b)+b*len/avgdl)) for every length byte, evaluated in
// that order in 32 bits, for so many documents that hold a term. The conversions keep a compiler from fusing the
// product with the sum.
func norms(documents, totalTerms uint64) (t [256]float32) {
	average := float32(float64(totalTerms) / float64(documents))
	for c := range t {
		share := float32(b*float32(byteLength(byte(c)))) / average
		t[c] = 1 / float32(k1*((1-b)+share))
	}
	return t
}

// idf is ln(1+(N-n+0.5)/(n+0.5)) for n of N documents that hold a term.
func idf(n int, documents uint64) float32 {
	return float32(math.Log(1 + (float64(documents)-float64(n)+0.5)/(float64(n)+0.5)))
}

// best keeps the best hits: twice as many as are wanted at most, sorted whenever
// there are so many.
type best struct {
	limit int
	hits  []Hit
	// worst is the lowest score of the best once there are enough: what has none higher
	// ranks behind it, since it comes later. No score is below 0.
	worst float32
}

// ranking orders by score, the highest first, then by number: of equal scores the
// lower number is the better one.
func ranking(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document))
}

func (t *best) push(h Hit) {
	if h.Score <= t.worst {
		return
	}
	if t.hits = append(t.hits, h); len(t.hits) >= 2*t.limit {
		t.cut()
		t.worst = t.hits[t.limit-1].Score
	}
}

func (t *best) cut() {
	slices.SortFunc(t.hits, ranking)
	t.hits = t.hits[:min(t.limit, len(t.hits))]
}
