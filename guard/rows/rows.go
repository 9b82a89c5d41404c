// Package rows reads the rows of files with training or held-out data: JSON
// lines, one JSON array and text tables, plain or compressed, Parquet and Arrow.
package rows

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/columns"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/gunzip"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Row is one row of a file, as JSON.
type Row struct {
	// JSON is the row as a JSON object.
	JSON string
	// Stem is the file's name without its endings, Line the index of the row in the file, from 0.
	Stem string
	Line int
	// members are the columns of the row, nil if they have not been parsed.
	members []member
}

// member is a member of a JSON object: its key, and its value as JSON text.
type member struct{ key, value string }

// Name returns a name for a row without an id: the name of its file and its line.
func (r Row) Name() string {
	return fmt.Sprintf("%s-%d", r.Stem, r.Line)
}

// LineBytes is the default maximum length of a line.
const LineBytes = 64 << 20

// maxArrayBytes is the maximum size of a JSON array or a text table.
const maxArrayBytes = 1 << 30

// ErrNotObject is returned, wrapped, for a row that is not a JSON object.
var ErrNotObject = errors.New("row is no JSON object")

// Each calls yield for every row of the file at path, in order. Lines have at most LineBytes.
func Each(path string, yield func(Row) error) error { return EachWithin(path, LineBytes, yield) }

// EachWithin calls yield as Each does. Lines have at most lineBytes.
func EachWithin(path string, lineBytes int, yield func(Row) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open rows: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	return wrong.Wrap("read rows of "+path, eachInFile(f, path, lineBytes, yield))
}

// EachInStream calls yield for every row of a stream of JSON lines or one JSON
// array, in order. stem is the Stem of the rows. Lines have at most lineBytes.
func EachInStream(
	r io.Reader,
	stem string,
	lineBytes int,
	yield func(Row) error,
) error {
	plain, err := Decompress(bufio.NewReaderSize(r, 1<<20))
	if err != nil {
		return err
	}
	first, err := firstByte(plain)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	case first == '[':
		return eachElement(plain, stem, yield)
	default:
		return eachLine(plain, stem, lineBytes, yield)
	}
}

func eachInFile(
	f *os.File,
	path string,
	lineBytes int,
	yield func(Row) error,
) error {
	stem := Stem(path)
	magic := make([]byte, columns.MagicBytes)
	n, err := f.ReadAt(magic, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read first bytes: %w", err)
	}
	if columns.IsColumnar(string(magic[:n])) {
		info, err := f.Stat()
		if err != nil {
			return fmt.Errorf("open columns: %w", err)
		}
		line := -1
		return columns.Each(f, info.Size(), func(text string) error {
			line++
			return yield(Row{JSON: text, Stem: stem, Line: line})
		})
	}
	if separator := separators[filepath.Ext(plainName(path))]; separator != 0 {
		r, err := Decompress(bufio.NewReaderSize(f, 1<<20))
		if err != nil {
			return err
		}
		return eachRecord(r, separator, stem, yield)
	}
	return EachInStream(f, stem, lineBytes, yield)
}

// Decompress returns a reader of the content of a gzip or zstd stream, or r for any
// other stream.
func Decompress(r *bufio.Reader) (*bufio.Reader, error) {
	head, err := r.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read first bytes: %w", err)
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gunzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("open gzip: %w", err)
		}
		return bufio.NewReaderSize(z, 1<<20), nil
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(
			r,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(128<<20),
		)
		if err != nil {
			return nil, fmt.Errorf("open zstd: %w", err)
		}
		return bufio.NewReaderSize(z.IOReadCloser(), 1<<20), nil
	}
	return r, nil
}

// firstByte returns the first byte of r that belongs neither to white space nor to a byte order
// mark, and leaves this byte unread.
func firstByte(r *bufio.Reader) (byte, error) {
	const skipped = " \t\r\n\xEF\xBB\xBF"
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if strings.IndexByte(skipped, b) < 0 {
			return b, r.UnreadByte()
		}
	}
}

// eachElement calls yield with a row for every element of a JSON array of at most maxArrayBytes.
// stem is the row's file name (see Row.Stem). It returns the first error of yield; an element that
// is not an object is an error too.
func eachElement(r io.Reader, stem string, yield func(Row) error) error {
	b, err := io.ReadAll(io.LimitReader(r, maxArrayBytes+1))
	if err != nil {
		return fmt.Errorf("read array: %w", err)
	}
	if len(b) > maxArrayBytes {
		return fmt.Errorf("read array: larger than %d bytes: write one object a line instead", maxArrayBytes)
	}
	text := string(b)
	if !cursor.Valid(text) {
		return errors.New("read array: not valid JSON")
	}
	line := 0
	for _, v := range gjson.Parse(text).ForEach {
		if !v.IsObject() {
			return fmt.Errorf("element %d: %w", line, ErrNotObject)
		}
		if err := yield(Row{JSON: v.Raw, Stem: stem, Line: line}); err != nil {
			return err
		}
		line++
	}
	return nil
}

// eachLine calls yield with a row for every line of a JSON Lines file, each of at most lineBytes.
// stem is the row's file name (see Row.Stem). It returns the first error of yield; a line that is
// not a JSON object is an error too.
func eachLine(
	r io.Reader,
	stem string,
	lineBytes int,
	yield func(Row) error,
) error {
	c := newCursor()
	size := 0 // number of members of the previous row
	for line, err := range arena.Lines(r, lineBytes) {
		if err != nil {
			return err
		}
		row := Row{
			JSON:    string(line.Text),
			Stem:    stem,
			Line:    line.Number - 1,
			members: make([]member, 0, size),
		}
		if !row.parseMembers(c) {
			return fmt.Errorf("line %d: %w", line.Number, ErrNotObject)
		}
		size = len(row.members)
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

func newCursor() *cursor.Cursor {
	return cursor.New("", cursor.Limits{
		Depth:       cursor.MaxDepth,
		StringBytes: math.MaxInt,
	})
}

// parseMembers parses r.JSON and sets r.members. It reports whether the row is a JSON object.
func (r *Row) parseMembers(c *cursor.Cursor) bool {
	c.Next(r.JSON)
	ok := c.Object(func(key string) {
		r.members = append(r.members, member{key, string(c.Raw())})
	})
	return ok && c.End() == nil
}

var endings = []string{".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".csv", ".tsv"}

// plainName returns path without a final .gz or .zst.
func plainName(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
}

// Stem returns a file's name without its endings.
func Stem(path string) string {
	name := plainName(filepath.Base(path))
	for _, end := range endings {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// ignored are the names of files and folders in a corpus or data set that have no rows to train on:
// metadata, reports and the dataset card.
var ignored = []string{
	"README.md", "chat_template.jinja", "training_check.py", "manifest.json", "bank.json", "dataset_info.json",
	"dataset_infos.json", "dataset_dict.json", "state.json", "tables", "reports", ".git",
}

// Files returns the row files at path, sorted: path itself, or the files of a
// folder and its subfolders except the metadata and reports of a corpus.
func Files(path string) ([]string, error) {
	return listFiles(path, func(p string) bool {
		return p == path || hasRowEnding(p)
	})
}

// OtherFiles returns the files of a folder that Files omits because their ending
// is not one of row files.
func OtherFiles(path string) ([]string, error) {
	return listFiles(path, func(p string) bool {
		return p != path && !hasRowEnding(p)
	})
}

func listFiles(path string, match func(string) bool) ([]string, error) {
	var files []string
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p != path && slices.Contains(ignored, filepath.Base(p)) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.IsDir() && match(p) {
			files = append(files, p)
		}
		return nil
	})
	slices.Sort(files)
	return files, wrong.Wrap("list row files", err)
}

func hasRowEnding(path string) bool {
	return slices.Contains(endings, filepath.Ext(plainName(path)))
}
