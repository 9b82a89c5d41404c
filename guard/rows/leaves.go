package rows

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// maxDepth is the maximum nesting depth to which JSON values are searched.
const maxDepth = 12

// isClass reports whether a member classifies a row, a message or a part: its key says so, and its value
// is a word and no text.
func isClass(key string, v gjson.Result) bool {
	text := v.String()
	isWord := len(text) <= maxWord && !strings.ContainsFunc(text, unicode.IsSpace)
	return slices.Contains(classKeys, key) && isWord
}

// maxWord is the maximum length in bytes of a word that classifies, or of an ID.
const maxWord = 64

// walk calls visit for every non-empty string and every number in a JSON value, with the nearest
// object key above it, and, if keys is set, for every object key. It also searches strings that are
// JSON. A value that is nested deeper than depth is one string as it is written.
func walk(
	v gjson.Result,
	key string,
	depth int,
	keys bool,
	visit func(key string, v gjson.Result),
) {
	switch {
	case depth == 0 && (v.IsObject() || v.IsArray()):
		visit(key, gjson.Result{Type: gjson.String, Raw: v.Raw, Str: v.Raw})
	case v.IsObject() || v.IsArray():
		for k, e := range v.ForEach {
			if keys {
				visit(key, k)
			}
			walk(e, cmp.Or(k.Str, key), depth-1, keys, visit)
		}
	case depth > 0 && v.Type == gjson.String && isJSON(v.Str):
		walk(gjson.Parse(v.Str), key, depth-1, keys, visit)
	case v.Type == gjson.String && v.Str != "", v.Type == gjson.Number:
		visit(key, v)
	}
}

// Leaves returns the strings and the object keys in a value, one a line.
func Leaves(v gjson.Result) string {
	var lines []string
	walk(v, "", maxDepth, true, func(_ string, v gjson.Result) {
		if v.Type == gjson.String {
			lines = append(lines, v.Str)
		}
	})
	return strings.Join(lines, "\n")
}

// isJSON reports whether text is a valid JSON object or array.
func isJSON(text string) bool {
	text = strings.TrimSpace(text)
	isContainer := strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
	return isContainer && cursor.Valid(text)
}
