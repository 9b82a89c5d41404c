package reply

import (
	"slices"
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
		m := rules.Repair(text[i:])
		if work -= m.End + 1; work < 0 {
			return false
		}
		visit(i, m)
		next := i + 1
		if m.Complete {
			next = i + m.End
		}
		if i = strings.IndexByte(text[next:], '{'); i >= 0 {
			i += next
		}
	}
	return true
}

type answers struct {
	key string
	// whole are complete, broken what could be read of others.
	whole, broken []string
	// end is where the last whole one ends.
	end int
	// doubtful is set where one stands in another, in a quote, or has a key twice.
	doubtful bool
}

// only is the one object with the key, as strict JSON: complete, or the only one
// that was cut off or broken behind the key's value. Two that differ in it are
// none, since one of them may be quoted; so are one within another, one on a
// quoted line, and a key that is there twice.
func only(text, key string) (object string, whole, found bool) {
	a := answers{key: key}
	if !objects(text, func(start int, m lenient.Mended) { a.add(text, start, m) }) || a.doubtful {
		return "", false, false
	}
	if len(a.whole) > 0 {
		object = a.whole[len(a.whole)-1]
		return object, true, !a.differ() && !goesOn(text[a.end:], key)
	}
	if len(a.broken) > 0 && strings.Count(text, `"`+key+`"`) == 1 {
		return a.broken[0], false, true
	}
	return "", false, false
}

func (a *answers) add(text string, start int, m lenient.Mended) {
	object := inCall(m.JSON)
	own, within := keysOf(object, a.key)
	if own == 0 && !within {
		return
	}
	quoted := strings.HasPrefix(strings.TrimLeft(text[strings.LastIndexByte(text[:start], '\n')+1:start], " \t"), ">") // as lines of quotes begin
	a.doubtful = a.doubtful || within || own > 1 || m.Complete && quoted
	switch {
	case own == 0:
	case m.Complete:
		a.whole, a.end = append(a.whole, object), start+m.End
	default:
		a.broken = append(a.broken, object)
	}
}

func (a *answers) differ() bool {
	first := gjson.Get(a.whole[0], a.key).String()
	return slices.ContainsFunc(slices.Concat(a.whole, a.broken), func(o string) bool { return gjson.Get(o, a.key).String() != first })
}

// inCall is the argument of an object that is a call of a tool and nothing else:
// so models write that take the answer for one. Any other object is itself.
func inCall(object string) string {
	var argument string
	keys := 0
	for k, v := range gjson.Parse(object).ForEach {
		keys++
		if (k.Str == "arguments" || k.Str == "parameters") && v.IsObject() {
			argument = v.Raw
		}
	}
	if keys == 2 && argument != "" && gjson.Get(object, "name").Type == gjson.String {
		return argument
	}
	return object
}

// keysOf counts a key of an object, and reports whether a value within it has it.
func keysOf(object, key string) (own int, within bool) {
	if !strings.Contains(object, key) {
		return 0, false
	}
	for k, v := range gjson.Parse(object).ForEach {
		if k.Str == key {
			own++
		}
		within = within || holds(v, key, 0)
	}
	return own, within
}

func holds(v gjson.Result, key string, depth int) (found bool) {
	if depth > maxDepth || !v.IsObject() && !v.IsArray() || !strings.Contains(v.Raw, key) {
		return false
	}
	for k, inner := range v.ForEach {
		found = found || k.Str == key || holds(inner, key, depth+1)
	}
	return found
}

// goesOn reports whether behind a whole object its key is given again outside of
// any: the object then stood within another that is broken, as a quote of the
// trajectory does where its quotes are not escaped, and is not the model's own.
func goesOn(rest, key string) bool {
	outside, _, _ := strings.Cut(rest, "{")
	_, after, again := strings.Cut(outside, `"`+key+`"`)
	return again && strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), ":")
}
