package traces

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/traces/cold"
)

// The formats of messages: those of OpenAI's API, and those named by who speaks.
var (
	openAI   = arena.Source{Shape: "openai", TextArguments: true}
	shareGPT = arena.Source{Shape: "sharegpt", TextArguments: true}
)

// result is an answer with the id of its call.
type result struct {
	callID string
	value  arena.Raw
}

// content takes a message's text: a string, or the text of a list of parts.
// nonText tells that something else was there.
func (d *decoder) content() (text string, nonText bool) {
	c := d.c
	switch c.Kind() {
	case arena.String:
		text, _ = c.String()
		return text, false
	case arena.Array:
		var texts []string
		c.Array(func() {
			part, ok := d.textPart()
			if ok {
				texts = append(texts, part)
			}
			nonText = nonText || !ok
		})
		return strings.Join(texts, "\n"), nonText
	default:
		kind := c.Kind()
		c.Skip()
		return "", kind != arena.Null
	}
}

// textPart takes one part of a message; false if it is no text.
func (d *decoder) textPart() (text string, ok bool) {
	c := d.c
	if c.Kind() != arena.Object {
		return c.String()
	}
	c.Fields(cursor.Fields{"text": func() { text, ok = c.String() }})
	return text, ok
}

// tools takes tool definitions: a list, or a list in a string.
func (d *decoder) tools() arena.Raw { return cold.Tools(gjson.Parse(string(d.c.Raw()))) }

// reward takes a number, or a bool as 1 or 0; nil for anything else.
func (d *decoder) reward() *float64 {
	if d.c.Kind() == arena.Bool {
		reward := 0.0
		if d.c.Bool() {
			reward = 1
		}
		return &reward
	}
	if reward, ok := d.c.Float(); ok {
		return &reward
	}
	return nil
}

// seconds takes a duration, and leaves to as it is where there is none.
func (d *decoder) seconds(to *float64) {
	if s, ok := d.c.Float(); ok {
		*to = s
	}
}
