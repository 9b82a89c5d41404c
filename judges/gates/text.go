package gates

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/text"
)

// fold lowers the case of text and keeps every byte offset: a letter whose
// lower case has another length stays as it is, as do bytes that are no UTF-8, so
// that quotes are cut from the original.
func fold(text string) string {
	b := []byte(text)
	for i := 0; i < len(b); {
		if c := b[i]; c < utf8.RuneSelf {
			b[i] = lower(c)
			i++
			continue
		}
		c, width := utf8.DecodeRune(b[i:])
		if low := unicode.ToLower(c); low != c && utf8.RuneLen(low) == width {
			utf8.EncodeRune(b[i:], low)
		}
		i += width
	}
	return string(b)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordByte(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || isDigit(c) }

// unspaced tells the scripts that put no blanks between words.
func unspaced(r rune) bool {
	return r >= 0x0E00 && r <= 0x0E7F || r >= 0x3040 && r <= 0x30FF ||
		r >= 0x3400 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7AF || r >= 0xF900 && r <= 0xFAFF
}

// maxQuote bounds a cited passage, in bytes.
const maxQuote = 240

// clip cuts a passage to maxQuote bytes at a rune's edge.
func clip(s string) string {
	return strings.TrimSpace(text.ClipBytes(strings.TrimSpace(s), maxQuote))
}

// span is a half-open range of bytes.
type span struct{ start, end int32 }

// quote cuts the sentence s from text; where it is too long, the part around
// the evidence at.
func quote(text string, s, at span) string {
	if s.end-s.start > maxQuote && at.end-s.start > maxQuote {
		s.start = max(s.start, at.start-maxQuote/2)
		for s.start < at.start && !utf8.RuneStart(text[s.start]) {
			s.start++
		}
	}
	return clip(text[s.start:s.end])
}

// A name in a script without blanks is found in the thinking by its letters.
// minName and maxName bound, in runes, what is taken for one. maxNames bounds
// the names that are held against all titles, and looked for in all thinking.
const (
	minName  = 2
	maxName  = 6
	maxNames = 512
)

// leadEnd is where the first word of a title or brand ends: at a blank or sign,
// or where the script changes.
func leadEnd(text string) int {
	if end := wordRun(text, 0); end > 0 {
		return end
	}
	for i, c := range text {
		if !unspaced(c) {
			return i
		}
	}
	return len(text)
}

// unspacedBrands are the brands of products in scripts without blanks: what a
// result calls so, or how titles begin. Products that share a brand give it once,
// with the step of the first.
func (s *shelf) unspacedBrands() (all []unspacedBrand) {
	for i := range s.products {
		p := &s.products[i]
		text := cmp.Or(p.brand, p.title)
		name := text[:leadEnd(text)]
		first, _ := utf8.DecodeRuneInString(name)
		if n := utf8.RuneCountInString(name); !unspaced(first) || n < minName || n > maxName || len(all) == maxNames {
			continue
		}
		if !slices.ContainsFunc(all, func(b unspacedBrand) bool { return b.name == name }) {
			all = append(all, unspacedBrand{name, p.step})
		}
	}
	return all
}

// unspacedBrand is a brand and the step of the first result that holds it.
type unspacedBrand struct {
	name string
	step int32
}

// citeUnspacedBrands notes the brands that a passage names in a script without
// blanks.
func (r *reading) citeUnspacedBrands() {
	for _, b := range r.brands {
		if b.step >= r.step {
			continue
		}
		for at := 0; ; {
			found := strings.Index(r.text[at:], b.name)
			if found < 0 {
				break
			}
			start := int32(at + found)
			at = int(start) + len(b.name)
			if sentence, ok := r.sentenceAt(start); ok {
				r.cites = append(r.cites, cite{span: span{start, int32(at)}, kind: citeBrand, sentence: sentence, token: -1, product: -1, asked: strings.Contains(r.request, b.name)})
			}
		}
	}
}

func (r *reading) sentenceAt(at int32) (index int, found bool) {
	return slices.BinarySearchFunc(r.sentences, at, func(s sentence, at int32) int {
		if s.end <= at {
			return -1
		}
		return max(0, cmp.Compare(s.start, at))
	})
}
