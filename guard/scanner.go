package guard

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/columns"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Scanner searches texts and files for protected requests, ids and titles as they
// are written. It is for data that is about to be published: unlike Guard it
// searches everything, tool results included.
type Scanner struct {
	index *specIndex
	// foreign are normalised requests and titles that are mostly in a script other than ASCII.
	foreign []string
}

// minForeignRunes is the minimum length in characters of a request or title that is searched for if
// it has letters that are not ASCII.
const minForeignRunes = 8

// minEntryID is the minimum length in bytes of a problem id that is searched for. Shorter ids are
// line numbers.
const minEntryID = 8

// NewScanner returns a scanner for the requests, gold ids, titles and problem ids
// of bank.
func NewScanner(bank []Entry) *Scanner {
	s := &Scanner{index: newSpecIndex(bank)}
	for i, e := range bank {
		if len(e.ID) >= minEntryID && strings.ContainsAny(e.ID, "0123456789") {
			s.index.byItem[e.ID] = i
		}
		s.index.addTitle(e.Text, i)
		s.addForeign(e.Text)
		for _, t := range e.Titles {
			s.addForeign(t)
		}
	}
	return s
}

// addForeign adds a request or title to s.foreign, the texts to search for, if it has at least
// minForeignRunes characters and some are not ASCII. It leaves out texts with at least titleLead
// ASCII words, which the index of titles finds.
func (s *Scanner) addForeign(text string) {
	folded := normalised(text)
	runes := utf8.RuneCountInString(folded)
	isForeign := len(folded) > runes && runes >= minForeignRunes
	if isForeign && len(appendTitleWords(nil, text)) < titleLead {
		s.foreign = append(s.foreign, folded)
	}
}

// Find returns a description of the first protected request, id or title in text, empty if the text
// has none.
func (s *Scanner) Find(text string) string {
	if _, what := s.index.find(withoutEscapes(text)); what != "" || len(s.foreign) == 0 {
		return what
	}
	folded := normalised(text)
	for _, f := range s.foreign {
		if strings.Contains(folded, f) {
			return fmt.Sprintf("the text %q", f)
		}
	}
	return ""
}

// ScanDir calls report for every file below dir whose content or name contains a protected request,
// id or title, with a description of it. Parquet, Arrow, gzip and zstd files are decoded, HTML and
// JSON are searched as displayed; an archive is always reported.
func (s *Scanner) ScanDir(dir string, report func(path, what string)) error {
	return wrong.Wrap("search "+dir, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		what := s.Find(d.Name())
		if what == "" {
			what, err = s.scanFile(path)
		}
		if what != "" {
			report(path, what)
		}
		return err
	}))
}

func (s *Scanner) scanFile(path string) (what string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	head := make([]byte, 6)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	head = head[:n]

	if what, err = s.scan(f); what != "" || err != nil {
		return what, err
	}
	if columns.IsColumnar(string(head)) {
		return s.scanRows(path)
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return "an archive, which is not opened", nil
	}
	if _, err = f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	plain, err := rows.Decompress(bufio.NewReaderSize(f, blockBytes))
	if err != nil {
		return "", err
	}
	what, err = s.scan(plain)
	if what != "" {
		err = nil
	}
	return what, err
}

// scanRows searches the rows of a Parquet or Arrow file for protected requests, ids and titles.
// what describes the first match; it is empty if there is none.
func (s *Scanner) scanRows(path string) (what string, err error) {
	err = rows.Each(path, func(row rows.Row) error {
		what = s.Find(rows.Leaves(gjson.Parse(row.JSON)))
		if what != "" {
			return io.EOF // ends the loop
		}
		return nil
	})
	if what != "" {
		err = nil
	}
	return what, err
}

// A file is searched in blocks of blockBytes. Two successive blocks overlap by overlapBytes, more
// than the length of a request, so that a request is in one block.
const (
	blockBytes   = 1 << 20
	overlapBytes = 64 << 10
)

var tag = regexp.MustCompile(`<[^<>]*>`)

// scan searches a stream of text for protected requests, ids and titles, both as written and as a
// browser displays it. what describes the first match; it is empty if there is none.
func (s *Scanner) scan(r io.Reader) (what string, err error) {
	buf := make([]byte, blockBytes)
	carried := 0
	for {
		n, err := io.ReadFull(r, buf[carried:])
		text := string(buf[:carried+n])
		what = s.Find(text)
		if what == "" && strings.ContainsAny(text, "<&") {
			what = s.Find(html.UnescapeString(tag.ReplaceAllString(text, " ")))
		}
		if what != "" || err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil
			}
			return what, err
		}
		carried = copy(buf, buf[len(buf)-overlapBytes:])
	}
}
