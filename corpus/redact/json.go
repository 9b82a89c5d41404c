package redact

import (
	"html"
	"regexp"
	"slices"
	"strings"
)

// replaceJSON returns a JSON value with each finding (a match of a redaction rule) replaced by
// a placeholder. findings are sorted and do not overlap. A number becomes a string with a
// placeholder. Quotes, brackets and literals are kept, so the result is valid JSON.
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

// escapeLen returns the number of bytes of the escape sequence at an index in a JSON string. A
// surrogate pair of two \u escapes counts as one sequence. The length is 1 if there is no escape
// at the index.
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

// writeString writes the part src of text, the content of a JSON string without its quotes, and
// replaces each finding in it, or the part of a finding that is in it, by a placeholder.
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

// cut moves an index out of an escape sequence, so that the text can be split there. It returns
// the end of the sequence that contains place if after is true, otherwise its start. It returns
// place itself if it is not inside a sequence. The search begins at start, which must not be
// inside one.
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

// IDs are numbers that identify things. They have as many digits as a card number and must not
// be redacted as one.
type IDs map[string]bool

// Add adds the long numbers that a text declares as ids, such as the value of
// "product_id".
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

// Sparing returns a redactor that does not redact the numbers in ids as card numbers, in any
// text.
func (r *Redactor) Sparing(ids IDs) *Redactor {
	if len(ids) == 0 {
		return r
	}
	out := *r
	out.ids = ids
	return &out
}

const cardKind = "card-number"

// spare removes from items, the matches of redaction rules in text, those that are not secrets:
// card numbers that the row or the text declares as ids of products, and values of fields such as
// product_token.
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

// fieldOfGoods matches names of fields about products that look like names of secrets, such as
// sku_key or product_token.
var fieldOfGoods = regexp.MustCompile(`(?i)^(?:product|sku|item|variant|option)s?[_-](?:token|secret|key)$`)

// keyEnd matches the quote and colon after a name in a JSON object, as in "id":. The quote may be
// escaped with backslashes or be an HTML entity.
var keyEnd = regexp.MustCompile(`^(?:\\*"|&#34;|&quot;)\s*:`)

// goods are words that occur in the names of fields with product ids, such as product in product_id
// or sku.
var goods = []string{"product", "shop", "sku", "item", "seller", "asin", "gtin", "barcode", "catalog"}

// identifies reports whether a text declares a number as an id. This is so if the number is the
// value of a name such as product_id, sku or id, alone or in a list, or if it is a key of a JSON
// object. A number with spaces or hyphens, as cards are printed, is no id.
func identifies(text string, number span) bool {
	if !digits.row(text, number.start, number.end-number.start, 0) {
		return false // cards are printed with separators, ids are not
	}
	if keyEnd.MatchString(text[number.end:min(len(text), number.end+12)]) {
		return true
	}
	name := strings.ToLower(nameBefore(text, number.start))
	return name == "id" || name == "ids" || slices.ContainsFunc(goods, func(g string) bool {
		return strings.Contains(name, g)
	})
}

// nameBefore returns the name to which the value at an index is assigned, alone or as an element
// of a list, such as product_ids before each number in product_ids: [1, 2]. It is at most 64
// bytes of letters, digits, _ and -, and "" if no name precedes.
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
