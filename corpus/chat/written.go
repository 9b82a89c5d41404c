package chat

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/internal/cursor"
)

// Written is a message whose Content and Reasoning stay as they are written:
// JSON strings without their quotes, escaped as Marshal does it. A tag or a
// control token stands in them as it does in the text, so that Check finds it.
type Written Message

// Skim reads messages as Encode wrote them. Texts
// that are only checked, or go out as JSON again, need no more.
func Skim(rows []string) ([]Written, error) {
	out := make([]Written, len(rows))
	c := cursor.New("", decodeLimits)
	for i, row := range rows {
		if !utf8.ValidString(row) {
			return nil, fmt.Errorf("decode message %d: no UTF-8", i)
		}
		c.Reset(row)
		if err := errors.Join(out[i].decode(c), c.End()); err != nil {
			return nil, fmt.Errorf("decode message %d: %w", i, err)
		}
	}
	return out, nil
}

// written takes a text as it is, and as Marshal would escape it where that is
// not the same.
func written(c *cursor.Cursor) (string, bool) {
	inside, usual, ok := c.Written()
	if usual || !ok {
		return inside, ok
	}
	text, err := Marshal(meaning(inside))
	if err != nil {
		return "", false
	}
	return text[1 : len(text)-1], true
}

// meaning is the text that a JSON string without its quotes stands for.
func meaning(inside string) string { return speech(cursor.Unescape).alone(inside) }

// Read gives the message with its texts as they are meant.
func (w *Written) Read() Message {
	m := Message(*w)
	m.Content, m.Reasoning = meaning(w.Content), meaning(w.Reasoning)
	return m
}

// ReadAll is Read for every message.
func ReadAll(ws []Written) []Message {
	out := make([]Message, len(ws))
	for i := range ws {
		out[i] = ws[i].Read()
	}
	return out
}
