package evidence

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

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
		if x.Exists() && y.Exists() && !sameScalar(x, y) {
			return false
		}
	}
	return true
}

func sameScalar(a, b gjson.Result) bool {
	if a.Type == gjson.Number || b.Type == gjson.Number {
		return a.Float() == b.Float()
	}
	return a.String() == b.String()
}

func productIn(result arena.Raw, id string) (found gjson.Result) {
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
	v.ForEach(func(_, p gjson.Result) bool {
		if p.Get("product_id").String() == id {
			found = p
		}
		return !found.Exists()
	})
	return found
}
