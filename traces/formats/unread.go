package formats

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// maxUnread is the maximum number of names of unread values for an attempt. One more loss then says
// that there are others.
const maxUnread = 20

// hiddenName stands for a name that does not look like one and may be a secret, and for all names
// after the first maxUnread.
const hiddenName = "…"

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,39}$`)

// nameUnread records as lost what no reader has read of a document. What an attempt does not share
// with others is recorded for this attempt alone.
func (r *reader) nameUnread(doc *value) {
	shared := Unread{isOwned: map[*value]bool{}}
	for i := range r.attempts {
		for _, v := range r.attempts[i].own {
			shared.isOwned[v] = true
		}
	}
	shared.visit(doc, "")
	for i := range r.attempts {
		a := &r.attempts[i]
		own := Unread{}
		for _, v := range a.own {
			own.visit(v, "")
		}
		for _, path := range shared.paths {
			own.add(path)
		}
		for _, word := range own.Words() {
			a.addLoss(word)
		}
	}
}

// Unread collects the key paths of values of a document that were not read. Elements of a list share
// the path of the list.
type Unread struct {
	// isOwned has the values that are not visited.
	isOwned map[*value]bool
	paths   []string
	// added are the paths and names of Add.
	added [][2]string
}

// Words returns the codes of the losses, "unread:" with a path, in order.
func (u *Unread) Words() []string {
	slices.Sort(u.paths)
	return slicesx.Map(u.paths, func(path string) string { return "unread:" + path })
}

// Add adds the member name of the object at path, unless its value says nothing.
func (u *Unread) Add(path, name string, v arena.Raw) {
	key := [2]string{path, name}
	if len(u.paths) > maxUnread || slices.Contains(u.added, key) {
		return
	}
	if value := gjson.Parse(string(v)); !isEmptyValue(value) && !isEnvelope(name, value) {
		u.added = append(u.added, key)
		u.add(joinPath(path, name))
	}
}

func (u *Unread) visit(v *value, path string) {
	switch {
	case v.isRead, u.isOwned[v]:
	case v.parts != nil && v.parts.unpacked != nil:
		u.visit(v.parts.unpacked, path)
	case v.parts == nil, v.isArray() && v.peek("#").Int() > int64(len(v.parts.elements)):
		if !isEmptyValue(v.json) {
			u.add(path)
		}
	case v.isArray():
		for _, element := range v.parts.elements {
			u.visit(element, path)
		}
	default:
		for _, m := range v.parts.members {
			if !isEnvelope(m.name, m.json) {
				u.visit(m.value, joinPath(path, m.name))
			}
		}
	}
}

func (u *Unread) add(path string) {
	if len(u.paths) == maxUnread {
		path = hiddenName
	}
	if len(u.paths) <= maxUnread && !slices.Contains(u.paths, path) {
		u.paths = append(u.paths, path)
	}
}

// joinPath returns the path of the member name in the object at path. A number is the index of an
// element, which has the path of its list.
func joinPath(path, name string) string {
	isIndex := name != "" && strings.Trim(name, "0123456789") == ""
	switch {
	case isIndex:
		return path
	case !plainName.MatchString(name):
		name = hiddenName
	}
	if path == "" || path == "session" {
		return name
	}
	return path + "." + name
}

// isEnvelope reports whether a member says nothing about the conversation: its id, its time, its
// place in a list, or that it ended as usual.
func isEnvelope(name string, v gjson.Result) bool {
	switch name {
	case "id", "uuid", "timestamp", "created", "created_at", "index", "step_id":
		return v.Type == gjson.String || v.Type == gjson.Number
	case "type", "object", "status", "finish_reason", "stop_reason":
		return slices.Contains(usualWords, v.Str)
	}
	return false
}

// usualWords are the kinds and endings that a message, a call or a reply has as a rule.
var usualWords = []string{
	"message", "text", "function", "custom", "response", "chat.completion", "completed", "stop", "tool_calls", "end_turn", "tool_use",
}

// isEmptyValue reports whether a value is null, an empty text, or a list or object without content.
func isEmptyValue(v gjson.Result) bool {
	switch v.Type {
	case gjson.Null:
		return true
	case gjson.String:
		return v.Str == ""
	case gjson.JSON:
		content := strings.TrimLeft(v.Raw[1:], " \t\r\n")
		return content == "]" || content == "}"
	case gjson.False, gjson.Number, gjson.True:
	}
	return false
}
