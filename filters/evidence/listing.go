package evidence

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// Listing contains the ids and titles of the items in a result, in the order of the result.
type Listing struct {
	Shown  []string
	Titles []string
}

const blanks = " \t\r\n"

// readListing finds the ids and titles of the items in a result of any shape. For speed it
// does not parse the JSON. It searches for colons, which are rarer than quotes and letters, and
// reads the key before and the value after each colon.
func (s *scratch) readListing(result arena.Raw) Listing {
	if !s.hasRoom() {
		return Listing{}
	}
	text := originalText(result)
	firstID := len(s.listing.Shown)
	firstTitle := len(s.listing.Titles)
	for len(s.listing.Shown)-firstID < maxIDs {
		colon := strings.IndexByte(text, ':')
		if colon < 0 {
			break
		}
		column := s.listing.columnFor(text[:colon])
		text = text[colon+1:]
		if column == nil {
			continue
		}
		var value string
		value, text = cutScalar(strings.TrimLeft(text, blanks))
		if value != "" || column != &s.listing.Shown { // an item has an id
			*column = append(*column, value)
		}
	}

	l := Listing{
		Shown:  s.listing.Shown[firstID:len(s.listing.Shown):len(s.listing.Shown)],
		Titles: s.listing.Titles[firstTitle:len(s.listing.Titles):len(s.listing.Titles)],
	}
	l.Titles = l.Titles[:min(len(l.Titles), len(l.Shown))]
	return l
}

// originalText returns a result as the tool wrote it. If a client encoded a result with items as
// a JSON string, it returns the content of the string.
func originalText(result arena.Raw) string {
	s := string(result)
	if result.Kind() == arena.String && strings.Contains(s, `\"product_id\"`) {
		return gjson.Parse(s).Str
	}
	return s
}

// columnFor returns a pointer to the list that a value in JSON belongs to, by the key at the end of
// text, which is the text before the value: l.Shown for product_id, l.Titles for a key that ends in
// "title", and nil for any other key.
func (l *Listing) columnFor(text string) *[]string {
	for len(text) > 0 && strings.IndexByte(blanks, text[len(text)-1]) >= 0 {
		text = text[:len(text)-1]
	}
	switch {
	case strings.HasSuffix(text, `"product_id"`):
		return &l.Shown
	case strings.HasSuffix(text, `title"`):
		return &l.Titles
	}
	return nil
}

// filterShown returns the ids that are in shown or in the text of the result.
func (s *scratch) filterShown(ids, shown []string, result arena.Raw) []string {
	start := len(s.ids)
	for _, id := range ids {
		if s.hasRoom() && (slices.Contains(shown, id) || strings.Contains(string(result), id)) {
			s.ids = append(s.ids, id)
		}
	}
	return s.ids[start:len(s.ids):len(s.ids)]
}

// cutScalar splits s after the JSON string or number at its start. A string is returned without
// quotes; escapes are not decoded. Both results are empty if a string has no closing quote.
func cutScalar(s string) (value, tail string) {
	if s == "" {
		return "", ""
	}
	if s[0] == '"' {
		end := strings.IndexByte(s[1:], '"')
		if end < 0 {
			return "", ""
		}
		return s[1 : 1+end], s[end+2:]
	}
	end := 0
	for end < len(s) && s[end] > ' ' && s[end] != ',' && s[end] != '}' && s[end] != ']' {
		end++
	}
	return s[:end], s[end:]
}

// isSameItem reports whether the proxy's result (returned) contains the item with this id,
// and the result in the dialogue (claimed) has no other title or price for it. A title, price or
// item that claimed lacks is no difference. It returns false if returned lacks the item.
func isSameItem(returned, claimed arena.Raw, id string) bool {
	a := findItem(returned, id)
	b := findItem(claimed, id)
	if !a.Exists() || !b.Exists() {
		return a.Exists()
	}
	for _, key := range [...]string{"title", "price"} {
		x := a.Get(key)
		y := b.Get(key)
		if x.Exists() && y.Exists() && !isSameValue(x, y) {
			return false
		}
	}
	return true
}

// isSameValue reports whether two JSON values are equal: as numbers if one of them is a number,
// else as text.
func isSameValue(x, y gjson.Result) bool {
	if x.Type == gjson.Number || y.Type == gjson.Number {
		return x.Float() == y.Float()
	}
	return x.String() == y.String()
}

// findItem returns the item with this id in a result of any shape. If there is none,
// Exists of the returned value is false.
func findItem(result arena.Raw, id string) gjson.Result {
	v := gjson.Parse(string(result))
	if v.Type == gjson.String {
		v = gjson.Parse(v.Str)
	}
	if !v.IsObject() {
		return findInList(v, id)
	}
	if v.Get("product_id").String() == id {
		return v
	}
	for _, field := range v.ForEach {
		if item := findInList(field, id); item.Exists() {
			return item
		}
	}
	return gjson.Result{}
}

// findInList returns the item with this id in a JSON array of items. If v is no array or lacks the
// item, Exists of the returned value is false.
func findInList(v gjson.Result, id string) gjson.Result {
	if !v.IsArray() {
		return gjson.Result{}
	}
	for _, item := range v.ForEach {
		if item.Get("product_id").String() == id {
			return item
		}
	}
	return gjson.Result{}
}
