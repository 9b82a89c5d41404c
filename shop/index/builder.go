// Package index ranks short documents by BM25 with the same 32-bit scores as the subnet's search
// engine. It uses Lucene's formula with Anserini's constants and document lengths in one byte.
package index

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/shop/analyzer"
	"github.com/trajectory-arena/arena/shop/store"
)

// Builder builds an index. Documents are numbered from 0 in the order of Add. The zero value is
// ready for use.
type Builder struct {
	terms map[string]*postings
	// norms is the encoded length of each document in one byte.
	norms      []byte
	totalTerms uint64
	// nonEmpty is the number of documents with at least one term. Lucene's formula ignores all
	// others.
	nonEmpty uint64
	// current are the postings of the terms of the document that is being added.
	current []*postings
}

// postings are the numbers of the documents that contain one term, in ascending order, encoded as
// variable-length integers. Each number is written as its difference from the previous one, shifted
// left by one bit. The low bit is set if the term occurs once in the document. Otherwise the number
// of occurrences follows.
type postings struct {
	code      []byte
	last      uint32
	documents uint32
	// frequency is the number of occurrences of the term in the document that is being added.
	frequency uint32
}

// Add adds the next document to the index.
func (x *Builder) Add(text string) {
	if x.terms == nil {
		x.terms = map[string]*postings{}
	}
	document := uint32(len(x.norms))
	length := uint32(0)
	x.current = x.current[:0]
	analyzer.Terms(text, func(term []byte) {
		length++
		p := x.terms[string(term)]
		if p == nil {
			p = &postings{}
			x.terms[string(term)] = p
		}
		if p.frequency == 0 {
			x.current = append(x.current, p)
		}
		p.frequency++
	})
	for _, p := range x.current {
		p.code = appendPosting(p.code, document-p.last, p.frequency)
		p.last = document
		p.frequency = 0
		p.documents++
	}
	x.totalTerms += uint64(length)
	if length > 0 {
		x.nonEmpty++
	}
	x.norms = append(x.norms, lengthByte(length))
}

func appendPosting(code []byte, distance, frequency uint32) []byte {
	if frequency == 1 {
		return binary.AppendUvarint(code, uint64(distance)<<1|1)
	}
	code = binary.AppendUvarint(code, uint64(distance)<<1)
	return binary.AppendUvarint(code, uint64(frequency))
}

// Write writes the index as sections of z. It stops if ctx is done.
func (x *Builder) Write(ctx context.Context, z *zip.Writer) error {
	var totals []byte
	totals = binary.LittleEndian.AppendUint64(totals, x.nonEmpty)
	totals = binary.LittleEndian.AppendUint64(totals, x.totalTerms)
	if err := store.WriteSection(z, "norms", x.norms); err != nil {
		return err
	}
	if err := store.WriteSection(z, "totals", totals); err != nil {
		return err
	}
	dictionary, text, err := x.writePostings(ctx, z)
	if err != nil {
		return fmt.Errorf("write postings: %w", err)
	}
	if err := store.WriteSection(z, "dictionary", dictionary); err != nil {
		return err
	}
	return store.WriteSection(z, "terms", text)
}

// entryBytes is the size in bytes of a term's entry in the dictionary of the index: the offset of
// its text (4), the number of documents (4) and the offset of its list of documents (8).
const entryBytes = 16

// writePostings writes to z, for each term, the encoded numbers of the documents that contain it
// (postings), in the bytewise order of the terms. It returns the dictionary, with an entry for each
// term, and the joined texts of the terms.
func (x *Builder) writePostings(ctx context.Context, z *zip.Writer) (dictionary, text []byte, err error) {
	w, err := store.CreateSection(z, "postings")
	if err != nil {
		return nil, nil, err
	}
	offset := uint64(0)
	for _, term := range slicesx.SortedKeys(x.terms) {
		p := x.terms[term]
		dictionary = binary.LittleEndian.AppendUint32(dictionary, uint32(len(text)))
		dictionary = binary.LittleEndian.AppendUint32(dictionary, p.documents)
		dictionary = binary.LittleEndian.AppendUint64(dictionary, offset)
		text = append(text, term...)
		offset += uint64(len(p.code))
		if _, err := w.Write(p.code); err != nil {
			return nil, nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	return dictionary, text, nil
}

// The parameters of BM25: k1 limits the weight of a term's frequency, b is the weight of the
// document's length. Both are Anserini's defaults.
const (
	k1 = float32(0.9)
	b  = float32(0.4)
)

// exactLengths is the number of terms below which lengthByte encodes the length of a document as
// itself. From a longer length it subtracts this number and encodes the remainder as a mantissa and
// an exponent, like Lucene's SmallFloat.intToByte4.
const exactLengths = 24

// lengthByte encodes the number of terms in a document in one byte. Numbers up to 39 are exact; of
// larger ones the part above 24 is rounded down to four significant bits.
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

// byteLength decodes the result of lengthByte. Several numbers of terms may have the same code c;
// it returns the smallest of them.
func byteLength(c byte) uint32 {
	if c < exactLengths+8 {
		return uint32(c)
	}
	i := uint32(c) - exactLengths
	return exactLengths + (i&7|8)<<(i>>3-1)
}

// norms returns, for each encoded document length, the factor 1/(k1*((1-b)+b*len/avgdl)) of BM25,
// the formula that ranks search results. len is the decoded length, and avgdl is
// totalTerms/documents, the average length of documents that are not empty. The operations are in
// this order and in 32 bits; conversions prevent fused multiply-add.
func norms(documents, totalTerms uint64) (t [256]float32) {
	average := float32(float64(totalTerms) / float64(documents))
	for c := range t {
		ratio := float32(b*float32(byteLength(byte(c)))) / average
		t[c] = 1 / float32(k1*((1-b)+ratio))
	}
	return t
}

// idf returns the inverse document frequency ln(1+(N-n+0.5)/(n+0.5)) of a term that n of N
// documents have.
func idf(n int, documents uint64) float32 {
	return float32(math.Log(1 + (float64(documents)-float64(n)+0.5)/(float64(n)+0.5)))
}

// topHits collects the hits with the best scores. When it has 2*limit hits, it sorts them and drops
// the second half.
type topHits struct {
	limit int
	hits  []Hit
	// minScore is the score that a new hit must exceed: -1 before the first sort, then the
	// lowest of the best limit scores. Documents are added in order, so a later hit with an
	// equal score ranks lower.
	minScore float32
}

// compareHits orders hits by descending score, and hits with equal scores by document number.
func compareHits(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Document, b.Document))
}

func (t *topHits) push(h Hit) {
	if h.Score <= t.minScore {
		return
	}
	t.hits = append(t.hits, h)
	if len(t.hits) >= 2*t.limit {
		t.truncate()
		t.minScore = t.hits[t.limit-1].Score
	}
}

// truncate sorts the hits, the best first, and drops those after the first t.limit.
func (t *topHits) truncate() {
	slices.SortFunc(t.hits, compareHits)
	t.hits = t.hits[:min(t.limit, len(t.hits))]
}
