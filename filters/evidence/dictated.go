package evidence

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
)

// countDictated returns the number of requests that the prompt of their reply dictates: the
// newest messages to the model, those after its last answer, hold the call with its name and
// all its values, as the reply then does. total counts the requests whose prompt the log has.
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

// newestPrompt returns the text of the messages after the last answer of the model in the
// body of a completion request, without results of tools and without the first system
// message, which explains the tools to every model. It is empty if the log has no prompt.
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

// textOf returns the text of a message's content: a string, or a list of parts.
func textOf(content gjson.Result) string {
	if !content.IsArray() {
		return content.Str
	}
	var b strings.Builder
	eachPart(content, 0, func(part gjson.Result) { b.WriteString(part.Get("text").Str) })
	return b.String()
}
