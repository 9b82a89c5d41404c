package block

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/s2"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/filters"
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
	b, err := w.coder.pack(&x.Head, &found, &x.Sample, &found.Structure, filters.EncodeValues(&x.Structure))
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

// errShort is what a frame that is cut off, or larger than any that is written, is
// refused with.
var errShort = errors.New("frame is cut off or corrupt")

// decoding takes what attempts hold: lists of any length that a body may have, and
// text that is no UTF-8.
var decoding = func() cbor.DecMode {
	mode, err := cbor.DecOptions{MaxArrayElements: maxBody, UTF8: cbor.UTF8DecodeInvalid}.DecMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return mode
}()

// coder stores values as CBOR (RFC 8949), compressed by s2, in memory that it keeps. It
// belongs to one goroutine.
type coder struct {
	plain  bytes.Buffer
	packed []byte
	read   []byte
}

// pack gives the bytes of values, one behind another; they are valid until the next.
func (c *coder) pack(values ...any) ([]byte, error) {
	c.plain.Reset()
	for _, v := range values {
		if err := cbor.MarshalToBuffer(v, &c.plain); err != nil {
			return nil, fmt.Errorf("encode a part of a block: %w", err)
		}
	}
	c.packed = s2.Encode(c.packed[:cap(c.packed)], c.plain.Bytes())
	return c.packed, nil
}

// unpack reads the first of what was packed into at most so many bytes.
func (c *coder) unpack(b []byte, most int, values ...any) error {
	n, err := s2.DecodedLen(b)
	if err == nil && n > most {
		err = errShort
	}
	if err == nil {
		c.read, err = s2.Decode(c.read[:cap(c.read)], b)
	}
	rest := c.read
	for _, v := range values {
		if err == nil {
			rest, err = decoding.UnmarshalFirst(rest, v)
		}
	}
	return err
}

// layoutOf names what is stored of a type: blocks of another layout are made again.
func layoutOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return t.Kind().String() + " " + layoutOf(t.Elem())
	case reflect.Struct:
		var b strings.Builder
		for i := range t.NumField() {
			fmt.Fprintf(&b, "%s %s;", t.Field(i).Name, layoutOf(t.Field(i).Type))
		}
		return "{" + b.String() + "}"
	default:
		return t.Kind().String()
	}
}
