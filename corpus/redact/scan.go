package redact

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// hit is an occurrence of a keyword of a rule, or another part of the text that the rule has to
// search. The rule is given by its index.
type hit struct {
	rule int
	span
}

// hits is what one pass over a text found, from which the redaction rules then work: keywords,
// numbers, long base64 sequences and mnemonic phrases.
type hits struct {
	words []hit
	// parts are the parts of the text for rules that have no keywords.
	parts []hit
	// numbers are sequences of digits, some with dots, spaces and hyphens.
	numbers []span
	// placeholders are those that replaced secrets in an earlier pass.
	placeholders []span
	// runs are long sequences of base64 characters that may contain a secret.
	runs []span
	// phrases are mnemonic phrases of wallets. phrased is the end of the last sequence of words
	// that was examined for them.
	phrases []span
	phrased int
	// escaped reports whether the text has an escape that may hide a part of a keyword; hidden
	// reports the same of invisible characters, percent-encoding and HTML entities.
	escaped, hidden bool
}

func (h *hits) none() bool {
	return len(h.words) == 0 && len(h.parts) == 0 && len(h.runs) == 0 && !h.escaped && !h.hidden
}

// maxCoats is how often a secret may be encoded in base64, one encoding within another, and still
// be found.
const maxCoats = 2

// Scan returns the findings in a text, in order. Findings that overlap are merged into one, of
// the kind that begins first or, at the same position, is longer.
func (r *Redactor) Scan(text string) []Finding { return r.scan(text, maxCoats) }

func (r *Redactor) scan(text string, coats int) []Finding {
	h := r.look(text)
	if h.none() {
		return nil
	}
	plain := unescaped(text)
	if len(plain.marks) > 0 {
		h = r.look(plain.text)
	}
	findings := r.see(plain.text, h, coats)
	if h.hidden {
		if bare := undisguised(plain.text); len(bare.marks) > 0 {
			findings = append(findings, bare.sourced(r.see(bare.text, r.look(bare.text), coats))...)
		}
	}
	return plain.sourced(merge(findings))
}

func (r *Redactor) see(
	text string,
	h *hits,
	coats int,
) []Finding {
	var findings []Finding
	for i := 0; i < len(h.words); {
		rule := h.words[i].rule
		mine := h.words[i:]
		if n := slices.IndexFunc(mine, func(x hit) bool { return x.rule != rule }); n >= 0 {
			mine = mine[:n]
		}
		findings = r.rules[rule].find(findings, text, mine)
		i += len(mine)
	}
	for _, p := range h.parts {
		findings = r.rules[p.rule].within(findings, text, p.span)
	}
	findings = append(findings, r.encoded(text, h.runs, coats)...)
	return merge(outside(r.spare(text, findings), h.placeholders))
}

func (v *view) sourced(findings []Finding) []Finding {
	for i, f := range findings {
		findings[i].Start, findings[i].End = v.from(f.Start), v.from(f.End)
	}
	return findings
}

// look passes over a text once and returns what the rules need: occurrences of keywords, sorted
// by rule and position, and the parts that rules without keywords search. It also notes what may
// hide a secret.
func (r *Redactor) look(text string) *hits {
	h := &hits{}
	r.filter.pass(text, func(n *needle, start int) {
		end := start + len(n.word)
		switch n.rule {
		case noteNumber:
			h.number(text, start)
		case noteEscape:
			h.escaped = true
		case noteDisguise:
			h.hidden = h.hidden || n.word != "%" && n.word != "&" || start < disguiseEnd(text, start)
		case notePlaceholder:
			if e := strings.IndexByte(text[end:], ']'); e >= 0 && r.kinds[text[end:end+e]] {
				h.placeholders = append(h.placeholders, span{start, end + e + 1})
			}
		default:
			if follows := r.rules[n.rule].follows; follows == nil || follows(text, start, end) {
				h.words = append(h.words, hit{n.rule, span{start, end}})
			}
		}
	})
	h.longNumbers(text)
	h.sample(text)
	for _, i := range r.wordless {
		for _, s := range r.rules[i].spans(text, h) {
			h.parts = append(h.parts, hit{i, s})
		}
	}
	slicesx.SortFunc(h.words, func(a, b hit) int {
		return cmp.Or(
			a.rule-b.rule,
			a.start-b.start,
			a.end-b.end,
		)
	})
	return h
}

// outside removes the findings that are completely inside placeholders of an earlier pass. A
// finding that overlaps a placeholder partly is extended to include all of it. placeholders
// must be sorted. The result shares the memory of findings.
func outside(findings []Finding, placeholders []span) []Finding {
	if len(placeholders) == 0 {
		return findings
	}
	out := findings[:0]
	for _, f := range findings {
		rules := f.End - f.Start
		hull := f
		first := sort.Search(len(placeholders), func(i int) bool {
			return placeholders[i].end > f.Start
		})
		for i := first; i < len(placeholders) && placeholders[i].start < f.End; i++ {
			p := placeholders[i]
			rules -= min(p.end, f.End) - max(p.start, f.Start)
			hull.Start, hull.End = min(hull.Start, p.start), max(hull.End, p.end)
		}
		if rules > 0 {
			out = append(out, hull)
		}
	}
	return out
}

func merge(findings []Finding) []Finding {
	slicesx.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	out := findings[:0]
	for _, f := range findings {
		if n := len(out); n > 0 && f.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, f.End)
		} else {
			out = append(out, f)
		}
	}
	return out
}
