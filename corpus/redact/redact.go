// Package redact finds what must not be published in texts (secrets, e-mail
// and network addresses, card numbers) and puts typed placeholders in its
// place. Its rules are those of gitleaks, with a few of its own for what that
// set leaves out or matches too narrowly for synthetic or shortened secrets.
package redact

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/cursor"
)

// Rules is the version of the rules: that of gitleaks and that of this package.
const Rules = "gitleaks v8.30.1 and arena.redact.v5"

// Options select what is found in addition to secrets and addresses.
type Options struct {
	// Hotkeys also finds the public addresses of chain accounts. They identify the agents of a
	// corpus and are therefore kept by default.
	Hotkeys bool
	// Homes leaves the names of home folders unchanged. It is for messages to the user of this
	// machine.
	Homes bool
}

// Redactor finds secrets in texts and replaces them. It may be used by several goroutines.
type Redactor struct {
	options Options
	rules   []rule
	filter  *prefilter
	// ids are ids of things, numbers that are not redacted.
	ids IDs
	// wordless are the indices of the rules that have no keywords.
	wordless []int
	kinds    map[string]bool
	clean    *clean
}

// Finding is a part of a text that a rule matched.
type Finding struct {
	// Kind is the rule's name, such as aws-access-token.
	Kind string
	// Start and End are the byte offsets of the secret itself, End exclusive. Neither is inside a
	// JSON escape or a UTF-8 character.
	Start, End int
}

// Counts are numbers of findings by kind.
type Counts map[string]int64

// Add adds the counts of other.
func (c Counts) Add(other Counts) {
	for k, n := range other {
		c[k] += n
	}
}

var (
	// shared returns the rules of gitleaks, an open-source scanner for secrets. They are parsed at
	// the first call and then stored.
	shared = sync.OnceValue(sharedRules)
	// redactors stores the redactor for each set of options that New was called with, so that each
	// is created only once.
	redactors = struct {
		sync.Mutex
		of map[Options]*Redactor
	}{of: map[Options]*Redactor{}}
)

// New returns the redactor for some options.
func New(opt Options) *Redactor {
	redactors.Lock()
	defer redactors.Unlock()
	if redactors.of[opt] == nil {
		redactors.of[opt] = compile(opt)
	}
	return redactors.of[opt]
}

func compile(opt Options) *Redactor {
	r := &Redactor{
		options: opt,
		rules:   slices.Concat(shared(), ownRules(opt)),
		kinds:   map[string]bool{},
		clean:   &clean{seed: maphash.MakeSeed()},
	}
	for i := range r.rules {
		r.kinds[r.rules[i].kind] = true
		if r.rules[i].spans != nil {
			r.wordless = append(r.wordless, i)
		}
	}
	r.filter = newPrefilter(r.rules)
	return r
}

// Hotkeys reports whether the public addresses of chain accounts, which identify agents, are
// found too.
func (r *Redactor) Hotkeys() bool { return r.options.Hotkeys }

// Placeholder returns the replacement of a secret of a kind. No rule matches it.
func Placeholder(kind string) string { return opening + kind + "]" }

// opening is the text with which every placeholder for a removed secret begins. The kind of the
// secret and a closing bracket follow.
const opening = "[REDACTED:"

// maxPasses is the maximum number of times that Text redacts the same text. A replacement may
// uncover another finding or create one. Only texts constructed for the purpose need more than
// two passes.
const maxPasses = 8

// Shortest is the length in bytes of the shortest finding, a mail address such as a@b.co.
const Shortest = 6

// Text returns text with every finding replaced by a placeholder, and adds the findings to
// counts. The result contains no finding. In JSON only strings and numbers are replaced, so that
// the result is JSON. A text that still has findings after eight replacements becomes a single
// placeholder. Bytes that are not UTF-8 are first replaced by U+FFFD, as in any file to which the
// text is written. Otherwise that later change could complete a secret.
func (r *Redactor) Text(text string, counts Counts) string {
	if r.clean.has(text) {
		return text
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, string(utf8.RuneError))
	}
	for pass := 0; ; pass++ {
		findings := r.Scan(text)
		switch {
		case len(findings) == 0 && len(r.ids) == 0: // without exempt ids there may be findings
			r.clean.add(text)
			fallthrough
		case len(findings) == 0:
			return text
		case pass == maxPasses && isJSON(text):
			return `"` + Placeholder(findings[0].Kind) + `"`
		case pass == maxPasses:
			return Placeholder(findings[0].Kind)
		}
		for _, f := range findings {
			counts[f.Kind]++
		}
		if isJSON(text) {
			text = replaceJSON(text, findings)
		} else {
			text = replace(text, findings)
		}
	}
}

// isJSON reports whether a text is a valid JSON object, array or string.
func isJSON(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	return trimmed != "" && strings.IndexByte(`{["`, trimmed[0]) >= 0 && cursor.Valid(text)
}

func replace(text string, findings []Finding) string {
	var b strings.Builder
	index := 0
	for _, f := range findings {
		b.WriteString(text[index:f.Start])
		b.WriteString(Placeholder(f.Kind))
		index = f.End
	}
	b.WriteString(text[index:])
	return b.String()
}

// Left returns an error if a text contains a finding. It is for checking text after redaction.
// where names the text. The error contains the kind and position, never the secret.
func (r *Redactor) Left(where, text string) error {
	if findings := r.Scan(text); len(findings) > 0 {
		return fmt.Errorf("scan %s: a %s is left at byte %d", where, findings[0].Kind, findings[0].Start)
	}
	return nil
}
