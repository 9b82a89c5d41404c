package redact

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

type hit struct {
	rule int
	span
}

type hits struct {
	words []hit
	// parts are those that rules without words search.
	parts []hit
	// numbers are runs of digits with what may stand between them.
	numbers []span
	// placeholders are those of earlier passes.
	placeholders []span
	// runs are long stretches of letters and digits without a blank.
	runs []span
	// phrases are those of wallets, and phrased is where the last row of words ends
	// that was looked at.
	phrases []span
	phrased int
	// escaped reports whether an escape may hide a part of a word, hidden whether
	// another disguise may.
	escaped, hidden bool
}

func (h *hits) none() bool {
	return len(h.words) == 0 && len(h.parts) == 0 && len(h.runs) == 0 && !h.escaped && !h.hidden
}

// maxCoats bounds how many coats of base64 a secret is looked for under.
const maxCoats = 2

// Scan lists the findings in a text in order, none overlapping another: those
// that overlap are one, of the kind that starts first, or is longer.
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

// look passes over a text once; the hits are by rule, then in order.
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
	slices.SortFunc(h.words, func(a, b hit) int {
		return cmp.Or(
			a.rule-b.rule,
			a.start-b.start,
			a.end-b.end,
		)
	})
	return h
}

// outside takes placeholders out of account: a finding within them is none,
// one that cuts one takes it in whole.
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
	slices.SortStableFunc(findings, func(a, b Finding) int {
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
