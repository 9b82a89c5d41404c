package reply

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/lenient"
)

// maxDepth is the maximum nesting; a judge's answer needs three levels.
const maxDepth = 32

// rules drop values that are cut off or broken: only what a judge wrote completely
// counts.
var rules = lenient.Rules{Depth: maxDepth}

// eachObject calls visit for every object in a text, with its start: complete ones in
// order, broken ones with what could be parsed of them, and those inside broken ones.
// It reports false for a text that would take too long.
//
// Each start may be parsed to the end of the text at worst, so a text of nothing but
// openings would take quadratic time. No honest reply has so many objects that fail
// late, so the work is limited to a multiple of the text.
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
	// complete are complete objects, broken what could be parsed of others.
	complete, broken []string
	// end is the end of the last complete one.
	end int
	// doubtful is set if one is inside another or in a quote, or has the key twice.
	doubtful bool
}

// findAnswer returns the only object with the key, as strict JSON: a complete one, or
// the only one that was cut off or broken after the key's value. It finds none if two
// objects differ in the value, since one of them may be quoted, if one is inside another
// or on a quoted line, or if a key is repeated.
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

// isQuoted reports whether the line of text[start] begins as a quoted one.
func isQuoted(text string, start int) bool {
	lineStart := strings.LastIndexByte(text[:start], '\n') + 1
	return strings.HasPrefix(strings.TrimLeft(text[lineStart:start], " \t"), ">")
}

// differ reports whether the objects differ in the value of the key.
func (a *answers) differ() bool {
	first := gjson.Get(a.complete[0], a.key).String()
	isOther := func(object string) bool {
		return gjson.Get(object, a.key).String() != first
	}
	return slices.ContainsFunc(a.complete, isOther) || slices.ContainsFunc(a.broken, isOther)
}

// unwrapCall returns the argument of an object that is a tool call and nothing else:
// some models write the answer as a call. It returns any other object unchanged.
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

// countKey returns how often an object has a key, and whether a value inside it has the
// key.
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

// repeatsKey reports whether the text after a complete object has its key again outside
// of any object: the complete one was then inside another that is broken, such as a
// quote of the trajectory with unescaped quotes, and is not the model's own.
func repeatsKey(text, key string) bool {
	outside, _, _ := strings.Cut(text, "{")
	_, after, ok := strings.Cut(outside, `"`+key+`"`)
	return ok && strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), ":")
}
