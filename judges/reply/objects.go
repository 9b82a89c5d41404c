package reply

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/lenient"
)

// maxDepth bounds nesting; a judge's answer needs three levels.
const maxDepth = 32

// rules drop what was cut off or broken: of a judge's answer only what it gave
// whole counts.
var rules = lenient.Rules{Depth: maxDepth}

// objects calls visit for every object in a text, with where it starts: whole
// ones in order, broken ones with what could be read of them, and what stands
// within broken ones. It is false for a text that would take too long.
//
// Each start may be read to the end of the text at worst; a text of nothing but
// openings would then cost its square. No honest reply has so many that fail
// late, so the work is bounded by a multiple of the text.
func objects(text string, visit func(start int, m lenient.Mended)) bool {
	work := 64 * (len(text) + 1)
	for i := strings.IndexByte(text, '{'); i >= 0; {
		m := rules.Mend(text[i:])
		if work -= m.End + 1; work < 0 {
			return false
		}
		visit(i, m)
		next := i + 1
		if m.Complete {
			next = i + m.End
		}
		step := strings.IndexByte(text[next:], '{')
		if step < 0 {
			break
		}
		i = next + step
	}
	return true
}

// lastObject finds the object with the key that counts, as strict JSON.
func lastObject(text, key string) (object string, found bool) {
	var salvaged string
	end := 0
	done := objects(text, func(start int, m lenient.Mended) {
		switch holder, has := holding(m.JSON, key, 0); {
		case has && m.Complete:
			object, found, end = holder, true, start+m.End
		case has && salvaged == "":
			salvaged = holder
		}
	})
	switch {
	case !done, found && goesOn(text[end:], key):
		return "", false
	case !found && salvaged != "" && strings.Count(text, `"`+key+`"`) == 1:
		return salvaged, true
	}
	return object, found
}

// goesOn reports whether behind a whole object its key is given again outside of
// any: the object then stood within another that is broken, as a quote of the
// trajectory does where its quotes are not escaped, and is not the model's own.
func goesOn(rest, key string) bool {
	outside, _, _ := strings.Cut(rest, "{")
	_, after, again := strings.Cut(outside, `"`+key+`"`)
	return again && strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), ":")
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
