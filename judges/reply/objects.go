package reply

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/lenient"
)

// maxDepth is the maximum nesting of JSON that is parsed; a judge's answer needs three levels.
const maxDepth = 32

// rules set how almost-JSON is parsed: values that are cut off or broken are dropped, so that only
// what the judge wrote completely counts.
var rules = lenient.Rules{Depth: maxDepth}

// eachObject calls visit for every JSON object in a text, with the byte offset of its start. A
// broken object is visited with what could be parsed of it, and then the objects inside it are
// visited. eachObject reports false if it gave up because the text would take too long.
//
// In the worst case each start is parsed to the end of the text, so a text of nothing but openings
// would take quadratic time. No honest reply has so many broken objects, so the work is limited to
// 64 times the length of the text.
func eachObject(text string, visit func(start int, m lenient.Mended)) bool {
	work := 64 * (len(text) + 1)
	for i := strings.IndexByte(text, '{'); i >= 0; {
		m := rules.Repair(text[i:])
		work -= m.End + 1
		if work < 0 {
			return false
		}
		visit(i, m)
		next := i + 1
		if m.Complete {
			next = i + m.End
		}
		i = strings.IndexByte(text[next:], '{')
		if i >= 0 {
			i += next
		}
	}
	return true
}

// answers collects the objects of a text that have a key.
type answers struct {
	key string
	// complete are the complete objects, broken what could be parsed of the others.
	complete, broken []string
	// end is the byte offset after the last complete one.
	end int
	// doubtful is set if one of the objects is inside another or on a quoted line, or has the key
	// twice.
	doubtful bool
}

// findAnswer finds the only object of a text that has the key, and returns it as strict JSON. It
// may be complete or, if no complete one has the key, cut off or broken after the key's value. ok
// is false if there is none, and if it is not clear that the model itself gave the answer: two
// objects differ in the value, one is inside another or on a quoted line, or the key is repeated.
func findAnswer(text, key string) (object string, complete, ok bool) {
	a := answers{key: key}
	inTime := eachObject(text, func(start int, m lenient.Mended) {
		a.add(text, start, m)
	})
	if !inTime || a.doubtful {
		return "", false, false
	}
	if len(a.complete) > 0 {
		object = a.complete[len(a.complete)-1]
		return object, true, !a.differ() && !repeatsKey(text[a.end:], key)
	}
	if len(a.broken) > 0 && strings.Count(text, `"`+key+`"`) == 1 {
		return a.broken[0], false, true
	}
	return "", false, false
}

func (a *answers) add(text string, start int, m lenient.Mended) {
	object := unwrapCall(m.JSON)
	count, nested := countKey(object, a.key)
	if count == 0 && !nested {
		return
	}
	quoted := m.Complete && isQuoted(text, start)
	if nested || count > 1 || quoted {
		a.doubtful = true
	}
	if count == 0 {
		return
	}
	if m.Complete {
		a.complete = append(a.complete, object)
		a.end = start + m.End
	} else {
		a.broken = append(a.broken, object)
	}
}

// isQuoted reports whether the line that contains text[start] begins with ">", which marks a
// quotation.
func isQuoted(text string, start int) bool {
	lineStart := strings.LastIndexByte(text[:start], '\n') + 1
	return strings.HasPrefix(strings.TrimLeft(text[lineStart:start], " \t"), ">")
}

// differ reports whether two of the collected objects have different values under the key.
func (a *answers) differ() bool {
	first := gjson.Get(a.complete[0], a.key).String()
	isOther := func(object string) bool {
		return gjson.Get(object, a.key).String() != first
	}
	return slices.ContainsFunc(a.complete, isOther) || slices.ContainsFunc(a.broken, isOther)
}

// unwrapCall returns the arguments of an object that is a tool call and nothing else, since some
// models write their answer as a call. It returns any other object unchanged.
func unwrapCall(object string) string {
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

// countKey counts how often an object itself has a key. nested reports whether a value inside the
// object has the key too.
func countKey(object, key string) (count int, nested bool) {
	if !strings.Contains(object, key) {
		return 0, false
	}
	for k, v := range gjson.Parse(object).ForEach {
		if k.Str == key {
			count++
		}
		nested = nested || hasKey(v, key, 0)
	}
	return count, nested
}

// hasKey reports whether a value has a key at any depth.
func hasKey(v gjson.Result, key string, depth int) bool {
	if depth > maxDepth || !v.IsObject() && !v.IsArray() {
		return false
	}
	if !strings.Contains(v.Raw, key) {
		return false
	}
	for k, child := range v.ForEach {
		if k.Str == key || hasKey(child, key, depth+1) {
			return true
		}
	}
	return false
}

// repeatsKey reports whether the text after a complete object has the key again, followed by a
// colon, before the next "{". The complete object was then inside another one that is broken, such
// as a quote with unescaped quotation marks, and is not the model's own answer.
func repeatsKey(text, key string) bool {
	outside, _, _ := strings.Cut(text, "{")
	_, after, ok := strings.Cut(outside, `"`+key+`"`)
	return ok && strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), ":")
}
