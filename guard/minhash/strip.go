package minhash

import (
	"bytes"
	"slices"
	"strings"
)

// voucherHeads open the sentences that every voucher request of the subnet's
// suites says, its numbers aside, in lower case.
var voucherHeads = [][]byte{
	[]byte("my budget is only "),
	[]byte("the voucher applies to "),
	[]byte("the voucher only applies to "),
	[]byte("it is valid only when the total price of the products exceeds "),
	[]byte("it provides a fixed discount of "),
	[]byte("it provides a percentage discount of "),
}

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
		out = cut(out, voucherSentences(lowerASCII(out)))
	}
	if strings.TrimSpace(out) == "" {
		return doc
	}
	return out
}

// lowerASCII is text with its capital letters A to Z made small; nothing moves.
func lowerASCII(text string) []byte {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return b
}

// span is a stretch of a text in bytes.
type span struct{ from, to int }

// voucherSentences finds the sentences of a voucher with their numbers in a
// list ("2. ").
func voucherSentences(text []byte) (found []span) {
	for _, head := range voucherHeads {
		for from := 0; ; {
			at := bytes.Index(text[from:], head)
			if at < 0 {
				break
			}
			at += from
			from = sentenceEnd(text, at+len(head))
			if at >= 3 && text[at-1] == ' ' && text[at-2] == '.' && text[at-3] >= '0' && text[at-3] <= '9' {
				at -= 3
			}
			found = append(found, span{at, from})
		}
	}
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	return found
}

// sentenceEnd returns the end of the line, or of the sentence that from lies in:
// a full stop or colon that no digit follows.
func sentenceEnd(text []byte, from int) int {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '\n':
			return i
		case '.', ':':
			if i+1 == len(text) || text[i+1] < '0' || text[i+1] > '9' {
				return i + 1
			}
		}
	}
	return len(text)
}

// cut returns text without the spans, which are in order. It is a copy, so that
// what was cut is not kept in memory.
func cut(text string, spans []span) string {
	kept, at := make([]byte, 0, len(text)), 0
	for _, s := range spans {
		kept = append(kept, text[at:max(at, s.from)]...)
		at = max(at, s.to)
	}
	return string(append(kept, text[at:]...))
}
