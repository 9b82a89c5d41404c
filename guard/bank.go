package guard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	arena "github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// Entry is one protected problem.
type Entry struct {
	ID string `json:"id"`
	// Bank names where the entry came from: the file's or folder's name.
	Bank string `json:"bank"`
	// Text is the request; empty where only the specification is known.
	Text string `json:"text"`
	// ProductIDs are the gold products, Titles their names, Terms the option and
	// attribute values asked for.
	ProductIDs []string `json:"product_ids"`
	Titles     []string `json:"titles"`
	Terms      []string `json:"terms"`
	// Spec is the specification hash; empty where the source has no reward.
	Spec string `json:"spec,omitempty"`
}

// ErrBank marks a bank that cannot be read.
var ErrBank = errors.New("read protected bank")

// ReadBank reads protected problems from path: a problems file or suite (an
// array or JSON lines), JSON lines with id and text, query, problem or
// messages, a bank state written by Rotation, a corpus's bank.json, a corpus
// folder (what its bank.json protects), or a folder of
// such files. Nothing found is an error, and so is a row in no
// known format: a guard that could not read its bank must not pass anything.
func ReadBank(path string) ([]Entry, error) {
	files, err := bankFiles(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBank, err)
	}
	var bank []Entry
	for _, f := range files {
		entries, err := readBankFile(f)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBank, err)
		}
		if len(entries) == 0 {
			return nil, fmt.Errorf("%w %s: %w", ErrBank, f, ErrEmptyBank)
		}
		bank = append(bank, entries...)
	}
	if len(bank) == 0 {
		return nil, fmt.Errorf("%w %s: %w", ErrBank, path, ErrEmptyBank)
	}
	return bank, nil
}

// Digest names a bank by what its entries say, as hex sha256: a folder of banks
// has no bytes of its own. The names of its files are no part of it.
func Digest(bank []Entry) string {
	return hashStrings(append([]string{}, slicesx.Map(bank, func(e Entry) string {
		return hashStrings(slices.Concat([]string{e.ID, e.Text, e.Spec, "products"}, e.ProductIDs, []string{"titles"}, e.Titles, []string{"terms"}, e.Terms))
	})...))
}

func bankFiles(path string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(path, "manifest.json")); err != nil { // no corpus, whatever its folders are called
		return rows.Files(path)
	}
	pinned := filepath.Join(path, stateName)
	if _, err := os.Stat(pinned); err != nil {
		return nil, fmt.Errorf("a corpus without its bank, which says what it protects: name the files of its eval split: %w", err)
	}
	return []string{pinned}, nil
}

func readBankFile(path string) ([]Entry, error) {
	b, schema, err := schemaOf(path)
	switch {
	case err != nil:
		return nil, err
	case strings.HasPrefix(schema, rotationFamily):
		var r *Rotation
		if r, err = decodeRotation(b); err != nil {
			return nil, err
		}
		return r.Entries(), nil
	case strings.HasPrefix(schema, stateFamily):
		var s *State
		if s, err = ReadState(bytes.NewReader(b)); err != nil {
			return nil, err
		}
		return s.Protected(filepath.Base(filepath.Dir(path))), nil
	}
	var bank []Entry
	err = rows.Each(path, func(row rows.Row) error {
		c := rows.Read(row)
		if c.Guessed || c.Request == "" && len(c.ProductIDs) == 0 {
			return fmt.Errorf("row %d: neither a request nor a product id", row.Line+1)
		}
		bank = append(bank, entryOf(row, &c))
		return nil
	})
	return bank, err
}

const stateName = "bank.json"

// schemaOf reads a file that may name its own schema; empty where it names none.
func schemaOf(path string) (b []byte, schema string, err error) {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxStateBytes {
		return nil, "", err
	}
	if b, err = os.ReadFile(path); err != nil {
		return nil, "", err
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if json.Unmarshal(b, &head) != nil {
		return nil, "", nil //nolint:nilerr // other kinds of banks are no single object
	}
	return b, head.Schema, nil
}

func entryOf(row rows.Row, c *rows.Content) Entry {
	return Entry{
		ID: cmp.Or(c.ID, row.Name()), Bank: row.Stem, Text: c.Request,
		ProductIDs: sortedOnce(c.ProductIDs), Titles: c.Titles, Terms: c.Terms, Spec: specOfRow(row),
	}
}

func specOfRow(row rows.Row) string {
	p, err := arena.ParseProblem([]byte(row.JSON))
	if err != nil || len(p.Rewards) == 0 {
		return ""
	}
	return SpecHash(p)
}
