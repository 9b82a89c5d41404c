package redact

import (
	"slices"
	"strings"
)

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
		if named(text, s.start) {
			ids[text[s.start:s.end]] = true
		}
	}
}

// Sparing gives a redactor that leaves the numbers of ids alone wherever they
// stand.
func (r *Redactor) Sparing(ids IDs) *Redactor {
	if len(ids) == 0 {
		return r
	}
	out := *r
	out.ids = ids
	return &out
}

// cardKind is what card numbers are called.
const cardKind = "card-number"

// spare takes out the findings that are ids of goods: known ones, those that
// are named so where they stand, and what looks like a secret's name but is that
// of a product's field.
func (r *Redactor) spare(text string, all []Finding) []Finding {
	return slices.DeleteFunc(all, func(f Finding) bool {
		switch f.Kind {
		case cardKind:
			return r.ids[text[f.Start:f.End]] || named(text, f.Start)
		case assignedKind:
			return named(text, f.Start)
		default:
			return false
		}
	})
}

// goods are what names of an id hold.
var goods = []string{"product", "shop", "sku", "item", "seller", "asin", "gtin", "barcode", "catalog"}

// named reports whether the value at a place is assigned to a name of goods,
// by itself or in a list: "product_id": "1", product_ids: 1, 2, SKU 1.
func named(text string, at int) bool {
	const longestList = 1 << 10
	end := at
	for floor := max(0, at-longestList); end > floor && listBytes.has(text[end-1]); {
		end--
	}
	start := end
	for floor := max(0, end-64); start > floor && nameBytes.has(text[start-1]); {
		start--
	}
	name := strings.ToLower(text[start:end])
	return name == "id" || name == "ids" || slices.ContainsFunc(goods, func(g string) bool { return strings.Contains(name, g) })
}

var (
	listBytes = setOf("0123456789 \t\n\r\"':=,;[]#\\")
	nameBytes = alphanumeric.with("_-.")
)
