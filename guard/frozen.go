package guard

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// FrozenSchema is the version of the file of a frozen bank.
const FrozenSchema = frozenFamily + "v1"

const frozenFamily = "arena.frozen."

// Frozen is a set of protected problems that can be cited: its name, its version and the hash of its
// problems identify it. It does not change; a changed set is another version.
type Frozen struct {
	Schema   string  `json:"schema"`
	Name     string  `json:"name"`
	Version  int     `json:"version"`
	SHA256   string  `json:"sha256"`
	Problems []Entry `json:"problems"`
}

var frozenName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// Freeze returns a frozen bank of the given problems.
func Freeze(name string, version int, problems []Entry) (*Frozen, error) {
	f := &Frozen{
		Schema:  FrozenSchema,
		Name:    name,
		Version: version,
		SHA256:  Digest(problems),
		Problems: slicesx.Map(problems, func(e Entry) Entry {
			e.Bank = "" // the names of the files are no part of the set
			return e
		}),
	}
	return f, wrong.Wrap("freeze bank", f.validate())
}

func (f *Frozen) validate() error {
	var bad wrong.List
	bad.Unless(f.Schema == FrozenSchema, "schema is %q: this version reads %q", f.Schema, FrozenSchema)
	bad.Unless(frozenName.MatchString(f.Name), "name is %q: it must consist of a to z, digits and hyphens", f.Name)
	bad.Unless(f.Version >= 1, "version is %d: it must be at least 1", f.Version)
	bad.Unless(len(f.Problems) > 0, "%w", ErrEmptyBank)
	for _, e := range f.Problems {
		err := checkWords(e.Identity, e.Lexicon)
		bad.Unless(err == nil, "problem %q: %w", e.ID, err)
	}
	bad.Unless(f.SHA256 == Digest(f.Problems), "the problems have another hash than sha256 says: the file was edited")
	return bad.Err()
}

// Citation returns the words by which reports, cards and papers name the bank.
func (f *Frozen) Citation() string {
	return fmt.Sprintf("%s v%d, sha256 %s", f.Name, f.Version, f.SHA256)
}

var citation = regexp.MustCompile(`^[a-z0-9][a-z0-9-]* v[0-9]+, sha256 [0-9a-f]{64}$`)

// IsCitation reports whether the name of a bank is that of a frozen one.
func IsCitation(bank string) bool { return citation.MatchString(bank) }

// Entries returns the problems. The name of their bank is the citation.
func (f *Frozen) Entries() []Entry {
	return slicesx.Map(f.Problems, func(e Entry) Entry {
		e.Bank = f.Citation()
		return e
	})
}

// Encode returns the content of the file of the bank.
func (f *Frozen) Encode() []byte { return encodeIndented(f) }

// readFrozen reads the content of a file with a frozen bank (a fixed, hashed list of protected
// problems). ok is false if the schema is that of another kind of file. err is set, and ok true,
// for a frozen bank that is invalid.
func readFrozen(content []byte, schema string) (entries []Entry, ok bool, err error) {
	if !strings.HasPrefix(schema, frozenFamily) {
		return nil, false, nil
	}
	f := &Frozen{}
	if err = decodeStrict(content, f); err == nil {
		err = f.validate()
	}
	if err != nil {
		return nil, true, wrong.Wrap("read frozen bank", err)
	}
	return f.Entries(), true, nil
}
