package formats

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/cursor"
)

// object maps the names of the members of a JSON object to their values.
type object map[string]gjson.Result

// members returns the members of the object v, or an empty map if v is not an object. If a name
// occurs several times, its last value counts.
func members(v gjson.Result) object {
	o := object{}
	if v.IsObject() {
		for key, value := range v.ForEach {
			o[key.Str] = value
		}
	}
	return o
}

// object returns the members of the nested object with this name, which may be JSON in a string.
// The result is empty if there is no such object.
func (o object) object(name string) object { return members(unpack(o[name])) }

// first returns the value of the first of these names that exists and is not null. If there is
// none, Exists of the result is false.
func (o object) first(names ...string) gjson.Result {
	for _, name := range names {
		if v := o[name]; v.Exists() && v.Type != gjson.Null {
			return v
		}
	}
	return gjson.Result{}
}

// id returns the first of the named members that exists and is not null, as text. It returns ""
// if that member is neither a string nor a number.
func (o object) id(names ...string) string {
	v := o.first(names...)
	if v.Type == gjson.Number {
		return v.Raw
	}
	return v.Str
}

// firstID returns the first of the named members that is a number or a string other than "", as
// text. It returns "" if there is none.
func (o object) firstID(names ...string) string {
	for _, name := range names {
		if id := o.id(name); id != "" {
			return id
		}
	}
	return ""
}

// number returns the first of the named members that exists and is not null as a number, with a
// bool as 1 or 0. It returns nil if that member is of another type.
func (o object) number(names ...string) *float64 {
	v := o.first(names...)
	if v.Type != gjson.Number && !v.IsBool() {
		return nil
	}
	return new(v.Float())
}

// count returns the named member if it is an integer from 0 to math.MaxInt32, and otherwise nil.
func (o object) count(name string) *int {
	v := o[name]
	inRange := v.Type == gjson.Number && v.Num >= 0 && v.Num <= math.MaxInt32
	if !inRange || v.Num != math.Trunc(v.Num) {
		return nil
	}
	return new(int(v.Num))
}

// setIfPresent copies *value to *dst unless value is nil.
func setIfPresent[T any](dst, value *T) {
	if value != nil {
		*dst = *value
	}
}

// unpack parses a string that is a JSON array or object. It returns any other value unchanged.
func unpack(v gjson.Result) gjson.Result {
	if v.Type != gjson.String {
		return v
	}
	text := strings.TrimSpace(v.Str)
	isContainer := strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
	if !isContainer || !cursor.Valid(text) {
		return v
	}
	return gjson.Parse(text)
}

// isMessageList reports whether v is an array whose first element has a role that is a string.
func isMessageList(v gjson.Result) bool {
	return v.IsArray() && v.Get("0.role").Type == gjson.String
}

// visitList calls visit for the elements of v until visit returns false. The list may be
// an array, an object with the keys "0", "1", …, or either of them as JSON in a string.
func visitList(v gjson.Result, visit func(gjson.Result) bool) {
	v = unpack(v)
	if v.IsArray() {
		v.ForEach(func(_, element gjson.Result) bool {
			return visit(element)
		})
		return
	}
	elements := members(v)
	for i := 0; ; i++ {
		element, ok := elements[strconv.Itoa(i)]
		if !ok || !visit(element) {
			return
		}
	}
}

// maxNameParts is the maximum number of parts into which expandDots splits a dotted name. The
// last part has the remaining dots.
const maxNameParts = 12

// expandDots returns o with each dotted name replaced by nested objects: the value of "a.0.b"
// becomes the member b of the object 0 in the object a.
func expandDots(o object) object {
	hasDot := func(name string) bool { return strings.Contains(name, ".") }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(o)), hasDot) {
		return o
	}

	root := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		parts := strings.SplitN(name, ".", maxNameParts)
		last := len(parts) - 1
		parent := root
		for _, part := range parts[:last] {
			child, ok := parent[part].(map[string]any)
			if !ok {
				child = map[string]any{}
				parent[part] = child
			}
			parent = child
		}
		parent[parts[last]] = json.RawMessage(cmp.Or(o[name].Raw, "null"))
	}

	text, err := json.Marshal(root)
	if err != nil {
		return o
	}
	return members(gjson.ParseBytes(text))
}
