package minhash

import (
	"regexp"
	"strings"
)

// voucher finds the sentences that every voucher request of the subnet's suites
// says, with their numbers in a list ("2. "). A full stop or colon that a digit
// follows ends none.
var voucher = regexp.MustCompile(`(?i)(?:[0-9]\. )?(?:my budget is only |the voucher (?:only )?applies to |` +
	`it is valid only when the total price of the products exceeds |it provides a (?:fixed|percentage) discount of )` +
	`(?:[^\n.:]|[.:][0-9])*[.:]?`)

// Stripper takes out of documents what they share by construction, so that
// only what was said is compared.
type Stripper struct{ texts []string }

// NewStripper strips the given texts, such as a system prompt and the tool
// definitions of a harness, and the sentences of vouchers.
func NewStripper(texts []string) *Stripper {
	s := &Stripper{}
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			s.texts = append(s.texts, t)
		}
	}
	return s
}

// Strip returns doc without boilerplate, or doc itself where nothing else is in
// it: documents of boilerplate alone are still alike.
func (s *Stripper) Strip(doc string) string {
	out := doc
	for _, t := range s.texts {
		out = strings.ReplaceAll(out, t, "\n")
	}
	if strings.Contains(out, "voucher") {
		out = voucher.ReplaceAllString(out, "")
	}
	if strings.TrimSpace(out) == "" {
		return doc
	}
	return out
}
