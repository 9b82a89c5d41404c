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
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/digest"
)

// Entry is one protected problem.
type Entry struct {
	ID string `json:"id"`
	// Bank is the name of the file or folder that the entry was read from.
	Bank string `json:"bank"`
	// Text is the request, empty if only the specification is known.
	Text string `json:"text"`
	// ItemIDs are the items that solve the problem, Titles their names, Terms the option and
	// attribute values that the request asks for.
	ItemIDs []string `json:"product_ids"`
	Titles  []string `json:"titles"`
	Terms   []string `json:"terms"`
	// Spec is the hash of the specification that grades the problem, empty if the source has no
	// reward.
	Spec string `json:"spec,omitempty"`
	// Literal reports whether Text is compared word for word only: the detector of reworded
	// requests was not measured on the domain of the problem.
	Literal bool `json:"literal,omitempty"`
	// Identity has the patterns of what names the customer in such requests (domain.Domain.Identity).
	Identity []string `json:"identity,omitempty"`
	// Lexicon has the currencies, units and synonyms of the domain of the problem
	// (domain.Domain.GuardLexicon), nil for those that banks had before domains could name any.
	Lexicon *arena.Lexicon `json:"lexicon,omitempty"`
}

// ErrBank is returned, wrapped, for a bank that cannot be read.
var ErrBank = errors.New("read protected bank")

// ReadBank reads protected problems from path: a problems file or suite (an array or JSON lines),
// JSON lines with id and text, query, problem or messages, a rotation file, a frozen bank, a
// corpus's bank.json, a corpus folder (the clusters that its bank.json protects), or a folder of
// such files. A bank without problems is an error, and so is a row in an unknown format, since a
// guard that could not read its bank must not let any row pass.
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

// Digest returns the hex sha256 of a bank's entries. It does not depend on the
// names of the files that they were read from.
func Digest(bank []Entry) string {
	hashes := make([]string, 0, len(bank))
	for _, e := range bank {
		parts := []string{e.ID, e.Text, e.Spec, storedItems}
		parts = append(parts, e.ItemIDs...)
		parts = append(parts, "titles")
		parts = append(parts, e.Titles...)
		parts = append(parts, "terms")
		parts = append(parts, e.Terms...)
		if e.Lexicon != nil {
			parts = append(parts, "lexicon", string(asjson.Bytes(e.Lexicon)))
		}
		hashes = append(hashes, hashStrings(parts))
	}
	return hashStrings(hashes)
}

// bankFiles returns the files that a bank (list of protected problems) is read from: bank.json if
// path is a corpus, else the row files at path. It returns an error if path is a corpus without
// bank.json.
func bankFiles(path string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(path, "manifest.json")); err != nil { // not a corpus
		return rows.Files(path)
	}
	state := filepath.Join(path, stateName)
	if _, err := os.Stat(state); err != nil {
		return nil, fmt.Errorf("a corpus without its bank, which says what it protects: name the files of its eval split: %w", err)
	}
	return []string{state}, nil
}

func readBankFile(path string) ([]Entry, error) {
	content, schema, err := readSchema(path)
	if err != nil {
		return nil, err
	}
	if entries, isFrozen, frozenErr := readFrozen(content, schema); isFrozen {
		return entries, frozenErr
	}
	if strings.HasPrefix(schema, rotationFamily) {
		r, decodeErr := decodeRotation(content)
		if decodeErr != nil {
			return nil, decodeErr
		}
		return r.Entries(), nil
	}
	if strings.HasPrefix(schema, stateFamily) {
		if err = CheckState(path, content); err != nil {
			return nil, err
		}
		s, readErr := ReadState(bytes.NewReader(content))
		if readErr != nil {
			return nil, readErr
		}
		return s.Protected(filepath.Base(filepath.Dir(path))), nil
	}

	var bank []Entry
	err = rows.Each(path, func(row rows.Row) error {
		c := rows.Read(row)
		if c.Guessed || c.Request == "" && len(c.ItemIDs) == 0 {
			return fmt.Errorf("row %d: neither a request nor an item id", row.Line+1)
		}
		bank = append(bank, rowEntry(row, &c))
		return nil
	})
	return bank, err
}

const stateName = "bank.json"

// ErrEdited is returned, wrapped, for the bank.json of a corpus that was edited after the corpus was
// written.
var ErrEdited = errors.New("file has another sha256 than the manifest says: it was edited")

// CheckState returns ErrEdited if the content of the bank.json at path is not the one that the
// manifest beside it lists. A file outside a corpus passes.
func CheckState(path string, content []byte) error {
	var manifest struct {
		Files []struct {
			Path   string `json:"path"`
			SHA256 string `json:"sha256"`
		} `json:"files"`
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(path), "manifest.json"))
	if err != nil || json.Unmarshal(b, &manifest) != nil {
		return nil //nolint:nilerr // the folder is no corpus
	}
	for _, f := range manifest.Files {
		if f.Path == filepath.Base(path) && f.SHA256 != digest.SHA256(content) {
			return fmt.Errorf("check %s: %w", f.Path, ErrEdited)
		}
	}
	return nil
}

// readSchema reads a file that consists of one JSON object, and returns its content and the value
// of its member schema. For any other file, or one larger than maxStateBytes, both are empty.
func readSchema(path string) (content []byte, schema string, err error) {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxStateBytes {
		return nil, "", err
	}
	if content, err = os.ReadFile(path); err != nil {
		return nil, "", err
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if json.Unmarshal(content, &head) != nil {
		return nil, "", nil //nolint:nilerr // banks of other kinds are not a single object
	}
	return content, head.Schema, nil
}

func rowEntry(row rows.Row, c *rows.Content) Entry {
	return Entry{
		ID:      cmp.Or(c.ID, row.Name()),
		Bank:    row.Stem,
		Text:    c.Request,
		ItemIDs: sortUnique(c.ItemIDs),
		Titles:  c.Titles,
		Terms:   c.Terms,
		Spec:    rowSpecHash(row),
	}
}

// rowSpecHash returns the hash of the specification by which answers to the problem in a row are
// graded. It returns "" for a row that is not a problem or has no rewards.
func rowSpecHash(row rows.Row) string {
	p, err := arena.ParseProblem([]byte(row.JSON))
	if err != nil || len(p.Rewards) == 0 {
		return ""
	}
	return SpecHash(p)
}

// sortUnique sorts s in place and returns it without its duplicates.
func sortUnique(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}
