package minhash

import (
	"regexp"
	"strings"
)

// voucherSentences are what every voucher request of the subnet's suites says,
// its numbers aside.
var voucherSentences = regexp.MustCompile(`(?i)(?:my budget is only \S+ but i have a voucher with the following rules:|\d\. the voucher (?:only )?applies to [a-z ]+\.|\d\. it is valid only when the total price of the products exceeds \S+|\d\. it provides a (?:fixed|percentage) discount of \S+(?: with a cap of \S+)?)`)

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
		out = voucherSentences.ReplaceAllString(out, "")
	}
	if strings.TrimSpace(out) == "" {
		return doc
	}
	return out
}
