package outcome

import (
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

// What the rendering of a message puts around its parts. A message text that holds
// any of them nests or repeats a tag, and the step's format is broken.
var (
	tag     = regexp.MustCompile(`</?(?:think|tool_call|response)>`)
	opening = regexp.MustCompile(`<(?:think|tool_call|response)>`)
)

// holdsTag looks for tags in JSON as the subnet renders it: with a backslash
// before every slash, so that only opening tags can show. Where some letter may be
// written as an escape, it looks at the decoded texts.
func holdsTag(json string) bool {
	if strings.Contains(json, `\u00`) && (strings.Contains(json, "<") || strings.Contains(json, `\u003`)) {
		return anyText(gjson.Parse(json), opening.MatchString)
	}
	return opening.MatchString(json)
}

// anyText reports whether a key or string anywhere in r fulfils ok.
func anyText(r gjson.Result, ok func(string) bool) bool {
	if !r.IsObject() && !r.IsArray() {
		return r.Type == gjson.String && ok(r.Str)
	}
	found := false
	r.ForEach(func(key, item gjson.Result) bool {
		found = ok(key.Str) || anyText(item, ok)
		return !found
	})
	return found
}
