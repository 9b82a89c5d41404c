// Package planfile reads and writes the file of a plan: lines of JSON, each of which is found by its
// place and checked by its checksum, then the line of the plan itself and an end of a fixed size with
// the key of the plan. So neither a writer nor a reader has all lines in memory.
package planfile

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/pipeline/block"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
)

// Place is the place of a line in the file, with its checksum (CRC-32).
type Place struct {
	block.Place
	CRC uint32 `json:"c"`
}

// end is the last line of the file. It has endSize bytes.
type end struct {
	Key  string `json:"key"`
	Plan Place  `json:"plan"`
}

const endSize = 192

// Writer writes the lines of a plan's file.
type Writer struct {
	w    *bufio.Writer
	size int64
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: bufio.NewWriterSize(w, 1<<18)} }

// Add writes a line and returns its place.
func (w *Writer) Add(line []byte) (Place, error) {
	place := Place{block.Place{Offset: w.size, Size: int64(len(line))}, crc32.ChecksumIEEE(line)}
	w.size += place.Size + 1
	if _, err := w.w.Write(line); err != nil {
		return place, err
	}
	return place, w.w.WriteByte('\n')
}

// Finish writes the line of the plan, which has this key, and the end of the file.
func (w *Writer) Finish(key string, plan any) error {
	place, err := w.Add(asjson.Bytes(plan))
	if err != nil {
		return err
	}
	fmt.Fprintf(w.w, "%-*s\n", endSize-1, asjson.Bytes(end{key, place})) // the flush has the error
	return w.w.Flush()
}

// Reader reads the lines of a plan's file.
type Reader struct {
	path string
	file corpus.Source
}

// Open opens a plan's file.
func Open(fs corpus.FS, path string) (*Reader, error) {
	f, err := fs.Open(path)
	return &Reader{path, f}, err
}

// ReadKey returns the key of the plan in a file.
func ReadKey(fs corpus.FS, path string) (string, error) {
	r, err := Open(fs, path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	e, err := r.end()
	return e.Key, err
}

// Close closes the file.
func (r *Reader) Close() { _ = r.file.Close() } // it was only read

// Read decodes a line into v.
func (r *Reader) Read(place Place, v any) error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	damaged := fmt.Errorf("read plan %s: run the group step again: %w", r.path, shuffle.ErrDamaged)
	if place.Offset < 0 || place.Size < 0 || place.Offset > info.Size()-place.Size {
		return damaged
	}
	line := make([]byte, place.Size)
	if _, err = r.file.ReadAt(line, place.Offset); err != nil {
		return err
	}
	if crc32.ChecksumIEEE(line) != place.CRC {
		return damaged
	}
	return json.Unmarshal(line, v)
}

// ReadPlan decodes the line of the plan into v.
func (r *Reader) ReadPlan(v any) error {
	e, err := r.end()
	if err != nil {
		return err
	}
	return r.Read(e.Plan, v)
}

func (r *Reader) end() (e end, err error) {
	info, err := r.file.Stat()
	if err != nil {
		return e, err
	}
	line := make([]byte, endSize)
	_, err = r.file.ReadAt(line, max(0, info.Size()-endSize))
	if err = cmp.Or(err, json.Unmarshal(line, &e)); err != nil {
		err = fmt.Errorf("read plan %s: it is cut off or of another version, run the group step again: %w", r.path, err)
	}
	return e, err
}
