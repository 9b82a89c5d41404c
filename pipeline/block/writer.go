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
	"github.com/trajectory-arena/arena/internal/digest"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Writer writes one block. It is not safe for concurrent use. Readers ignore the block until
// Close has written its marker.
type Writer struct {
	// Sources are written by Close.
	Sources  Sources
	fs       corpus.FS
	dir      string
	key      Key
	index    *bufferedFile
	bodies   *bufferedFile
	coder    coder
	unscored int
	// cutIndex and cutBodies are the sizes of the files at the end of the last segment.
	cutIndex  int64
	cutBodies int64
}

// Create creates a block in dir. It removes what an earlier run wrote there.
func Create(fsys corpus.FS, dir string, key Key) (*Writer, error) {
	if err := corpus.ResetDir(fsys, dir); err != nil {
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
	return &Writer{
		fs:     fsys,
		dir:    dir,
		key:    key,
		index:  index,
		bodies: bodies,
	}, nil
}

// Add writes an entry and its draft. The draft is nil if the attempt cannot become a row.
func (w *Writer) Add(x *Entry, d *Draft) error {
	if d != nil {
		if err := w.addBody(x, d); err != nil {
			return err
		}
	}
	results := x.Found
	results.Structure.Verdicts = nil
	results.Structure.Features = nil
	numbers := filters.EncodeValues(&x.Structure)
	b, err := w.coder.pack(
		&x.Head,
		&results,
		&x.Sample,
		&results.Structure,
		numbers,
	)
	if err != nil {
		return err
	}
	if x.Fault == nil && (isUnscored(&x.Judgement) || isUnscored(&x.StepJudgement)) {
		w.unscored++
	}
	if _, err = w.index.Write(binary.AppendUvarint(nil, uint64(len(b)))); err != nil {
		return err
	}
	_, err = w.index.Write(b)
	return err
}

// isUnscored reports whether the judge was asked about an attempt but returned no grade.
func isUnscored(j *arena.Judgement) bool {
	return j.Outcome.IsAsked() && j.Outcome != arena.JudgeScored
}

func (w *Writer) addBody(x *Entry, d *Draft) error {
	b, err := w.coder.pack(d)
	if err != nil {
		return err
	}
	x.Body.Offset = w.bodies.size()
	x.Body.Packed = int64(len(b))
	x.Body.Bytes = d.Size()
	x.Body.CRC = crc32.Checksum(b, castagnoli)
	_, err = w.bodies.Write(b)
	return err
}

// Close writes the block's files to disk, with its sources, and then the marker that makes the block
// usable.
func (w *Writer) Close() error {
	sources, err := w.coder.pack(&w.Sources)
	if err != nil {
		return err
	}
	place := Place{Offset: w.bodies.size(), Size: int64(len(sources))}
	_, err = w.bodies.Write(sources)
	if err = errors.Join(err, w.bodies.close(), w.index.close()); err != nil {
		return err
	}
	m := marker{
		Version:     Version,
		Key:         w.key,
		Unscored:    w.unscored,
		IndexSHA256: w.index.file.SHA256(),
		BodiesBytes: w.bodies.size(),

		Sources:       place,
		SourcesSHA256: digest.SHA256(sources),
	}
	return corpus.WriteJSON(w.fs, filepath.Join(w.dir, markerName), m)
}

// Abort closes the block's files without writing the marker.
func (w *Writer) Abort() {
	_ = w.index.file.File.Close()  // the caller has the error that led here
	_ = w.bodies.file.File.Close() // likewise
}

type bufferedFile struct {
	*bufio.Writer
	file *corpus.Output
}

func create(fsys corpus.FS, path string) (*bufferedFile, error) {
	f, err := corpus.Create(fsys, path)
	return &bufferedFile{bufio.NewWriterSize(f, 1<<18), f}, err
}

// size returns the number of bytes that were written to f, including buffered ones.
func (f *bufferedFile) size() int64 { return f.file.N + int64(f.Buffered()) }

func (f *bufferedFile) close() error {
	err := f.Flush()
	return errors.Join(err, f.file.Close())
}

// errShort is the error for a stored record (a frame) that is truncated, or larger than any that a
// Writer writes.
var errShort = errors.New("frame is cut off or corrupt")

// decoding is the CBOR decoder for stored results. It accepts long lists and invalid UTF-8, since
// both occur in attempts.
var decoding = func() cbor.DecMode {
	mode, err := cbor.DecOptions{
		MaxArrayElements: maxBody,
		UTF8:             cbor.UTF8DecodeInvalid,
	}.DecMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return mode
}()

// coder encodes values as CBOR (RFC 8949) and compresses them with s2. It reuses its buffers and
// is not safe for concurrent use.
type coder struct {
	value    bytes.Buffer
	plain    []byte
	packed   []byte
	unpacked []byte
}

// pack encodes values one after another as CBOR, each after its size, and compresses the result, which
// is valid until the next call.
func (c *coder) pack(values ...any) ([]byte, error) {
	c.plain = c.plain[:0]
	for _, v := range values {
		c.value.Reset()
		if err := cbor.MarshalToBuffer(v, &c.value); err != nil {
			return nil, fmt.Errorf("encode a part of a block: %w", err)
		}
		c.plain = binary.AppendUvarint(c.plain, uint64(c.value.Len()))
		c.plain = append(c.plain, c.value.Bytes()...)
	}
	c.packed = s2.Encode(c.packed[:cap(c.packed)], c.plain)
	return c.packed, nil
}

// unpack unpacks b and decodes its first values into values, where nil skips one. It returns an error if
// the decompressed size exceeds maxBytes.
func (c *coder) unpack(
	b []byte,
	maxBytes int,
	values ...any,
) error {
	n, err := s2.DecodedLen(b)
	if err != nil {
		return err
	}
	if n > maxBytes {
		return errShort
	}
	c.unpacked, err = s2.Decode(c.unpacked[:cap(c.unpacked)], b)
	if err != nil {
		return err
	}
	remaining := c.unpacked
	for _, v := range values {
		size, n := binary.Uvarint(remaining)
		if n <= 0 || size > uint64(len(remaining)-n) {
			return errShort
		}
		value := remaining[n:][:size]
		remaining = remaining[n:][size:]
		if v == nil {
			continue
		}
		if err = decoding.Unmarshal(value, v); err != nil {
			return err
		}
	}
	return nil
}

// layoutOf returns a text that describes how a Go type is stored: its kind, and the names and kinds
// of its fields. If one of these changes, the text changes too, so that files of the old layout are
// recognised.
func layoutOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return t.Kind().String() + " " + layoutOf(t.Elem())
	case reflect.Struct:
		var b strings.Builder
		for i := range t.NumField() {
			fmt.Fprintf(
				&b,
				"%s %s;",
				t.Field(i).Name,
				layoutOf(t.Field(i).Type),
			)
		}
		return "{" + b.String() + "}"
	default:
		return t.Kind().String()
	}
}
