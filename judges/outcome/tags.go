package outcome

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// tags are what the rendering of a message puts around its parts. A message
// text that holds any of them nests or repeats a tag, and the step's format is
// broken.
var tags = []string{"<think>", "</think>", "<tool_call>", "</tool_call>", "<response>", "</response>"}

// holdsAny looks for tags in a text; nearly every one has no bracket at all.
func holdsAny(text string) bool {
	return strings.IndexByte(text, '<') >= 0 && slices.ContainsFunc(tags, func(tag string) bool { return strings.Contains(text, tag) })
}

// holdsTag looks for tags in JSON as the subnet renders it: with a backslash
// before every slash, so that only opening tags can show.
func holdsTag(json string) bool {
	bracket := strings.IndexByte(json, '<') >= 0
	switch {
	case bracket && !strings.Contains(json, `\u00`):
		return opensTag(json)
	case bracket || strings.Contains(json, `\u003`):
		// Some letter may be written as an escape: look at the decoded texts.
		return anyText(gjson.Parse(json), opensTag)
	}
	return false
}

func opensTag(text string) bool {
	for {
		_, after, found := strings.Cut(text, "<")
		if !found {
			return false
		}
		if strings.HasPrefix(after, "think>") || strings.HasPrefix(after, "tool_call>") || strings.HasPrefix(after, "response>") {
			return true
		}
		text = after
	}
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
