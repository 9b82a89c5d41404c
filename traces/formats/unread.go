package formats

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// maxUnread is the maximum number of names of unread values that are recorded for an attempt. If
// there are more, hiddenName is recorded once for all others.
const maxUnread = 20

// hiddenName is recorded in place of a name that does not look like the name of a member and may be
// a secret, and in place of all names after the first maxUnread.
const hiddenName = "…"

// maxNameBytes is the maximum length in bytes of a name that isPlainName accepts.
const maxNameBytes = 40

// isPlainName reports whether a name looks like that of a JSON member: at most maxNameBytes
// letters, digits and characters of "_$.-", the first of which is no digit, dot or minus. It is no
// regular expression, since that took 3 % of the time to read records of the sandbox.
func isPlainName(name string) bool {
	if name == "" || len(name) > maxNameBytes || strings.ContainsAny(name[:1], "0123456789.-") {
		return false
	}
	for i := range len(name) {
		c := name[i]
		isLetter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		isDigit := '0' <= c && c <= '9'
		if !isLetter && !isDigit && !strings.ContainsRune("_$.-", rune(c)) {
			return false
		}
	}
	return true
}

// metadataName matches the names of values that say when, where and by which program a record was
// written, and how much it cost.
var metadataName = regexp.MustCompile(`(?:^|_)(?:id|uuid|time|timestamp|at|ms|version|tokens|cwd|branch|cost|hash)$|` +
	`[a-z](?:I[Dd]|Uuid|UUID|Time|Timestamp|Nano|At|Ms|Version|Tokens|Branch|Cost|Hash|Updated)$`)

// nameUnread records, as losses of the attempts, the key paths of all values that no reader has
// read. A value that belongs to one attempt is recorded for that attempt, any other value for all.
// If hasMetadata is set, ids, times and costs are recorded together as one loss.
func (r *reader) nameUnread(doc *value, hasMetadata bool) {
	shared := Unread{owned: map[*value]string{}, hasMetadata: hasMetadata}
	for i := range r.attempts {
		for _, v := range r.attempts[i].own {
			shared.owned[v] = ""
		}
	}
	shared.visit(doc, "")
	for i := range r.attempts {
		a := &r.attempts[i]
		own := Unread{hasMetadata: hasMetadata}
		for _, v := range a.own {
			own.visit(v, shared.owned[v])
		}
		for _, path := range shared.paths {
			own.add(path)
		}
		for _, word := range own.Words() {
			a.addLoss(word)
		}
		if own.foundMetadata || shared.foundMetadata {
			a.addLoss(lostMetadata)
		}
	}
}

// Unread collects the key paths of values of a document that were not read. Elements of a list share
// the path of the list.
type Unread struct {
	// owned has the values that visit skips, because they belong to one attempt, with the path at
	// which each stands in the document.
	owned map[*value]string
	paths []string
	// hasMetadata is set if ids, times and costs are not added to paths; foundMetadata is then set
	// if there are some.
	hasMetadata, foundMetadata bool
	// added has the path and the name of each call of Add that added something.
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
	if _, isOwned := u.owned[v]; isOwned {
		u.owned[v] = path
		return
	}
	switch {
	case v.isRead:
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
			switch {
			case isEnvelope(m.name, m.json):
			case u.hasMetadata && !m.isRead && m.isScalar() && metadataName.MatchString(m.name):
				u.foundMetadata = u.foundMetadata || !isEmptyValue(m.json)
			default:
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

// joinPath returns the path of the member name in the object at path. An element of a list has the
// path of the list. A name that does not look like the name of a member becomes hiddenName. The
// list "session" of a document of lines is omitted from the path.
func joinPath(path, name string) string {
	isIndex := name != "" && strings.Trim(name, "0123456789") == ""
	switch {
	case isIndex:
		return path
	case !isPlainName(name):
		name = hiddenName
	}
	if path == "" || path == "session" {
		return name
	}
	return path + "." + name
}

// isEnvelope reports whether a member only describes its object and has no content of the
// conversation: it is an id, a time or an index, or a type or status that is one of usualWords.
func isEnvelope(name string, v gjson.Result) bool {
	switch name {
	case "id", "uuid", "timestamp", "created", "created_at", "index", "step_id":
		return v.Type == gjson.String || v.Type == gjson.Number
	case "type", "object", "status", "finish_reason", "stop_reason":
		return slices.Contains(usualWords, v.Str)
	}
	return false
}

// usualWords are the usual types of messages and calls, and the usual reasons for which they end.
// They are not worth a report as unread.
var usualWords = []string{
	"message", "text", "function", "custom", "response", "chat.completion", "completed", "stop", "tool_calls", "end_turn", "tool_use",
}

// isEmptyValue reports whether a value is missing, null, an empty string, or a list or object
// without content.
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
