package formats

import (
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// value is a JSON value of a document. It records which of its parts were read, so that every other
// part can be reported as lost. No method returns a nil value: exists is false for a part that is
// missing.
type value struct {
	json gjson.Result
	// isRead is set for a text, a number or a boolean that was read, and for a list or an object
	// that was taken as one text.
	isRead bool
	// parts are the parts of a list or an object, nil before the first access to one of them.
	parts *parts
}

// parts has the members of an object or the elements of a list, as far as they were visited.
type parts struct {
	members []member
	// elements are the elements of a list that were visited, the first ones.
	elements []*value
	// isOpen is set once members has all members of an object.
	isOpen bool
	// unpacked is a value that is read in place of this one: the JSON in a string, or the object
	// with dotted names as nested objects. It is nil if there is none.
	unpacked *value
}

// member is a named value of an object.
type member struct {
	name string
	*value
}

func parse(text string) *value { return &value{json: gjson.Parse(text)} }

// newObject returns an object with these members, in the order of their names. What is read of the
// object counts as read of the members.
func newObject(members map[string]*value) *value {
	o := parse("{}")
	o.parts = &parts{isOpen: true}
	for _, name := range slicesx.SortedKeys(members) {
		o.parts.members = append(o.parts.members, member{name, members[name]})
	}
	return o
}

func (v *value) exists() bool     { return v.json.Exists() }
func (v *value) kind() gjson.Type { return v.json.Type }
func (v *value) isObject() bool   { return v.json.IsObject() }
func (v *value) isArray() bool    { return v.json.IsArray() }
func (v *value) isBool() bool     { return v.json.IsBool() }
func (v *value) isString() bool   { return v.json.Type == gjson.String }
func (v *value) isNumber() bool   { return v.json.Type == gjson.Number }
func (v *value) isScalar() bool   { return v.json.Type != gjson.JSON }

// isPresent reports whether v exists and is not null.
func (v *value) isPresent() bool { return v.exists() && v.json.Type != gjson.Null }

// peek returns the part of v at a path of gjson. Unlike get, it does not record that the part was
// read.
func (v *value) peek(path string) gjson.Result { return v.json.Get(path) }

// str returns the text of v if v is a string, and "" for any other value.
func (v *value) str() string {
	if !v.isString() {
		return ""
	}
	v.isRead = true
	return v.json.Str
}

func (v *value) isTrue() bool {
	v.isRead = v.isRead || v.isBool()
	return v.json.Type == gjson.True
}

// raw returns v as it is written in the document. All parts of v count as read.
func (v *value) raw() arena.Raw {
	v.isRead = true
	return arena.Raw(v.json.Raw)
}

// open returns the members of an object in the order of the document. It returns nil for any other
// value.
func (v *value) open() []member {
	if !v.isObject() {
		return nil
	}
	if v.parts == nil {
		v.parts = &parts{}
	}
	if !v.parts.isOpen {
		v.parts.isOpen = true
		for name, part := range v.json.ForEach {
			v.parts.members = append(v.parts.members, member{name.Str, &value{json: part}})
		}
	}
	return v.parts.members
}

// isEmpty reports whether v has no members. A value that is no object has none.
func (v *value) isEmpty() bool { return len(v.open()) == 0 }

// get returns the member of v with this name. If the name occurs several times, its last value counts.
func (v *value) get(name string) *value {
	members := v.open()
	for i := range slices.Backward(members) {
		if members[i].name == name {
			return members[i].value
		}
	}
	return &value{}
}

// has reports whether v has a member with this name.
func (v *value) has(name string) bool { return v.get(name).exists() }

// string returns the member with this name if it is a string, and otherwise "".
func (v *value) string(name string) string { return v.get(name).str() }

// names returns the distinct names of the members of v, sorted.
func (v *value) names() []string {
	var names []string
	for _, m := range v.open() {
		names = append(names, m.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// object returns the member with this name if it is an object or a string with the JSON of one.
// Otherwise the result does not exist.
func (v *value) object(name string) *value {
	if o := v.get(name).unpack(); o.isObject() {
		return o
	}
	return &value{}
}

// first returns the first of the named members that exists and is not null. If there is none, it
// returns a value that does not exist.
func (v *value) first(names ...string) *value {
	for _, name := range names {
		if part := v.get(name); part.isPresent() {
			return part
		}
	}
	return &value{}
}

// filled returns the first of the named members that is neither null, "" nor an empty list or
// object. If there is none, it returns the first that exists and is not null.
func (v *value) filled(names ...string) *value {
	for _, name := range names {
		if part := v.get(name); part.exists() && !isEmptyValue(part.json) {
			return part
		}
	}
	return v.first(names...)
}

// id returns, as text, the first of the named members that exists and is not null. It returns "" if
// that member is neither a string nor a number.
func (v *value) id(names ...string) string { return v.first(names...).idText() }

// idText returns a string or a number as text, and "" for any other value.
func (v *value) idText() string {
	if v.isNumber() {
		return string(v.raw())
	}
	return v.str()
}

// firstIDText returns the first of the values that is a number or a string other than "", as text,
// and "" if there is none.
func firstIDText(values ...*value) string {
	for _, v := range values {
		if id := v.idText(); id != "" {
			return id
		}
	}
	return ""
}

// firstID returns the first of the named members that is a number or a string other than "", as
// text. It returns "" if there is none.
func (v *value) firstID(names ...string) string {
	values := make([]*value, len(names))
	for i, name := range names {
		values[i] = v.get(name)
	}
	return firstIDText(values...)
}

// number returns, as a number, the first of the named members that exists and is not null; true is
// 1 and false is 0. It returns nil if that member is of another type.
func (v *value) number(names ...string) *float64 {
	return v.first(names...).float()
}

// float returns a number or a boolean as a number; true is 1 and false is 0. It returns nil for a
// value of another type.
func (v *value) float() *float64 {
	if !v.isNumber() && !v.isBool() {
		return nil
	}
	v.isRead = true
	return new(v.json.Float())
}

// replaceBy sets v to a copy of other, and marks all of other as read.
func (v *value) replaceBy(other *value) {
	*v = *other
	other.isRead = true
}

// count returns the named member if it is an integer from 0 to math.MaxInt32, and otherwise nil.
func (v *value) count(name string) *int {
	part := v.get(name)
	n := part.json.Num
	if !part.isNumber() || n < 0 || n > math.MaxInt32 || n != math.Trunc(n) {
		return nil
	}
	part.isRead = true
	return new(int(n))
}

// setIfPresent copies *value to *dst unless value is nil.
func setIfPresent[T any](dst, value *T) {
	if value != nil {
		*dst = *value
	}
}

// unpack returns the array or object whose JSON is in v if v is a string. It returns any other
// value unchanged.
func (v *value) unpack() *value {
	if !v.isString() {
		return v
	}
	if v.parts != nil {
		return v.parts.unpacked
	}
	text := strings.TrimSpace(v.json.Str)
	isContainer := strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
	if !isContainer || !cursor.Valid(text) {
		return v
	}
	v.parts = &parts{unpacked: parse(text)}
	return v.parts.unpacked
}

// elements yields the elements of a list: of an array, of an object with the keys "0", "1" and so
// on, or of a string with the JSON of either. It yields nothing for any other value.
func (v *value) elements() iter.Seq[*value] {
	v = v.unpack()
	if v.isArray() {
		return v.arrayElements
	}
	return func(yield func(*value) bool) {
		for i := 0; ; i++ {
			element := v.get(strconv.Itoa(i))
			if !element.exists() || !yield(element) {
				return
			}
		}
	}
}

// arrayElements yields the elements of an array. It parses an element only when the element is
// visited, since an array may be much longer than the limit of elements.
func (v *value) arrayElements(yield func(*value) bool) {
	if v.parts == nil {
		v.parts = &parts{}
	}
	i := 0
	for _, element := range v.json.ForEach {
		if i == len(v.parts.elements) {
			v.parts.elements = append(v.parts.elements, &value{json: element})
		}
		if !yield(v.parts.elements[i]) {
			return
		}
		i++
	}
}

// children returns the members of an object, in the order of the document, or the elements of a
// list.
func (v *value) children() []*value {
	if !v.isObject() {
		return slices.Collect(v.elements())
	}
	var children []*value
	for _, m := range v.open() {
		children = append(children, m.value)
	}
	return children
}

// firstElement returns the first element of a list. If there is none, it returns a value that does
// not exist.
func (v *value) firstElement() *value {
	for element := range v.elements() {
		return element
	}
	return &value{}
}

// isMessageList reports whether v is an array whose first element has a role that is a string.
func (v *value) isMessageList() bool {
	return v.isArray() && v.peek("0.role").Type == gjson.String
}

// maxNameParts is the maximum number of parts into which expandDots splits a dotted name. If the
// name has more, its last part contains the remaining dots.
const maxNameParts = 12

// expandDots returns an object with each dotted name replaced by nested objects: the value of
// "a.0.b" becomes the member b of the object 0 in the object a. It returns v itself if no name has
// a dot.
func (v *value) expandDots() *value {
	if v.parts != nil && v.parts.unpacked != nil {
		return v.parts.unpacked
	}
	hasDot := func(name string) bool { return strings.Contains(name, ".") }
	if !slices.ContainsFunc(v.names(), hasDot) {
		return v
	}

	root := map[string]any{}
	for _, name := range v.names() {
		path := strings.SplitN(name, ".", maxNameParts)
		last := len(path) - 1
		parent := root
		for _, part := range path[:last] {
			child, ok := parent[part].(map[string]any)
			if !ok {
				child = map[string]any{}
				parent[part] = child
			}
			parent = child
		}
		parent[path[last]] = json.RawMessage(v.get(name).json.Raw)
	}

	text, err := json.Marshal(root)
	if err != nil {
		return v
	}
	v.parts.unpacked = parse(string(text))
	return v.parts.unpacked
}
