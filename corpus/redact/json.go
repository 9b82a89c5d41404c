package redact

import (
	"html"
	"regexp"
	"slices"
	"strings"
)

// replaceJSON replaces findings in the strings of a JSON value by placeholders, and numbers
// that are findings by strings of placeholders. Quotes, brackets and literals stay, so the
// result is JSON.
func replaceJSON(text string, findings []Finding) string {
	var b strings.Builder
	index := 0
	for i := 0; i < len(text) && len(findings) > 0; {
		if findings[0].End <= i {
			findings = findings[1:]
			continue
		}
		switch c := text[i]; {
		case c == '"':
			end := stringEnd(text, i)
			b.WriteString(text[index : i+1])
			writeString(&b, text, span{i + 1, end}, findings)
			index = end
			i = end + 1
		case c == '-' || digit(c):
			end := i + 1
			for end < len(text) && (digit(text[end]) || strings.IndexByte("+-.eE", text[end]) >= 0) {
				end++
			}
			if findings[0].Start < end {
				b.WriteString(text[index:i] + `"` + Placeholder(findings[0].Kind) + `"`)
				index = end
			}
			i = end
		default:
			i++
		}
	}
	b.WriteString(text[index:])
	return b.String()
}

func stringEnd(text string, open int) int {
	i := open + 1
	for i < len(text) && text[i] != '"' {
		i += escapeLen(text, i)
	}
	return min(i, len(text))
}

// escapeLen returns the length of the unit of a JSON string at an index: an escape, both
// halves of a surrogate pair, or one byte.
func escapeLen(text string, index int) int {
	if text[index] != '\\' || index+1 >= len(text) {
		return 1
	}
	if text[index+1] != 'u' {
		return 2
	}
	_, end := unicodeEscape(text, index, index+1)
	return max(end-index, 2)
}

// writeString writes the inside of a string with a placeholder for each finding
// that reaches into it.
func writeString(b *strings.Builder, text string, src span, findings []Finding) {
	index := src.start
	for _, f := range findings {
		if f.Start >= src.end {
			break
		}
		if f.End <= index {
			continue
		}
		start, end := src.cut(text, index, max(f.Start, index), false), src.cut(text, index, min(f.End, src.end), true)
		b.WriteString(text[index:start])
		b.WriteString(Placeholder(f.Kind))
		index = end
	}
	b.WriteString(text[index:src.end])
}

// cut returns the index itself or, within an escape, the escape's start or end.
func (s span) cut(text string, start, place int, after bool) int {
	for i := start; i < s.end; {
		n := escapeLen(text, i)
		if i == place || i+n > place && !after {
			return i
		}
		i += n
		if i >= place && after {
			return i
		}
	}
	return s.end
}

// IDs are numbers as long as a card's that name goods: they are never a card's.
type IDs map[string]bool

// Add takes in the numbers that a text names as ids.
func (ids IDs) Add(text string) {
	if len(text) < shortestCard {
		return
	}
	h := &hits{}
	h.longNumbers(text)
	for _, s := range h.numbers {
		if identifies(text, s) {
			ids[text[s.start:s.end]] = true
		}
	}
}

// Sparing returns a redactor that leaves the numbers of ids unchanged everywhere.
func (r *Redactor) Sparing(ids IDs) *Redactor {
	if len(ids) == 0 {
		return r
	}
	out := *r
	out.ids = ids
	return &out
}

const cardKind = "card-number"

// spare takes out the findings that are ids of goods: known ones, those that
// are named so where they stand, and what looks like a secret's name but is that
// of a product's field.
func (r *Redactor) spare(text string, items []Finding) []Finding {
	return slices.DeleteFunc(items, func(f Finding) bool {
		switch f.Kind {
		case cardKind:
			return r.ids[text[f.Start:f.End]] || identifies(text, span{f.Start, f.End})
		case assignedKind:
			return fieldOfGoods.MatchString(nameBefore(text, f.Start))
		default:
			return false
		}
	})
}

// fieldOfGoods is a name of a product's field that only looks like a secret's.
var fieldOfGoods = regexp.MustCompile(`(?i)^(?:product|sku|item|variant|option)s?[_-](?:token|secret|key)$`)

// keyEnd is what stands behind the key of a JSON object, in a page too.
var keyEnd = regexp.MustCompile(`^(?:\\*"|&#34;|&quot;)\s*:`)

// goods are what names of an id hold.
var goods = []string{"product", "shop", "sku", "item", "seller", "asin", "gtin", "barcode", "catalog"}

// identifies reports whether a number is assigned to a name of goods, by itself
// or in a list ("product_id": "1", product_ids: 1, 2, SKU 1), or is a name
// itself: the key of a JSON object.
func identifies(text string, number span) bool {
	if !digits.row(text, number.start, number.end-number.start, 0) {
		return false // as cards are printed and ids are not
	}
	if keyEnd.MatchString(text[number.end:min(len(text), number.end+12)]) {
		return true
	}
	name := strings.ToLower(nameBefore(text, number.start))
	return name == "id" || name == "ids" || slices.ContainsFunc(goods, func(g string) bool {
		return strings.Contains(name, g)
	})
}

// nameBefore returns the name that the value at an index is assigned to, by itself or in a
// list.
func nameBefore(text string, index int) string {
	const longestList = 1 << 10
	text = html.UnescapeString(text[max(0, index-longestList):index]) // pages show ids too
	end := len(text)
	for end > 0 && listBytes[text[end-1]] {
		end--
	}
	start := end
	for floor := max(0, end-64); start > floor && nameBytes[text[start-1]]; {
		start--
	}
	return text[start:end]
}

var (
	listBytes = setOf("0123456789 \t\n\r\"':=,;[]#\\")
	nameBytes = alphanumeric.with("_-")
)
