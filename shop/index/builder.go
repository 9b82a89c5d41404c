package index

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
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
		p.add(document)
	}
	x.total += uint64(length)
	if length > 0 {
		x.worded++
	}
	x.norms = append(x.norms, lengthByte(length))
}

func (p *postings) add(document uint32) {
	p.code = appendPosting(p.code, document-p.last, p.frequency)
	p.last, p.frequency = document, 0
	p.documents++
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
