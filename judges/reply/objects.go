package reply

import (
	"strings"

	"github.com/tidwall/gjson"
)

// lastObject finds the object with the key that counts, as strict JSON.
func lastObject(text, key string) (object string, found bool) {
	var salvaged string
	// Each start may be read to the end of the text at worst; a text of nothing
	// but openings would then cost its square. No honest reply has so many that
	// fail late, so the work is bounded by a multiple of the text.
	work := 64 * (len(text) + 1)
	for i := strings.IndexByte(text, '{'); i >= 0; {
		m := mend(text[i:])
		if work -= m.end + 1; work < 0 {
			return "", false
		}
		next := i + 1
		switch holder, has := holding(m.strict, key, 0); {
		case m.complete:
			next = i + m.end
			if has {
				object, found = holder, true
			}
		case has && salvaged == "":
			salvaged = holder
		}
		step := strings.IndexByte(text[next:], '{')
		if step < 0 {
			break
		}
		i = next + step
	}
	if !found && salvaged != "" && strings.Count(text, `"`+key+`"`) == 1 {
		return salvaged, true
	}
	return object, found
}

// holding finds the object that has the key: object itself, or the last one
// wrapped in it.
func holding(object, key string, depth int) (string, bool) {
	if depth > maxDepth || !strings.Contains(object, key) {
		return "", false
	}
	var inner string
	own := false
	gjson.Parse(object).ForEach(func(k, v gjson.Result) bool {
		own = own || k.Str == key
		if v.IsObject() || v.IsArray() {
			if h, ok := holding(v.Raw, key, depth+1); ok {
				inner = h
			}
		}
		return true
	})
	if own {
		return object, true
	}
	return inner, inner != ""
}
