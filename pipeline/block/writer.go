package block

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"path/filepath"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Writer makes one block. It belongs to one goroutine. Nothing of a block is
// read before Close wrote its marker.
type Writer struct {
	fs       corpus.FS
	dir      string
	key      Key
	index    *output
	bodies   *output
	coder    coder
	unscored int
}

// Create starts the block in dir, removing what an earlier run left there.
func Create(fsys corpus.FS, dir string, key Key) (*Writer, error) {
	if err := corpus.Empty(fsys, dir); err != nil {
		return nil, err
	}
	index, err := create(fsys, filepath.Join(dir, indexName))
	if err != nil {
		return nil, err
	}
	bodies, err := create(fsys, filepath.Join(dir, bodiesName))
	if err != nil {
		return nil, errors.Join(err, index.file.File.Close())
	}
	return &Writer{fs: fsys, dir: dir, key: key, index: index, bodies: bodies}, nil
}

// Add writes an entry, with its draft where it may become a training row.
func (w *Writer) Add(x *Entry, d *Draft) error {
	if d != nil {
		if err := w.addBody(x, d); err != nil {
			return err
		}
	}
	found := x.Found
	found.Structure.Verdicts, found.Structure.Features = nil, nil
	b, err := w.coder.pack(&x.Head, &found, &x.Sample, &x.Structure)
	if err != nil {
		return err
	}
	if x.Fault == nil && (unscored(&x.Judgement) || unscored(&x.StepJudgement)) {
		w.unscored++
	}
	_, err = w.index.Write(binary.AppendUvarint(nil, uint64(len(b))))
	if err == nil {
		_, err = w.index.Write(b)
	}
	return err
}

func unscored(j *arena.Judgement) bool { return j.Outcome != arena.JudgeScored && j.Outcome != "" }

func (w *Writer) addBody(x *Entry, d *Draft) error {
	b, err := w.coder.pack(d)
	if err != nil {
		return err
	}
	x.Body.Offset, x.Body.Packed, x.Body.Bytes = w.bodies.size(), int64(len(b)), d.Size()
	x.Body.CRC = crc32.Checksum(b, castagnoli)
	_, err = w.bodies.Write(b)
	return err
}

// Close makes the block durable and then usable.
func (w *Writer) Close() error {
	if err := errors.Join(w.bodies.close(), w.index.close()); err != nil {
		return err
	}
	m := marker{Version: Version, Key: w.key, Unscored: w.unscored,
		IndexSHA256: w.index.file.SHA256(), BodiesBytes: w.bodies.size()}
	return corpus.WriteJSON(w.fs, filepath.Join(w.dir, markerName), m)
}

// Abort closes the block's files; without a marker they count for nothing.
func (w *Writer) Abort() {
	_ = w.index.file.File.Close()  // the caller has the error that led here
	_ = w.bodies.file.File.Close() // likewise
}

type output struct {
	*bufio.Writer
	file *corpus.Output
}

func create(fsys corpus.FS, path string) (*output, error) {
	f, err := corpus.Create(fsys, path)
	return &output{bufio.NewWriterSize(f, 1<<18), f}, err
}

// size counts what is still on its way to the file, too.
func (o *output) size() int64 { return o.file.N + int64(o.Buffered()) }

func (o *output) close() error { return errors.Join(o.Flush(), o.file.Close()) }
