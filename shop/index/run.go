package index

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// run is a file of postings put aside, terms in byte order. An entry is: length
// of the term, term, documents, last document, length of the code, code. The
// first distance of a code counts from document 0.
type run struct {
	file *os.File
	in   *bufio.Reader
	// term and postings are the entry at hand; done is set after the last.
	term     string
	postings postings
	done     bool
}

// runBuffer is read and written at a time; a merge holds one per run.
const runBuffer = 256 << 10

func (r *run) write(terms map[string]*postings) error {
	out := bufio.NewWriterSize(r.file, runBuffer)
	var head []byte
	for _, term := range sortedTerms(terms) {
		p := terms[term]
		head = binary.AppendUvarint(head[:0], uint64(len(term)))
		head = append(head, term...)
		for _, n := range []int{int(p.documents), int(p.last), len(p.code)} {
			head = binary.AppendUvarint(head, uint64(n))
		}
		if _, err := out.Write(head); err != nil {
			return err
		}
		if _, err := out.Write(p.code); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (r *run) rewind() error {
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r.in = bufio.NewReaderSize(r.file, runBuffer)
	return r.next()
}

// next reads the next entry.
func (r *run) next() error {
	size, err := binary.ReadUvarint(r.in)
	if errors.Is(err, io.EOF) {
		r.done = true
		return nil
	}
	if err != nil {
		return err
	}
	term := make([]byte, size)
	if _, err = io.ReadFull(r.in, term); err != nil {
		return err
	}
	var head [3]uint64
	for i := range head {
		if head[i], err = binary.ReadUvarint(r.in); err != nil {
			return err
		}
	}
	if head[0] > math.MaxUint32 || head[1] > math.MaxUint32 {
		return errors.New("an entry out of range")
	}
	r.term = string(term)
	r.postings = postings{documents: uint32(head[0]), last: uint32(head[1]), code: make([]byte, head[2])}
	_, err = io.ReadFull(r.in, r.postings.code)
	return err
}

// merge calls put with every term of the runs in byte order, its postings
// joined. Later runs hold later documents.
func merge(runs []*run, put func(string, *postings) error) error {
	for _, r := range runs {
		if err := r.rewind(); err != nil {
			return fmt.Errorf("read postings put aside: %w", err)
		}
	}
	for {
		term, any := leastTerm(runs)
		if !any {
			return nil
		}
		joined := &postings{}
		for _, r := range runs {
			if r.done || r.term != term {
				continue
			}
			joined.join(&r.postings)
			if err := r.next(); err != nil {
				return fmt.Errorf("read postings put aside: %w", err)
			}
		}
		if err := put(term, joined); err != nil {
			return err
		}
	}
}

func leastTerm(runs []*run) (term string, any bool) {
	for _, r := range runs {
		if !r.done && (!any || r.term < term) {
			term, any = r.term, true
		}
	}
	return term, any
}

// join appends later postings, whose first distance counts from 0.
func (p *postings) join(later *postings) {
	first, n := binary.Uvarint(later.code)
	distance := uint32(first>>1) - p.last
	p.code = binary.AppendUvarint(p.code, uint64(distance)<<1|first&1)
	p.code = append(p.code, later.code[n:]...)
	p.last = later.last
	p.documents += later.documents
}
