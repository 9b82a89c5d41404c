// Package redact finds what must not be published in texts (secrets, e-mail
// and network addresses, card numbers) and puts typed placeholders in its
// place. Its rules are those of gitleaks, with a few of its own for what that
// set leaves out or matches too narrowly for synthetic or shortened secrets.
package redact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Options choose what is found beyond secrets and addresses.
type Options struct {
	// Hotkeys also finds the public addresses of chain accounts. They name the
	// agents of a corpus, so they stay unless asked for.
	Hotkeys bool
}

// Redactor finds and replaces. It may be used by several goroutines.
type Redactor struct {
	rules []rule
}

// Finding is one passage that a rule matched.
type Finding struct {
	// Kind is the rule's name, such as aws-access-token.
	Kind string
	// Start and End are byte offsets of the secret itself.
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

// New compiles the rules.
func New(opt Options) (*Redactor, error) {
	shared, err := sharedRules()
	if err != nil {
		return nil, err
	}
	own, err := ownRules(opt)
	if err != nil {
		return nil, err
	}
	return &Redactor{rules: append(own, shared...)}, nil
}

// Placeholder is what stands for a secret of a kind. No rule matches it.
func Placeholder(kind string) string { return "[REDACTED:" + kind + "]" }

// Text replaces every finding and adds it to counts.
func (r *Redactor) Text(text string, counts Counts) string {
	found := r.Scan(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, f := range found {
		b.WriteString(text[at:f.Start])
		b.WriteString(Placeholder(f.Kind))
		at = f.End
		counts[f.Kind]++
	}
	b.WriteString(text[at:])
	return b.String()
}

// Scan lists the findings in a text in order, none overlapping another: of two
// that do, the one that starts first stays, then the longer.
func (r *Redactor) Scan(text string) []Finding {
	low := lower(text)
	var all []Finding
	for i := range r.rules {
		all = r.rules[i].find(all, text, low)
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	out := all[:0]
	for _, f := range all {
		if len(out) == 0 || f.Start >= out[len(out)-1].End {
			out = append(out, f)
		}
	}
	return out
}

// Left is the error of a text that still holds a finding after redaction. It
// names kind and place and never the secret.
func (r *Redactor) Left(where, text string) error {
	if found := r.Scan(text); len(found) > 0 {
		return fmt.Errorf("scan %s: a %s is left at byte %d", where, found[0].Kind, found[0].Start)
	}
	return nil
}
