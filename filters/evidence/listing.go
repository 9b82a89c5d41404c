package evidence

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// Listing is what a result shows of its products, each column in the result's order.
type Listing struct {
	Shown, Titles []string
}

// List reads a result. It looks for the keys alone, so any shape of result will
// do, and for those by their colon, which is rarer in results than the quotes
// and letters of a key.
func (p *Pad) List(result arena.Raw) Listing {
	if !p.room() {
		return Listing{}
	}
	s, all := written(result), &p.listed
	shown, titles := len(all.Shown), len(all.Titles)
	for len(all.Shown)-shown < maxIDs {
		colon := strings.IndexByte(s, ':')
		if colon < 0 {
			break
		}
		column := all.column(s[:colon])
		s = s[colon+1:]
		if column == nil {
			continue
		}
		var value string
		value, s = scalar(strings.TrimLeft(s, blanks))
		if value != "" || column != &all.Shown { // what has no id is no product
			*column = append(*column, value)
		}
	}
	l := Listing{all.Shown[shown:len(all.Shown):len(all.Shown)], all.Titles[titles:len(all.Titles):len(all.Titles)]}
	l.Titles = l.Titles[:min(len(l.Titles), len(l.Shown))]
	return l
}

const blanks = " \t\r\n"

// written is a result as its tool wrote it: a client may have passed it on as
// text.
func written(result arena.Raw) string {
	s := string(result)
	if result.Kind() == arena.String && strings.Contains(s, `\"product_id\"`) {
		return gjson.Parse(s).Str
	}
	return s
}

// column is where the value of the key belongs that text ends with, nil where it
// belongs nowhere.
func (l *Listing) column(text string) *[]string {
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

// held lists those of the ids that a result holds; shown are such as are known
// to stand in it.
func (p *Pad) held(ids, shown []string, result arena.Raw) []string {
	from := len(p.ids)
	for _, id := range ids {
		if p.room() && (slices.Contains(shown, id) || strings.Contains(string(result), id)) {
			p.ids = append(p.ids, id)
		}
	}
	return p.ids[from:len(p.ids):len(p.ids)]
}

// scalar cuts a JSON string without escapes, or a number, off s.
func scalar(s string) (value, rest string) {
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

// showsSame reports whether the product id stands in both results with the same
// title and price, as far as both show them.
func showsSame(returned, shown arena.Raw, id string) bool {
	a, b := productIn(returned, id), productIn(shown, id)
	if !a.Exists() || !b.Exists() {
		return a.Exists()
	}
	for _, key := range [...]string{"title", "price"} {
		x, y := a.Get(key), b.Get(key)
		numeric := x.Type == gjson.Number || y.Type == gjson.Number
		if same := numeric && x.Float() == y.Float() || !numeric && x.String() == y.String(); !same && x.Exists() && y.Exists() {
			return false
		}
	}
	return true
}

func productIn(result arena.Raw, id string) gjson.Result {
	v := gjson.Parse(string(result))
	if v.Type == gjson.String {
		v = gjson.Parse(v.Str)
	}
	if v.IsObject() {
		if v.Get("product_id").String() == id {
			return v
		}
		v = v.Get("products")
	}
	for _, p := range v.ForEach {
		if p.Get("product_id").String() == id {
			return p
		}
	}
	return gjson.Result{}
}
