package evidence

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// countDictated counts the logged requests that a prompt dictates, so that the model only repeats
// them: the messages since the model's last answer contain the tool's name and all values, and the
// model's reply has the same. total counts the requests that were asked for by a reply whose prompt
// was logged.
func (a *Attempt) countDictated() (dictated, total int) {
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		if d.Reply < 0 {
			continue
		}
		prompt := newestPrompt(a.Log.Replies[d.Reply].Call.Body)
		if prompt == "" {
			continue
		}
		total++
		r := a.requestOf(d)
		if len(r.values) == 0 {
			continue
		}
		versions := appendVersions(nil, prompt[:min(len(prompt), maxReplyText)])
		if slices.ContainsFunc(versions, func(v textVersion) bool {
			return a.mentionIn(&v, r).mention == mentionWhole
		}) {
			dictated++
		}
	}
	return dictated, total
}

// newestPrompt returns the text of the user's messages since the model's last answer, from the JSON
// body of a request to a model. It leaves out tool results, and system messages, which explain the
// tools to every model. It returns "" if the log lacks the body.
func newestPrompt(body arena.Raw) string {
	var newest []string
	gjson.Get(string(body), "messages").ForEach(func(_, message gjson.Result) bool {
		switch message.Get("role").Str {
		case "assistant":
			newest = newest[:0]
		case "user":
			newest = append(newest, textOf(message.Get("content")))
		}
		return true
	})
	return strings.Join(newest, "\n")
}

// textOf returns the text of a message's content, which is a string or a list of parts, whose texts
// it joins.
func textOf(content gjson.Result) string {
	if !content.IsArray() {
		return content.Str
	}
	var b strings.Builder
	eachPart(content, 0, func(part gjson.Result) { b.WriteString(part.Get("text").Str) })
	return b.String()
}
