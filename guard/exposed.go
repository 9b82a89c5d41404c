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

// Exposed finds protected requests, ids and titles wherever they stand, as they are
// written: what may not be published, results of tools included.
type Exposed struct {
	index *specIndex
	// others are requests and titles in other scripts than ASCII, normalised.
	others []string
}

// leastOther is the least length in letters of a text in another script.
const leastOther = 8

// NewExposed indexes requests, gold ids, titles and the problems' own ids.
func NewExposed(bank []Entry) *Exposed {
	x := &Exposed{index: newSpecIndex(bank)}
	for i, e := range bank {
		if len(e.ID) >= leastID && strings.ContainsAny(e.ID, "0123456789") {
			x.index.byProduct[e.ID] = i
		}
		x.index.addTitle(e.Text, i)
		for _, text := range append([]string{e.Text}, e.Titles...) {
			if folded := normalised(text); len(titleWords(text, nil)) < titleLead && len(folded) > utf8.RuneCountInString(folded) && utf8.RuneCountInString(folded) >= leastOther {
				x.others = append(x.others, folded)
			}
		}
	}
	return x
}

// leastID is the least length of a problem's own id that is looked for; shorter ones
// are numbers of lines.
const leastID = 8

// Find says what of the protected a text holds; empty for nothing.
func (x *Exposed) Find(text string) string {
	if _, what := x.index.named(withoutEscapes(text)); what != "" || len(x.others) == 0 {
		return what
	}
	folded := normalised(text)
	for _, other := range x.others {
		if strings.Contains(folded, other) {
			return fmt.Sprintf("the text %q", other)
		}
	}
	return ""
}

// Folder calls found for every file below a folder that holds something protected,
// and for each name that does. Parquet, Arrow, gzip and zstd are opened, HTML and
// JSON read as what they show; an archive counts as found.
func (x *Exposed) Folder(dir string, found func(path, what string)) error {
	return wrong.In("search "+dir, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		what := x.Find(d.Name())
		if what == "" {
			what, err = x.file(path)
		}
		if what != "" {
			found(path, what)
		}
		return err
	}))
}

func (x *Exposed) file(path string) (what string, err error) {
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
	if what, err = x.stream(f); what != "" || err != nil {
		return what, err
	}
	switch head = head[:n]; {
	case columns.Holds(string(head)):
		err = rows.Each(path, func(row rows.Row) error {
			if what = x.Find(rows.Leaves(gjson.Parse(row.JSON))); what != "" {
				return io.EOF
			}
			return nil
		})
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		what = "an archive, which is not opened"
	default:
		if _, err = f.Seek(0, io.SeekStart); err != nil {
			return "", err
		}
		var plain io.Reader
		if plain, err = rows.Decompress(bufio.NewReaderSize(f, block)); err == nil {
			what, err = x.stream(plain)
		}
	}
	if what != "" {
		err = nil
	}
	return what, err
}

// A file is read in blocks that overlap by more than a request is long.
const (
	block   = 1 << 20
	overlap = 64 << 10
)

var tag = regexp.MustCompile(`<[^<>]*>`)

// stream searches text as it stands and as a browser shows it.
func (x *Exposed) stream(r io.Reader) (what string, err error) {
	buf, kept := make([]byte, block), 0
	for {
		n, err := io.ReadFull(r, buf[kept:])
		text := string(buf[:kept+n])
		what = x.Find(text)
		if what == "" && strings.ContainsAny(text, "<&") {
			what = x.Find(html.UnescapeString(tag.ReplaceAllString(text, " ")))
		}
		if what != "" || err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil
			}
			return what, err
		}
		kept = copy(buf, buf[len(buf)-overlap:])
	}
}
