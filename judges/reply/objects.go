package reply

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/lenient"
)

// maxDepth is the maximum nesting of JSON that is parsed. A judge's answer needs three levels.
const maxDepth = 32

// rules are the rules for parsing incomplete or broken JSON. Values that are truncated or broken
// are dropped, so that only values that the judge wrote completely count.
var rules = lenient.Rules{Depth: maxDepth}

// eachObject calls visit for every JSON object in a text, with the byte offset of its start. For
// a broken object, visit gets what could be parsed, and is then called for the objects inside
// it. eachObject returns false if it stopped because the text takes too long.
//
// In the worst case, each start is parsed to the end of the text, which takes quadratic time for
// a text of opening brackets only. No honest reply has many broken objects, so the work is
// limited to 64 times the length of the text.
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

// answers are the JSON objects of a model's reply that have a certain key, such as the one of the
// score.
type answers struct {
	key string
	// complete has the complete objects. broken has what could be parsed of the others.
	complete, broken []string
	// end is the byte offset after the last complete object.
	end int
	// doubtful reports whether one of the objects is inside another one, is on a quoted line, or
	// has the key twice.
	doubtful bool
}

// findAnswer finds the only object of a text that has the key, and returns it as strict JSON.
// complete is false for an object that is truncated or broken after the key's value; such an
// object counts if no complete one has the key. ok is false if there is no object, or if it may
// not be the model's own answer: two objects have different values, one is inside another or on
// a quoted line, or the key is repeated.
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
	if nested || count > 1 || isQuoted(text, start) {
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

// isQuoted reports whether the line that contains text[start] begins with ">", the mark of a
// quotation.
func isQuoted(text string, start int) bool {
	lineStart := strings.LastIndexByte(text[:start], '\n') + 1
	return strings.HasPrefix(strings.TrimLeft(text[lineStart:start], " \t"), ">")
}

// differ reports whether two of the collected JSON objects have different values for the key that
// marks an answer.
func (a *answers) differ() bool {
	first := gjson.Get(a.complete[0], a.key).String()
	isOther := func(object string) bool {
		return gjson.Get(object, a.key).String() != first
	}
	return slices.ContainsFunc(a.complete, isOther) || slices.ContainsFunc(a.broken, isOther)
}

// unwrapCall returns the arguments of a JSON object that is only a tool call, since some models
// write their answer as a call: the object in "arguments" or a like key. It returns any other
// object unchanged.
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

// countKey counts how many times an object has a key. nested reports whether a value inside the
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

// hasKey reports whether a JSON value has the key in an object at any level down to maxDepth. depth
// is the level of v.
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

// repeatsKey reports whether the text after a complete object has the key again with a colon,
// before any "{". The object then stood inside a broken object, for instance in a quotation with
// unescaped quotation marks, and is not the model's own answer.
func repeatsKey(text, key string) bool {
	outside, _, _ := strings.Cut(text, "{")
	_, after, ok := strings.Cut(outside, `"`+key+`"`)
	return ok && strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), ":")
}
