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

// Rules names the rules: those of gitleaks in their version, and the own.
const Rules = "gitleaks v8.30.1 and arena.redact.v4"

// Options choose what is found beyond secrets and addresses.
type Options struct {
	// Hotkeys also finds the public addresses of chain accounts. They name the
	// agents of a corpus, so they stay unless asked for.
	Hotkeys bool
	// Homes leaves the names of home folders: in words to the one who sits there
	// they are that person's own.
	Homes bool
}

// Redactor finds and replaces. It may be used by several goroutines.
type Redactor struct {
	options Options
	rules   []rule
	filter  *prefilter
	// ids are numbers that are left alone.
	ids IDs
	// wordless are the positions of rules that no word brings up.
	wordless []int
	kinds    map[string]bool
	clean    *clean
}

// Finding is one passage that a rule matched.
type Finding struct {
	// Kind is the rule's name, such as aws-access-token.
	Kind string
	// Start and End are byte offsets of the secret itself. Neither lies within a
	// JSON escape or a character.
	Start, End int
}

// Counts are findings by kind.
type Counts map[string]int64

// Add takes other counts in.
func (c Counts) Add(other Counts) {
	for k, n := range other {
		c[k] += n
	}
}

// shared are gitleaks' rules, the same for all options; redactors are those that there
// are. Each is made once in a process.
var (
	shared    = sync.OnceValue(sharedRules)
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

// Hotkeys reports whether the accounts of agents are found too.
func (r *Redactor) Hotkeys() bool { return r.options.Hotkeys }

// Placeholder returns the replacement of a secret of a kind. No rule matches it.
func Placeholder(kind string) string { return opening + kind + "]" }

const opening = "[REDACTED:"

// maxPasses bounds how often a text is looked at again: what was replaced may
// have hidden another finding, or made one. Each pass leaves less of the text,
// and texts that nobody made up for the purpose settle in two.
const maxPasses = 8

// Shortest is the length in bytes of the shortest finding, a mail address such as a@b.co.
const Shortest = 6

// Text replaces every finding and adds it to counts. The text that it returns
// holds no finding. Of JSON only strings and numbers are replaced, so that it stays
// JSON; a text that does not settle becomes one placeholder. Bytes that are no
// UTF-8 become U+FFFD, as they would in any file that is written of the text:
// three bytes where there was one may complete a secret.
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
		case len(findings) == 0 && len(r.ids) == 0: // what is found without them may be more
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

// isJSON reports whether a text is a JSON object or array.
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

// Left returns an error for a text that still holds a finding after redaction. It names kind
// and position and never the secret.
func (r *Redactor) Left(where, text string) error {
	if findings := r.Scan(text); len(findings) > 0 {
		return fmt.Errorf("scan %s: a %s is left at byte %d", where, findings[0].Kind, findings[0].Start)
	}
	return nil
}
