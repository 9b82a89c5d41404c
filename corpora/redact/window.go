package redact

import (
	"slices"
	"strings"
)

// span is a part of a text by byte offsets.
type span struct{ start, end int }

// The rules name a secret at most reachBack bytes before their keyword and
// begin it at most reachOn bytes after. A window then goes on to the end of the
// token that it cuts, at most longest bytes on.
const (
	reachBack = 96
	reachOn   = 256
	longest   = 16 << 10
)

// hits are the places of the keywords, in no order.
func hits(text string, keywords []string) []span {
	var out []span
	for _, k := range keywords {
		for at := 0; ; {
			i := strings.Index(text[at:], k)
			if i < 0 {
				break
			}
			out = append(out, span{at + i, at + i + len(k)})
			at += i + len(k)
		}
	}
	return out
}

// places are the parts of a text from each keyword on.
func places(text string, keywords []string) []span {
	out := hits(text, keywords)
	for i, h := range out {
		out[i].end = around(text, h.start, h.end).end
	}
	return out
}

// windows are the parts of a text around the keywords, in order, apart from
// each other.
func windows(text string, keywords []string) []span {
	all := hits(text, keywords)
	for i, h := range all {
		all[i] = around(text, h.start, h.end)
	}
	slices.SortFunc(all, func(a, b span) int { return a.start - b.start })
	out := all[:0]
	for _, w := range all {
		if n := len(out); n > 0 && w.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, w.end)
		} else {
			out = append(out, w)
		}
	}
	return out
}

func around(text string, start, end int) span {
	start, end = max(0, start-reachBack), min(len(text), end+reachOn)
	for floor := max(0, start-longest); start > floor && !separator(text[start-1]); {
		start--
	}
	for ceiling := min(len(text), end+longest); end < ceiling && !separator(text[end]); {
		end++
	}
	return span{start, end}
}

func separator(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '"' || c == '\'' }

// keyTexts is the whole of a text that holds a private key: keys have no bound.
func keyTexts(text string) []span {
	if !strings.Contains(text, "PRIVATE KEY") {
		return nil
	}
	return []span{{0, len(text)}}
}

// lower is text with ASCII letters in lower case; its offsets are the same.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// digitRuns are the parts of a text that hold four digits or more among dots,
// blanks and hyphens, with a byte on either side: nothing shorter is a network
// address or a card number.
func digitRuns(text string) []span {
	var out []span
	for i := 0; i < len(text); {
		if !digit(text[i]) {
			i++
			continue
		}
		start, digits := i, 0
		for ; i < len(text) && numeric(text[i]); i++ {
			if digit(text[i]) {
				digits++
			}
		}
		if digits >= 4 {
			out = append(out, span{max(0, start-1), min(len(text), i+1)})
		}
	}
	return out
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func numeric(c byte) bool { return digit(c) || c == '.' || c == ' ' || c == '-' }
