package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/trajectory-arena/arena/shop/analyzer"
	"github.com/trajectory-arena/arena/shop/store"
)

// Builder collects documents, which number themselves from 0 in the order of
// Add. Its memory is bounded: postings beyond the budget go to files that are
// merged at the end.
type Builder struct {
	budget int
	used   int
	terms  map[string]*postings
	norms  []byte
	total  uint64
	// worded counts the documents that hold a term, the only ones that Lucene's
	// formula counts.
	worded uint64
	last   []*postings
	runs   []*run
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

// perTerm is about what a term costs beside its postings: map entry, string
// and struct.
const perTerm = 128

// NewBuilder makes a builder that holds about budget bytes of postings in
// memory before it puts them aside.
func NewBuilder(budget int) *Builder {
	return &Builder{budget: budget, terms: map[string]*postings{}}
}

// Add indexes the next document.
func (x *Builder) Add(text string) error {
	document := uint32(len(x.norms))
	length := uint32(0)
	x.last = x.last[:0]
	analyzer.Terms(text, func(term []byte) {
		length++
		p := x.terms[string(term)]
		if p == nil {
			p = &postings{}
			x.terms[string(term)] = p
			x.used += perTerm + len(term)
		}
		if p.frequency == 0 {
			x.last = append(x.last, p)
		}
		p.frequency++
	})
	for _, p := range x.last {
		before := len(p.code)
		p.add(document)
		x.used += len(p.code) - before
	}
	x.total += uint64(length)
	if length > 0 {
		x.worded++
	}
	x.norms = append(x.norms, lengthByte(length))
	if x.used > x.budget {
		return x.spill()
	}
	return nil
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

// spill puts the postings at hand into a file of their own.
func (x *Builder) spill() error {
	f, err := os.CreateTemp("", "arena-index-*")
	if err != nil {
		return fmt.Errorf("put postings aside: %w", err)
	}
	r := &run{file: f}
	x.runs = append(x.runs, r)
	if err := r.write(x.terms); err != nil {
		return fmt.Errorf("put postings aside: %w", err)
	}
	x.terms, x.used = map[string]*postings{}, 0
	return nil
}

// Write writes the index as sections of w, unless ctx ends before that, and ends
// the builder.
func (x *Builder) Write(ctx context.Context, w *store.Writer) (err error) {
	defer func() { err = errors.Join(err, x.Close()) }()
	if len(x.runs) > 0 {
		if err = x.spill(); err != nil {
			return err
		}
	}
	for _, s := range []struct {
		name string
		data []byte
	}{{"norms", x.norms}, {"totals", binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, x.worded), x.total)}} {
		if err = section(w, s.name, s.data); err != nil {
			return err
		}
	}
	dict, text, err := x.writePostings(ctx, w)
	if err != nil {
		return err
	}
	return errors.Join(section(w, "dictionary", dict), section(w, "terms", text))
}

func section(w *store.Writer, name string, data []byte) error {
	if err := w.Section(name); err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("write section %s: %w", name, err)
	}
	return nil
}

// dictionaryEntry is the size of one term's entry: offset of its text (4
// bytes), documents (4), offset of its postings (8).
const dictionaryEntry = 16

func (x *Builder) writePostings(ctx context.Context, w *store.Writer) (dict, text []byte, err error) {
	if err := w.Section("postings"); err != nil {
		return nil, nil, err
	}
	var at uint64
	put := func(term string, p *postings) error {
		dict = binary.LittleEndian.AppendUint32(dict, uint32(len(text)))
		dict = binary.LittleEndian.AppendUint32(dict, p.documents)
		dict = binary.LittleEndian.AppendUint64(dict, at)
		text = append(text, term...)
		at += uint64(len(p.code))
		_, err := w.Write(p.code)
		return errors.Join(ctx.Err(), err)
	}
	if err := x.eachTerm(put); err != nil {
		return nil, nil, fmt.Errorf("write postings: %w", err)
	}
	return dict, text, nil
}

// eachTerm calls put with every term in byte order.
func (x *Builder) eachTerm(put func(string, *postings) error) error {
	if len(x.runs) > 0 {
		return merge(x.runs, put)
	}
	for _, term := range sortedTerms(x.terms) {
		if err := put(term, x.terms[term]); err != nil {
			return err
		}
	}
	return nil
}

func sortedTerms(terms map[string]*postings) []string {
	names := make([]string, 0, len(terms))
	for t := range terms {
		names = append(names, t)
	}
	slices.Sort(names)
	return names
}

// Close removes the files put aside. Write does so too.
func (x *Builder) Close() error {
	var errs []error
	for _, r := range x.runs {
		errs = append(errs, r.file.Close(), os.Remove(r.file.Name()))
	}
	x.runs = nil
	return errors.Join(errs...)
}
