package block

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/trajectory-arena/arena/corpus"
)

// Segment is a finished piece of an unfinished block: the results for consecutive records of a long
// input. A run that was killed in the midst of the input continues after the last segment.
type Segment struct {
	_ struct{} `cbor:",toarray"`
	// Run is the hash of everything that the results depend on, with the input and Version.
	Run string
	// IndexStart and BodiesStart are the sizes of the block's files before the segment, Index and
	// Bodies what the segment adds to them.
	IndexStart  int64
	BodiesStart int64
	Index       []byte
	Bodies      []byte
	// Entries is the number of entries of the segment, Findings what the guard found in them.
	Entries  int
	Findings Findings
	// Problems are the problems that no entry before the segment names, Items the ids that were looked
	// up in the catalogue.
	Problems []Reference
	Items    []string
}

// WriteSegment writes a segment to a file, after its checksum.
func WriteSegment(fsys corpus.FS, path string, s *Segment) error {
	return writeSummed(fsys, path, s)
}

// ReadSegment reads the segment in a file. The error is ErrDamaged if the file does not have its
// checksum, or if its results depend on something else than run.
func ReadSegment(fsys corpus.FS, path, run string) (*Segment, error) {
	s := &Segment{}
	err := readSummed(fsys, path, s)
	if err == nil && s.Run != run {
		err = fmt.Errorf("read %s: %w", path, ErrDamaged)
	}
	return s, err
}

// HasUnscored reports whether the block has attempts for which a judge gave no answer.
func (w *Writer) HasUnscored() bool { return w.unscored > 0 }

// Cut sets in s what was added to the files of the block since the last segment.
func (w *Writer) Cut(s *Segment) (err error) {
	s.IndexStart = w.cutIndex
	s.BodiesStart = w.cutBodies
	if s.Index, err = w.added(w.index, indexName, w.cutIndex); err != nil {
		return err
	}
	if s.Bodies, err = w.added(w.bodies, bodiesName, w.cutBodies); err != nil {
		return err
	}
	w.cutIndex = w.index.size()
	w.cutBodies = w.bodies.size()
	return nil
}

// added returns the bytes of a file of the block after the first start bytes.
func (w *Writer) added(f *bufferedFile, name string, start int64) ([]byte, error) {
	if err := f.Flush(); err != nil {
		return nil, err
	}
	src, err := w.fs.Open(filepath.Join(w.dir, name))
	if err != nil {
		return nil, err
	}
	b := make([]byte, f.size()-start)
	_, err = io.ReadFull(io.NewSectionReader(src, start, int64(len(b))), b)
	return b, errors.Join(err, src.Close())
}

// Continue adds a segment to the block, with the bytes that it had there. It reports false, and adds
// nothing, if the segment does not begin where the block ends.
func (w *Writer) Continue(s *Segment) (bool, error) {
	if s.IndexStart != w.index.size() || s.BodiesStart != w.bodies.size() {
		return false, nil
	}
	if _, err := w.index.Write(s.Index); err != nil {
		return false, err
	}
	if _, err := w.bodies.Write(s.Bodies); err != nil {
		return false, err
	}
	w.cutIndex = w.index.size()
	w.cutBodies = w.bodies.size()
	return true, nil
}
