// Package rows reads the rows of any file that holds texts to train on or to
// protect: JSON lines, one JSON array, text tables, plain or compressed, Parquet
// and Arrow.
package rows

import (
	"bufio"
	"bytes"
	"compress/gzip"
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
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Row is one row of a file.
type Row struct {
	// JSON is the row as a JSON object.
	JSON string
	// Stem is the file's name without its endings, Line the row's position in it
	// from 0.
	Stem    string
	Line    int
	members []member // where it was taken apart when it was checked
}

type member struct{ key, value string }

// Name identifies a row that names itself nowhere.
func (r Row) Name() string { return fmt.Sprintf("%s-%d", r.Stem, r.Line) }

// The limits of what is read from one file.
const (
	maxLineBytes  = 64 << 20
	maxArrayBytes = 1 << 30
)

// ErrNotObject says that a row is no JSON object.
var ErrNotObject = errors.New("row is no JSON object")

// Each calls yield for every row of the file at path, in order.
func Each(path string, yield func(Row) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open rows: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	return wrong.In("read rows of "+path, eachOf(f, path, yield))
}

// EachOf calls yield for every row of a stream of JSON lines or one JSON array.
func EachOf(in io.Reader, stem string, yield func(Row) error) error {
	r, err := Decompress(bufio.NewReaderSize(in, 1<<20))
	if err != nil {
		return err
	}
	first, err := firstByte(r)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	case first == '[':
		return eachElement(r, stem, yield)
	default:
		return eachLine(r, stem, yield)
	}
}

func eachOf(f *os.File, path string, yield func(Row) error) error {
	magic, stem := make([]byte, columns.MagicBytes), Stem(path)
	n, err := f.ReadAt(magic, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read first bytes: %w", err)
	}
	if columns.Holds(string(magic[:n])) {
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
	return EachOf(f, stem, yield)
}

// Decompress reads gzip and zstd as what is in them, other streams as they are.
func Decompress(r *bufio.Reader) (*bufio.Reader, error) {
	head, err := r.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read first bytes: %w", err)
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("open gzip: %w", err)
		}
		return bufio.NewReaderSize(z, 1<<20), nil
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, fmt.Errorf("open zstd: %w", err)
		}
		return bufio.NewReaderSize(z.IOReadCloser(), 1<<20), nil
	}
	return r, nil
}

// firstByte returns the first byte that is no white space and leaves it unread.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n\ufeff", rune(b)) && b != 0xEF && b != 0xBB && b != 0xBF {
			return b, r.UnreadByte()
		}
	}
}

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

func eachLine(r io.Reader, stem string, yield func(Row) error) error {
	c, last := newCursor(), 0
	for line, err := range arena.Lines(r, maxLineBytes) {
		if err != nil {
			return err
		}
		row := Row{JSON: string(line.Text), Stem: stem, Line: line.Number - 1, members: make([]member, 0, last)}
		if !row.takeApart(c) {
			return fmt.Errorf("line %d: %w", line.Number, ErrNotObject)
		}
		last = len(row.members)
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

func newCursor() *cursor.Cursor {
	return cursor.New("", cursor.Limits{Depth: cursor.MaxDepth, StringBytes: math.MaxInt})
}

func (r *Row) takeApart(c *cursor.Cursor) bool {
	c.Next(r.JSON)
	is := c.Object(func(key string) { r.members = append(r.members, member{key, string(c.Raw())}) })
	return is && c.End() == nil
}

var endings = []string{".jsonl", ".ndjson", ".json", ".parquet", ".arrow", ".csv", ".tsv"}

func plainName(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
}

// Stem is a file's name without its endings.
func Stem(path string) string {
	name := plainName(filepath.Base(path))
	for _, end := range endings {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// aside are files and folders of a corpus that hold no rows to train on: what
// describes them, and a data set's card.
var aside = []string{"README.md", "chat_template.jinja", "training_check.py", "manifest.json", "bank.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json", "tables", "reports", ".git"}

// Files lists the row files at path, sorted: itself, or those of a folder and
// its subfolders without a corpus's ledger and reports.
func Files(path string) ([]string, error) {
	return listed(path, func(p string) bool { return p == path || holdsRows(p) })
}

// Others lists the files of a folder that Files leaves out because their ending
// is none of rows.
func Others(path string) ([]string, error) {
	return listed(path, func(p string) bool { return p != path && !holdsRows(p) })
}

func listed(path string, wanted func(string) bool) ([]string, error) {
	var files []string
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		is := p == path || !slices.Contains(aside, filepath.Base(p))
		switch {
		case err != nil:
			return err
		case d.IsDir() && !is:
			return filepath.SkipDir
		case !d.IsDir() && is && wanted(p):
			files = append(files, p)
		}
		return nil
	})
	slices.Sort(files)
	return files, wrong.In("list row files", err)
}

func holdsRows(path string) bool { return slices.Contains(endings, filepath.Ext(plainName(path))) }
