package guard

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/guard/disguise"
	"github.com/trajectory-arena/arena/guard/lexical"
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// identity finds in requests what names the customer and the customer's things, such as a user id
// or the number of an order. One customer's requests all have these names, so that they say who
// asks, and not what is asked.
type identity []*regexp.Regexp

// names has what each pattern of an identity finds in a text, in lower case.
type names [][]string

// newIdentity compiles the patterns of a domain. It panics for a bad one, since domains are
// validated when they are read.
func newIdentity(patterns []string) identity {
	d := make(identity, len(patterns))
	for i, p := range patterns {
		d[i] = regexp.MustCompile(p)
	}
	return d
}

var namePart = regexp.MustCompile(`[\pL\pN]+`)

// split returns the names in a text, and the text without the words of these names, wherever they
// occur. A name is the first group of a pattern that has a group.
func (d identity) split(text string) (owners names, remainder string) {
	owners = make(names, len(d))
	isName := map[string]bool{}
	for i, p := range d {
		for _, match := range p.FindAllStringSubmatch(text, -1) {
			name := strings.ToLower(match[len(match)-1])
			owners[i] = append(owners[i], name)
			for _, part := range namePart.FindAllString(name, -1) {
				isName[part] = true
			}
		}
	}
	remainder = namePart.ReplaceAllStringFunc(text, func(word string) string {
		if isName[strings.ToLower(word)] {
			return ""
		}
		return word
	})
	return owners, remainder
}

// areOthers reports whether a text with the names n cannot be about the customer and things of a
// request with the names o: it has none of the request's names, or only others of one kind. A
// request without names may be anybody's.
func (n names) areOthers(o names) bool {
	hasNames := false
	isShared := false
	for i, list := range o {
		shares := slices.ContainsFunc(list, func(name string) bool { return slices.Contains(n[i], name) })
		if len(list) > 0 && len(n[i]) > 0 && !shares {
			return true
		}
		hasNames = hasNames || len(list) > 0
		isShared = isShared || shares
	}
	return hasNames && !isShared
}

// wording is the detector of reworded requests for the entries of a bank with one identity and one
// lexicon.
type wording struct {
	identity identity
	words    *arena.Lexicon
	names    []names // of each entry of the bank
	// requests are the requests without names, in the order of the bank; that of an entry with
	// another identity is empty.
	requests []lexical.Request
	lexical  *lexical.Index
}

// RewordingsIn returns the version of the detector of reworded requests in a domain. With a lexicon of the
// domain it ends with the hash of the lexicon, so that figures for another one do not turn it on.
func RewordingsIn(d *domain.Domain) string {
	lexicon := asjson.Bytes(d.GuardLexicon())
	if text := string(lexicon); text == "null" || text == "{}" {
		return RewordingsVersion
	}
	return RewordingsVersion + "_" + digest.SHA256(lexicon)[:8]
}

// CheckLexicon returns an error that lists what is wrong with a lexicon, which may be nil. In
// addition to what domain.Parse checks, requests must be read so that each of its words is one.
func CheckLexicon(l *arena.Lexicon) error {
	if l == nil {
		return nil
	}
	var bad wrong.List
	words := slices.Concat(l.Synonyms...)
	for _, code := range slicesx.SortedKeys(l.Currencies) {
		words = append(append(words, code), l.Currencies[code].Words...)
	}
	for _, name := range slicesx.SortedKeys(l.Units) {
		words = append(append(words, name), l.Units[name].Words...)
	}
	for _, w := range words {
		plain := disguise.Plain(w)
		bad.Unless(plain == w, "lexicon has %q, which is read as %q: write that", w, plain)
		bad.Unless(lexical.IsWord(plain), "lexicon has %q, which is not read as one word: want letters of one script, at most 64", w)
	}
	return errors.Join(domain.ValidateLexicon(l), bad.Err())
}

// checkWords returns an error that lists what is wrong with the identity and the lexicon of requests
// in a file, by which they cannot be compared.
func checkWords(identity []string, l *arena.Lexicon) error {
	err := CheckLexicon(l)
	for _, p := range identity {
		_, wrongPattern := regexp.Compile(p)
		err = errors.Join(err, wrong.Wrap("identity", wrongPattern))
	}
	return err
}

// isApart reports whether the entry is compared by a detector of its domain.
func (e *Entry) isApart() bool { return len(e.Identity) > 0 || e.Lexicon != nil }

// newWordings returns a detector for each identity and lexicon that entries of a bank have. Its index is not
// built yet.
func newWordings(bank []Entry) []*wording {
	var out []*wording
	byKey := map[string]*wording{}
	for i := range bank {
		e := &bank[i]
		if e.Literal || !e.isApart() {
			continue
		}
		key := string(asjson.Bytes([]any{e.Identity, e.Lexicon}))
		w := byKey[key]
		if w == nil {
			w = &wording{
				identity: newIdentity(e.Identity),
				words:    e.Lexicon,
				names:    make([]names, len(bank)),
				requests: make([]lexical.Request, len(bank)),
			}
			byKey[key] = w
			out = append(out, w)
		}
		owners, text := w.identity.split(disguise.Plain(e.Text))
		w.names[i] = owners
		w.requests[i] = lexical.Request{Text: text, Terms: slices.Concat(e.Titles, e.Terms)}
	}
	return out
}

// check compares a text with the requests about the same customer and things. A text that is less
// similar than drop does not count as asking for the same, unless it cannot be read: the words by
// which requests contradict each other are not known in every domain.
func (w *wording) check(text string, drop float64) lexical.Finding {
	owners, remainder := w.identity.split(text)
	f := w.lexical.Check(remainder, drop, func(i int) bool { return owners.areOthers(w.names[i]) })
	if f.Score < drop && !f.Unreadable {
		f.Drop = false
		f.Same = false
	}
	return f
}

// of returns the detector that has the entry with this index of the bank, as its index and the text
// to compare by it.
func (x *index) of(entry int, text string) (*lexical.Index, string) {
	for _, w := range x.wordings {
		if w.requests[entry].Text != "" {
			_, remainder := w.identity.split(text)
			return w.lexical, remainder
		}
	}
	return x.lexical, text
}

// namesOtherThings reports whether two entries of a bank are about different customers or things.
func (x *index) namesOtherThings(i, j int) bool {
	return slices.ContainsFunc(x.wordings, func(w *wording) bool {
		return w.names[i] != nil && w.names[j] != nil && w.names[i].areOthers(w.names[j])
	})
}

// knows reports whether a word in lower case is a stop word or occurs in a protected request.
func (x *index) knows(word string) bool {
	return x.lexical.Knows(word) || slices.ContainsFunc(x.wordings, func(w *wording) bool { return w.lexical.Knows(word) })
}

// checkLexical compares a text with all requests, each by the detector that it belongs to. The text
// counts as unreadable only if no detector can read it.
func (x *index) checkLexical(text string, drop float64) lexical.Finding {
	best := x.lexical.Check(text, drop, nil)
	for _, w := range x.wordings {
		f := w.check(text, drop)
		isUnreadable := best.Unreadable && f.Unreadable
		isStronger := f.Score > best.Score
		if f.Drop != best.Drop {
			isStronger = f.Drop
		}
		if isStronger {
			best = f
		}
		best.Unreadable = isUnreadable
	}
	return best
}
