package evidence

import (
	"strings"
)

// Passage is a part of the text of a reply. Found reports whether the part is a word that was
// searched for: the tool's name or a value of the request.
type Passage struct {
	Text  string `json:"text"`
	Found bool   `json:"found,omitempty"`
}

// maxPassages is the maximum number of passages into which a reply is split. maxQuote is the
// maximum number of bytes of a reply that are quoted.
const (
	maxPassages = 64
	maxQuote    = 2000
)

// NewestReply returns the newest reply before a logged request, with the request's tool name and
// values marked, and the number of the reply, counted from 1. It returns nil and 0 if no reply
// precedes the request.
func (a *Attempt) NewestReply(d *Dispatch) (passages []Passage, number int) {
	if d.LastReply < 0 {
		return nil, 0
	}
	r := &a.Log.Replies[d.LastReply]
	text := strings.TrimSpace(a.scratch.contentText(r.content) + "\n" + string(r.toolCalls))
	if text == "" {
		text = a.scratch.contentText(r.reasoning)
	}
	text = strings.ToValidUTF8(text[:min(len(text), maxQuote)], "")

	v := newVersion(text)
	request := a.requestOf(d)
	marked := make([]bool, len(text))
	mark := func(start, end int) {
		for i := start; i < end; i++ {
			marked[i] = true
		}
	}
	for _, name := range request.names {
		for at := range tokens(v.lower, name) {
			mark(at, at+len(name))
		}
	}
	for i := range request.values {
		for start, end := range a.wordsIn(&v, request.values[i].words) {
			mark(start, end)
		}
	}

	for start := 0; start < len(text); {
		end := start + 1
		for end < len(text) && (marked[end] == marked[start] || len(passages) == maxPassages) {
			end++
		}
		passages = append(passages, Passage{Text: text[start:end], Found: marked[start]})
		start = end
	}
	return passages, d.LastReply + 1
}
