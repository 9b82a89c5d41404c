package evidence

import (
	"strings"

	"github.com/tidwall/gjson"
)

// streamed joins an answer that the log kept as the pieces in which the server
// sent it: server-sent events (`data: {…}` lines), or a list of such objects.
// It returns the whole completion as JSON, and what is no stream unchanged.
func streamed(body string) string {
	s := stream{}
	switch {
	case strings.HasPrefix(strings.TrimLeft(body, " \r\n"), "data:"):
		for line := range strings.Lines(body) {
			if piece, ok := strings.CutPrefix(strings.TrimSpace(line), "data:"); ok {
				s.add(gjson.Parse(piece))
			}
		}
	case strings.HasPrefix(strings.TrimLeft(body, " \r\n"), "["):
		gjson.Parse(body).ForEach(func(_, piece gjson.Result) bool {
			s.add(piece)
			return true
		})
	}
	if !s.begun {
		return body
	}
	return s.completion()
}

// stream is an answer as far as its pieces have come.
type stream struct {
	begun              bool
	id                 string
	content, reasoning strings.Builder
	calls              []streamedCall
}

type streamedCall struct {
	name      string
	arguments strings.Builder
}

func (s *stream) add(piece gjson.Result) {
	delta := piece.Get("choices.0.delta")
	if !delta.IsObject() {
		return
	}
	s.begun = true
	if s.id == "" {
		s.id = piece.Get("id").Str
	}
	delta.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "content":
			s.content.WriteString(v.Str)
		case "reasoning_content", "reasoning":
			s.reasoning.WriteString(v.Str)
		case "tool_calls":
			v.ForEach(s.call)
		}
		return true
	})
}

// call adds a piece of a call to the one with its index; without an index it
// begins the next.
func (s *stream) call(_, piece gjson.Result) bool {
	at := len(s.calls)
	if index := piece.Get("index"); index.Exists() {
		at = int(index.Int())
	}
	if at < 0 || at > len(s.calls) || at >= maxNamed {
		return false
	}
	if at == len(s.calls) {
		s.calls = append(s.calls, streamedCall{})
	}
	c := &s.calls[at]
	if name := piece.Get("function.name").Str; name != "" {
		c.name = name
	}
	c.arguments.WriteString(piece.Get("function.arguments").Str)
	return true
}

func (s *stream) completion() string {
	b := []byte(`{"id":`)
	b = gjson.AppendJSONString(b, s.id)
	b = append(b, `,"choices":[{"message":{"content":`...)
	b = gjson.AppendJSONString(b, s.content.String())
	b = append(b, `,"reasoning_content":`...)
	b = gjson.AppendJSONString(b, s.reasoning.String())
	b = append(b, `,"tool_calls":[`...)
	for i := range s.calls {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"function":{"name":`...)
		b = gjson.AppendJSONString(b, s.calls[i].name)
		b = append(b, `,"arguments":`...)
		b = gjson.AppendJSONString(b, s.calls[i].arguments.String())
		b = append(b, `}}`...)
	}
	return string(append(b, `]}}]}`...))
}
