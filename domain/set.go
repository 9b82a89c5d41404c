package domain

import (
	"embed"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/text"
)

// files has the YAML files of the built-in domains (kinds of tasks with their tools).
//
//go:embed builtin
var files embed.FS

// The domains that the program itself refers to. Base is the domain of attempts that fit no other.
const (
	Shop    = "shop"
	EnvPack = "envpack"
	Base    = "base"
)

// Builtin returns the domains that are built in, in the order of their names.
var Builtin = sync.OnceValue(func() []*Domain {
	entries, err := files.ReadDir("builtin")
	if err != nil {
		panic(err) // the files are embedded in the program
	}
	return slicesx.Map(entries, func(e os.DirEntry) *Domain {
		b, err := files.ReadFile("builtin/" + e.Name())
		if err != nil {
			panic(err) // likewise
		}
		d, err := Parse(b)
		if err != nil {
			panic(fmt.Errorf("built-in domain %s: %w", e.Name(), err))
		}
		return d
	})
})

// Set holds the domains among which the attempts of a run are. A nil set has the built-in domains.
type Set struct {
	list []*Domain
	// forced is the domain of all attempts, nil if each is recognised.
	forced *Domain
}

// NewSet returns the built-in domains, by which each attempt is recognised. If named is not empty,
// it is the name of a built-in domain or a file, and all attempts are of that domain.
func NewSet(named string) (*Set, error) {
	s := &Set{list: Builtin()}
	if named == "" {
		return s, nil
	}
	if s.forced = s.ByName(named); s.forced != nil {
		return s, nil
	}
	b, err := os.ReadFile(named)
	if err != nil {
		return nil, fmt.Errorf("domain %q is neither a file nor one of %s%s", named, strings.Join(s.Names(), ", "), s.nearest(named))
	}
	if s.forced, err = Parse(b); err != nil {
		return nil, fmt.Errorf("read domain %s: %w", named, err)
	}
	if s.ByName(s.forced.Name) != nil {
		return nil, fmt.Errorf("read domain %s: name is %q, which is built in: give another name", named, s.forced.Name)
	}
	s.list = append(slices.Clone(s.list), s.forced)
	return s, nil
}

// nearest returns a question that names the domain of the set with the most similar name, as ": did
// you mean shop?". It returns "" if every name differs from the given one by more than two edits.
func (s *Set) nearest(name string) string {
	known := slices.MinFunc(s.Names(), func(a, b string) int {
		return text.Distance(name, a) - text.Distance(name, b)
	})
	if text.Distance(name, known) > 2 {
		return ""
	}
	return fmt.Sprintf(": did you mean %s?", known)
}

// all returns the domains of the set.
func (s *Set) all() []*Domain {
	if s == nil {
		return Builtin()
	}
	return s.list
}

// Names returns the names of all domains of the set.
func (s *Set) Names() []string {
	return slicesx.Map(s.all(), func(d *Domain) string { return d.Name })
}

// ByName returns the domain with a name, nil if there is none.
func (s *Set) ByName(name string) *Domain {
	for _, d := range s.all() {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// Forced returns the domain that all attempts are of, nil if each is recognised.
func (s *Set) Forced() *Domain { return s.forced }

// SHA256 returns the hash of all domains of the set.
func (s *Set) SHA256() string {
	hashes := slicesx.Map(s.all(), func(d *Domain) string { return d.SHA256 })
	if s != nil && s.forced != nil {
		hashes = append(hashes, "all are of", s.forced.SHA256)
	}
	return digest.SHA256([]byte(strings.Join(hashes, "\n")))
}

// GuardLexicon returns the lexicon by which the guard compares requests of the domain. It is nil for
// that of the domain Shop, which is the lexicon of a bank that names none.
func (d *Domain) GuardLexicon() *arena.Lexicon {
	if reflect.DeepEqual(d.Lexicon, (*Set)(nil).ByName(Shop).Lexicon) {
		return nil
	}
	return &d.Lexicon
}
